// Command soak sends calls through proxies while their servers fail. It prints the outcomes of the calls, how often
// each call ran, and the resources of the process with the proxies:
//
//	go run ./benchmarks/soak/cmd/soak -calls 1000000 -for 1h
//
// It exits with 1 if a call is missing, ran twice, or succeeded without running, or if the process has grown.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/benchmarks/soak"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

func main() {
	soak.Play()
	calls := flag.Int("calls", 1_000_000, "number of `calls`")
	d := flag.Duration("for", time.Hour, "`time` over which the calls are spread")
	every := flag.Duration("every", time.Minute, "`time` between two samples")
	seed := flag.Uint64("seed", 1, "seed of the faults, a `number`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := soak.Run(ctx, soak.Options{Calls: *calls, For: *d, Every: *every, Plan: plan(*seed), Out: os.Stdout})
	if err == nil {
		show(r)
		err = judge(r, *calls)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// plan has every kind of fault that does not change the content of the server's answers.
func plan(seed uint64) *chaos.Plan {
	return &chaos.Plan{Seed: seed, Faults: []chaos.Fault{
		{Kind: chaos.Latency, Probability: 0.02, Delay: 20 * time.Millisecond, Jitter: 200 * time.Millisecond},
		{Kind: chaos.Drip, Probability: 0.005, Rate: 256 << 10},
		{Kind: chaos.Duplicate, Probability: 0.01},
		{Kind: chaos.Reorder, Probability: 0.01, Delay: 50 * time.Millisecond},
		{Kind: chaos.Drop, Probability: 0.0005},
		{Kind: chaos.Drop, On: chaos.OnRequest, Probability: 0.0005},
		{Kind: chaos.Truncate, Probability: 0.0005},
		{Kind: chaos.Garbage, Probability: 0.0005},
		{Kind: chaos.Oversize, Probability: 0.0005},
		{Kind: chaos.Error, Probability: 0.002},
		{Kind: chaos.Busy, Probability: 0.002, RetryAfter: 50 * time.Millisecond},
		{Kind: chaos.Freeze, Probability: 0.0001, Delay: 2 * time.Second},
		{Kind: chaos.Cut, Probability: 0.0005},
		{Kind: chaos.Death, Probability: 0.0005},
	}}
}

func show(r *soak.Report) {
	fmt.Println("\noutcomes")
	for _, what := range slices.Sorted(maps.Keys(r.Outcomes)) {
		fmt.Printf("%10d  %s\n", r.Outcomes[what], what)
	}
	fmt.Println("\nruns")
	for _, line := range []struct {
		n    int
		what string
	}{
		{r.Runs.Once, "succeeded, ran once"}, {r.Runs.Unheard, "failed, ran once"},
		{r.Runs.Lost, "succeeded, did not run"}, {r.Runs.Doubled, "ran twice"},
	} {
		fmt.Printf("%10d  %s\n", line.n, line.what)
	}
	fmt.Println("\nsessions of each host")
	for _, host := range slices.Sorted(maps.Keys(r.Sessions)) {
		fmt.Printf("%10d  %s\n", r.Sessions[host], host)
	}
}

// The growth that is allowed from the second third of a run to the last third.
const (
	moreHeap       = 1.1
	moreGoroutines = 32
	moreFiles      = 16
)

// judge returns an error for each failed check.
func judge(r *soak.Report, calls int) error {
	var wrong []error
	sum := 0
	for _, n := range r.Outcomes {
		sum += n
	}
	if sum != calls {
		wrong = append(wrong, fmt.Errorf("%d outcomes of %d calls", sum, calls))
	}
	if r.Runs.Lost+r.Runs.Doubled+r.Runs.Strange > 0 || r.Runs.Once != r.Outcomes[soak.OK] {
		wrong = append(wrong, errors.New("calls are lost or doubled"))
	}
	for host, n := range r.Sessions {
		if n != 1 {
			wrong = append(wrong, fmt.Errorf("the host %s has had %d sessions", host, n))
		}
	}
	if len(r.Samples) < 9 {
		fmt.Println("\ntoo few samples to measure growth")
		return errors.Join(wrong...)
	}
	g := soak.GrowthOf(r.Samples)
	fmt.Printf("\ngrowth from the second third to the last: heap ×%.3f, %+d goroutines, %+d files\n", g.Heap,
		g.Goroutines, g.Files)
	if g.Heap > moreHeap || g.Goroutines > moreGoroutines || g.Files > moreFiles {
		wrong = append(wrong, errors.New("the process has grown"))
	}
	return errors.Join(wrong...)
}

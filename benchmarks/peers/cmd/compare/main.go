// Command compare measures this client, its peers and the floors side by side, and writes the results.
//
//	go -C benchmarks/peers run ./cmd/compare
//
// It builds the test binaries of benchmarks and of benchmarks/peers once and runs them in passes, each pass once
// through all benchmarks. On a shared machine a single time means little. So within each pass it divides each peer's
// figure by the floor's, which was measured moments before, and then takes the median of these ratios over the passes.
// Allocations are exact, or nearly.
//
// It writes into the directory of -out:
//
//	raw.txt.gz      output of the benchmarks, for benchstat and for -from, with machine, Go, commit, date and load
//	table.md        a row for each case
//	targets.md      the targets of the project, and whether they are met
//	throughput.svg  size against throughput
//
// With -check it writes nothing. It measures only the targets that are ratios or counts, without the peers that only
// tables show. It fails if a figure exceeds its limit, or the known figure of a missed target, by more than a factor.
// It measures a missed target again, up to twice, because in one short measurement another program may have had the
// processor. It passes the environment on, and reports GOGC and GOMAXPROCS.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parseFlags(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = o.run(ctx, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// options are the options of the command line.
type options struct {
	passes    int
	benchtime string
	bench     string
	out       string
	from      string
	check     float64
}

func parseFlags(args []string, usage io.Writer) (*options, error) {
	o, f := new(options), flag.NewFlagSet("compare", flag.ContinueOnError)
	f.SetOutput(usage)
	f.IntVar(&o.passes, "passes", 7, "passes through all benchmarks")
	f.StringVar(&o.benchtime, "benchtime", "300ms", "time for each benchmark in each pass, as go test has it")
	f.StringVar(&o.bench, "bench", "",
		"benchmarks to run, as go test has it (default all; with -check those of the targets)")
	f.StringVar(&o.out, "out", "../results", "directory to write to")
	f.StringVar(&o.from, "from", "", "measure nothing, but take the lines of this `file` (raw.txt.gz)")
	f.Float64Var(&o.check, "check", 0,
		"write nothing, but fail if a ratio exceeds its target times this `factor`, or allocations exceed theirs at all")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.passes < 1:
		return nil, fmt.Errorf("-passes %d: want 1 or more", o.passes)
	case o.check < 0 || o.check > 0 && o.check < 1:
		return nil, fmt.Errorf("-check %s: want 1 or more", strconv.FormatFloat(o.check, 'g', -1, 64))
	}
	return o, nil
}

func (o *options) run(ctx context.Context, out io.Writer) error {
	if o.check > 0 {
		all, err := judgeFairly(checkable(), o.check, func(targets []*target) (*measurements, error) {
			return o.measured(ctx, neededBy(targets), needless(targets))
		}, o.from == "" && o.bench == "")
		if err != nil {
			return err
		}
		return check(out, all, o.check, o.bench != "")
	}
	m, err := o.measured(ctx, ".", "")
	if err != nil {
		return err
	}
	return write(o.out, m)
}

// measured measures the benchmarks of -bench, by default those in what without skip, or reads an earlier measurement.
func (o *options) measured(ctx context.Context, what, skip string) (*measurements, error) {
	lines, err := o.lines(ctx, cmp.Or(o.bench, what), skip)
	if err != nil {
		return nil, err
	}
	return parse(lines)
}

func (o *options) lines(ctx context.Context, what, skip string) ([]byte, error) {
	if o.from != "" {
		return readRaw(o.from)
	}
	keep := func([]byte) error { return nil }
	if o.check == 0 {
		keep = func(lines []byte) error { return writeRaw(o.out, lines) } // after each pass: an interrupted run is not lost
	}
	return measure(ctx, plan{passes: o.passes, benchtime: o.benchtime, bench: what, skip: skip}, keep)
}

// write writes the pages.
func write(dir string, m *measurements) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, page := range []struct {
		name string
		text func(*measurements) (string, error)
	}{{"table.md", tablePage}, {"targets.md", targetsPage}, {"throughput.svg", throughputChart}} {
		text, err := page.text(m)
		if err != nil {
			return fmt.Errorf("%s: %w", page.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, page.name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

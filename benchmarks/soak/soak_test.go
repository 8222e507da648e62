package soak_test

import (
	"os"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/benchmarks/soak"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

func TestMain(m *testing.M) {
	soak.Play()
	os.Exit(m.Run())
}

// TestEachCallIsAccountedFor makes calls, a tenth of which meet a fault.
func TestEachCallIsAccountedFor(t *testing.T) {
	const calls = 600
	r, err := soak.Run(t.Context(), soak.Options{
		Calls: calls, For: 2 * time.Second, Every: time.Second / 4,
		Plan: &chaos.Plan{Seed: 1, Faults: []chaos.Fault{
			{Kind: chaos.Error, Probability: 0.05},
			{Kind: chaos.Cut, Probability: 0.02},
			{Kind: chaos.Death, Every: 100},
			{Kind: chaos.Duplicate, Probability: 0.05},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range r.Outcomes {
		sum += n
	}
	if ok := r.Outcomes[soak.OK]; sum != calls || ok < calls/2 || ok == calls {
		t.Errorf("outcomes: got %v, want all of %d calls, most of which succeed and some fail", r.Outcomes, calls)
	}
	if want := (soak.Runs{Once: r.Outcomes[soak.OK], Unheard: r.Runs.Unheard}); r.Runs != want || want.Unheard == 0 {
		t.Errorf("runs: got %+v, want each call that has succeeded to have run once, and some of which that is not known",
			r.Runs)
	}
	for host, n := range r.Sessions {
		if n != 1 {
			t.Errorf("%s: got %d sessions, want one", host, n)
		}
	}
	if len(r.Sessions) != 8 {
		t.Errorf("hosts: got %v, want 8", r.Sessions)
	}
}

// TestGrowthIsDetected compares the last third of the samples with the second.
func TestGrowthIsDetected(t *testing.T) {
	var flat, growing []soak.Sample
	for i := range 12 {
		flat = append(flat, soak.Sample{Heap: uint64(100 + i%2), Goroutines: 10, Files: 5})
		growing = append(growing, soak.Sample{Heap: uint64(100 + 10*i), Goroutines: 10 + i, Files: 5 + 2*i})
	}
	if got, want := soak.GrowthOf(flat), (soak.Growth{Heap: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := soak.GrowthOf(growing); got.Heap < 1.2 || got.Goroutines != 4 || got.Files != 8 {
		t.Errorf("got %+v, want growth of all three", got)
	}
}

package chaos

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
)

// decide applies a plan to events, one after the other, and returns the verdicts.
func decide(t rapid.TB, p *Plan, events []event) (all []verdict) {
	rules, err := compile(p)
	if err != nil {
		t.Fatal(err)
	}
	tallies := make([]tally, len(rules))
	for _, e := range events {
		all = append(all, judge(p.Seed, rules, tallies, e))
	}
	return all
}

// TestSkipAndEverySelectMessages compares all small values of Skip, Every and Limit with a naive count.
func TestSkipAndEverySelectMessages(t *testing.T) {
	const n = 12
	for skip := range 4 {
		for every := range 4 {
			for limit := range 4 {
				p := &Plan{Faults: []Fault{{Kind: Drop, Skip: skip, Every: every, Limit: limit}}}
				var want []int
				for i := skip + max(every, 1) - 1; i < n && (limit == 0 || len(want) < limit); i += max(every, 1) {
					want = append(want, i)
				}
				var got []int
				for i, v := range decide(t, p, slices.Repeat([]event{{on: OnAnswer, method: "x"}}, n)) {
					if v.hit != nil {
						got = append(got, i)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("skip %d, every %d, limit %d: got %v, want %v", skip, every, limit, got, want)
				}
			}
		}
	}
}

func TestFaultHitsOnlyMatchingMessages(t *testing.T) {
	call := event{on: OnAnswer, method: mcp.MethodCallTool, tool: "read_file"}
	for _, c := range []struct {
		fault Fault
		event event
		want  bool
	}{
		{Fault{}, call, true},
		{Fault{On: OnRequest}, call, false},
		{Fault{Method: "tools/*"}, call, true},
		{Fault{Method: "tools/list"}, call, false},
		{Fault{Tool: "read_*"}, call, true},
		{Fault{Tool: "write_*"}, call, false},
		{Fault{Tool: "*"}, event{on: OnAnswer, method: mcp.MethodListTools}, false},
		{Fault{Tool: "read_*", Method: "tools/list"}, call, false},
		{Fault{}, event{on: OnAnswer, method: mcp.MethodInitialize}, false},
		{Fault{}, event{on: OnAnswer, method: mcp.MethodDiscover}, false},
		{Fault{Method: "*"}, event{on: OnAnswer, method: mcp.MethodDiscover}, true},
		{Fault{}, event{on: OnAnswer, method: mcp.MethodPing}, true},
		{Fault{After: 2}, event{on: OnAnswer, since: 1}, false},
		{Fault{After: 2}, event{on: OnAnswer, since: 2}, true},
		{Fault{After: 2, For: 3}, event{on: OnAnswer, since: 4}, true},
		{Fault{After: 2, For: 3}, event{on: OnAnswer, since: 5}, false},
		{Fault{For: 3}, event{on: OnAnswer, since: 2}, true},
	} {
		c.fault.Kind = Drop
		got := decide(t, &Plan{Faults: []Fault{c.fault}}, []event{c.event})[0].hit != nil
		if got != c.want {
			t.Errorf("%+v, %+v: got %v", c.fault, c.event, got)
		}
	}
}

func TestDelaysAddUpAndOnlyOneOtherFaultIsApplied(t *testing.T) {
	p := &Plan{Faults: []Fault{
		{Kind: Latency, Delay: 1 * time.Second}, {Kind: Error, Every: 2}, {Kind: Drop, Limit: 1}, {Kind: Drip, Rate: 1},
		{Kind: Latency, Delay: 2 * time.Second},
	}}
	want := [][]Kind{{Latency, Drop, Drip, Latency}, {Latency, Error, Drip, Latency}, {Latency, Drip, Latency}}
	for i, v := range decide(t, p, slices.Repeat([]event{{on: OnAnswer, method: "x"}}, 3)) {
		if v.delay != 3*time.Second || !slices.Equal(v.kinds, want[i]) || !slices.Equal(v.drips, []int{3}) {
			t.Errorf("message %d: got %+v, want %v", i, v, want[i])
		}
	}
}

func TestProbabilityIsTheFractionOfHits(t *testing.T) {
	const n = 20_000
	for _, p := range []float64{0.01, 0.25, 0.5, 0.9} {
		hit := 0
		for _, v := range decide(t, &Plan{Seed: 1, Faults: []Fault{{Kind: Drop, Probability: p}}},
			slices.Repeat([]event{{on: OnAnswer}}, n)) {
			if v.hit != nil {
				hit++
			}
		}
		if got := float64(hit) / n; got < p-0.02 || got > p+0.02 {
			t.Errorf("probability %v: got %v", p, got)
		}
	}
}

var (
	drawnOn     = []On{OnRequest, OnAnswer, OnNotification}
	drawnFaults = rapid.Custom(func(t *rapid.T) Fault {
		row := rapid.SampledFrom(table).Draw(t, "kind")
		f := Fault{
			Kind: row.kind, On: rapid.SampledFrom(row.on).Draw(t, "on"), Skip: rapid.IntRange(0, 3).Draw(t, "skip"),
			Every: rapid.IntRange(0, 4).Draw(t, "every"), Limit: rapid.IntRange(0, 5).Draw(t, "limit"),
			Probability: rapid.SampledFrom([]float64{0, 0.1, 0.5, 1}).Draw(t, "probability"),
			After:       rapid.SampledFrom([]time.Duration{0, 0, time.Second}).Draw(t, "after"),
			For:         rapid.SampledFrom([]time.Duration{0, 0, 3 * time.Second}).Draw(t, "for"),
		}
		if f.On != onDial {
			f.Tool = rapid.SampledFrom([]string{"", "", "r*", "write"}).Draw(t, "tool")
			f.Method = rapid.SampledFrom([]string{"", "", "*", "tools/call"}).Draw(t, "method")
		}
		size := rapid.SampledFrom([]time.Duration{time.Millisecond, 100 * time.Millisecond, 2 * time.Second})
		switch row.kind {
		case Latency:
			f.Delay, f.Jitter = size.Draw(t, "delay"), size.Draw(t, "jitter")
		case Drip:
			f.Rate = rapid.IntRange(1, 100_000).Draw(t, "rate")
		case Freeze, Reorder:
			f.Delay = rapid.SampledFrom([]time.Duration{0, 50 * time.Millisecond, time.Second}).Draw(t, "delay")
		case Busy:
			f.Code = rapid.SampledFrom([]int{0, 429, 503}).Draw(t, "code")
			f.RetryAfter = rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "retry after")
		}
		return f
	})
	drawnEvents = rapid.Custom(func(t *rapid.T) event {
		return event{
			on:     rapid.SampledFrom(append(drawnOn, onDial)).Draw(t, "on"),
			method: rapid.SampledFrom([]string{mcp.MethodCallTool, mcp.MethodPing, mcp.MethodDiscover}).Draw(t, "method"),
			tool:   rapid.SampledFrom([]string{"read", "write"}).Draw(t, "tool"),
			since:  time.Duration(rapid.IntRange(0, 5).Draw(t, "since")) * time.Second,
		}
	})
)

func TestSameMessagesGetTheSameFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Plan{Seed: rapid.Uint64().Draw(t, "seed"), Faults: rapid.SliceOfN(drawnFaults, 0, 6).Draw(t, "faults")}
		events := rapid.SliceOfN(drawnEvents, 0, 40).Draw(t, "events")
		first, again := decide(t, p, events), decide(t, p, events)
		for i := range first {
			a, b := first[i], again[i]
			if (a.hit == nil) != (b.hit == nil) || a.hit != nil && !reflect.DeepEqual(a.hit.Fault, b.hit.Fault) ||
				a.delay != b.delay || a.draw != b.draw || !slices.Equal(a.kinds, b.kinds) || !slices.Equal(a.drips, b.drips) {
				t.Fatalf("event %d: %+v, and then %+v", i, a, b)
			}
		}
		keepsItsLimits(t, p, first)
	})
}

// keepsItsLimits checks that the plan's limits hold for the number of faults and for the delays.
func keepsItsLimits(t *rapid.T, p *Plan, all []verdict) {
	most, least, times := time.Duration(0), map[Kind]int{}, map[Kind]int{}
	for _, f := range p.Faults {
		if least[f.Kind] += f.Limit; f.Limit == 0 {
			least[f.Kind] = len(all) * len(p.Faults)
		}
		if f.Kind == Latency {
			most += f.Delay + f.Jitter
		}
	}
	for _, v := range all {
		for _, k := range v.kinds {
			times[k]++
		}
		if v.delay > most {
			t.Errorf("a delay of %v, want %v at most", v.delay, most)
		}
	}
	for k, n := range times {
		if n > least[k] {
			t.Errorf("%s hit %d times, want %d at most", k, n, least[k])
		}
	}
}

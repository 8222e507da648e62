package main

import "slices"

// target is a limit on one figure of one benchmark.
type target struct {
	row string // name in the table

	// cases is a pattern in the form of go test's -bench, without the peer: regular expressions between slashes, each for
	// a whole element of the name; elements beyond the last are any. Of several matching cases, the worst counts.
	cases string
	peer  string // peer of the figure; empty means ours
	unit  string // unit of the benchmark's report

	// over is the peer for the comparison; empty means that the figure itself is limited. overCases is the case of that
	// peer, if it is another one.
	over, overCases string

	how   how
	limit float64

	// reached is the known figure of a missed target, see docs/performance.md. -check uses it instead of the limit.
	reached float64

	unchecked bool // skipped by -check, which has a minute: takes long, or another target guards the same
}

// guarded returns the limit that -check uses.
func (t *target) guarded() float64 { return max(t.limit, t.reached) }

// timed reports whether the figure is a time and not a ratio. Times are valid for one machine only.
func (t *target) timed() bool {
	return t.over == "" && (t.unit == wall || t.unit == cpu || t.unit == p50)
}

// checkable returns the targets that -check checks: those that are valid on any machine, except unchecked ones.
func checkable() (all []*target) {
	for _, t := range targets {
		if !t.timed() && !t.unchecked {
			all = append(all, t)
		}
	}
	return all
}

// how is the way to combine passes into one figure.
type how int

const (
	median how = iota // of the ratios, or of the figures
	best              // the best of ours over the best of theirs: the result without other work on the machine
	added             // the median of the differences
)

// exact reports whether a figure counts something, so that it needs no margin for the machine.
func (t *target) exact() bool { return t.unit == allocs || t.unit == goroutines }

func (t *target) of() string { return orElse(t.peer, ours) }

// Units that benchmarks report.
const (
	wall       = "ns/op"
	cpu        = "cpu-ns/op"
	rate       = "MB/s"
	bytesPerOp = "B/op"
	allocs     = "allocs/op"
	p50        = "p50-ns"
	peak       = "peak-x"
	perClient  = "B/client"
	goroutines = "goroutines/client"

	// The same at once, when the last client has made its call.
	perClientAtOnce  = "B/client-at-once"
	goroutinesAtOnce = "goroutines/client-at-once"
)

// Cases of several targets. Calls are measured in both eras unless there is a reason for one; the worse one counts.
const (
	tinyStdio = "Roundtrip/transport=stdio/era=.*/shape=text/size=200B/callers=1"
	manyStdio = "Roundtrip/transport=stdio/era=.*/shape=text/size=200B/callers=64"
	hugeText  = "Roundtrip/transport=stdio/era=.*/shape=text/size=16MiB-1/callers=1"
	idleStdio = "IdleClient/transport=pipe/era=.*/clients=1000"
	idleHTTP  = "IdleClient/transport=httpjson/era=.*/clients=1000"
	observed  = "TelemetryClient/transport=stdio/era=.*/shape=text/size=200B/callers=1"
)

// targets are all targets.
var targets = slices.Concat(ofTheProject, asUsed)

// ofTheProject are the rows of the project's table of targets, in its order. A row with several limits becomes several
// targets.
var ofTheProject = []*target{
	{row: "tools/call, tiny, stdio child, CPU × floor", cases: tinyStdio, unit: cpu, over: floor, limit: 2.0,
		reached: 2.5},
	{row: "tools/call, tiny, stdio child, allocations", cases: tinyStdio, unit: allocs, limit: 12},
	{row: "tools/call, tiny, stdio child, bytes allocated", cases: tinyStdio, unit: bytesPerOp, limit: 1 << 10},
	{row: "64 callers on one stdio connection, CPU × floor+json", cases: manyStdio, unit: cpu, over: floorJSON,
		limit: 1.0},
	{row: "tools/call, tiny, HTTP JSON, CPU × floor",
		cases: "Roundtrip/transport=httpjson/era=.*/shape=text/size=200B/callers=1", unit: cpu, over: floor, limit: 1.15,
		reached: 1.4},
	{row: "result just under 16 MiB, one text, pipe → typed value, best wall × floor", cases: hugeText, unit: wall,
		over: floor, how: best, limit: 3.5},
	{row: "the same in thousands of small items, best wall × floor",
		cases: "Roundtrip/transport=stdio/era=.*/shape=items/size=16MiB-1/callers=1", unit: wall, over: floor, how: best,
		limit: 7},
	{row: "envelope of any frame, 200 B to 16 MiB", cases: "Envelope", unit: wall, limit: 150},
	{row: "envelope of any frame, 200 B to 16 MiB, allocations", cases: "Envelope", unit: allocs, limit: 0},
	{row: "typed result, 1 KiB text", cases: "Decode/shape=text/size=1KiB", unit: wall, limit: 900},
	{row: "peak memory for a result just under 16 MiB, × message size", cases: hugeText, unit: peak, limit: 2.5},
	{row: "tools/list, 1,000 tools, CPU × floor+json",
		cases: "Roundtrip/transport=stdio/era=.*/shape=tools/size=1000/callers=1", unit: cpu, over: floorJSON, limit: 0.5},
	{row: "small response queued behind a 16 MiB one: median delay",
		cases: "Delay/transport=pipe/era=.*/shape=.*/size=16MiB-1", unit: p50, limit: 0.5e6},
	{row: "request encode with trace context, 427 B", cases: "Encode", unit: wall, limit: 500},
	{row: "request encode with trace context, 427 B, allocations", cases: "Encode", unit: allocs, limit: 2},
	{row: "idle client, stdio: heap + stacks", cases: idleStdio, unit: perClient, limit: 10 << 10},
	{row: "idle client, stdio: goroutines", cases: idleStdio, unit: goroutines, limit: 2},
	{row: "idle client, HTTP: heap + stacks", cases: idleHTTP, unit: perClient, limit: 3 << 10, reached: 5 << 10},
	{row: "idle client, HTTP: goroutines", cases: idleHTTP, unit: goroutines, limit: 2},
	{row: "one sampled span with propagation, CPU × without telemetry", cases: observed, peer: "spans", unit: cpu,
		over: absent, limit: 1.25, reached: 2.7},
	{row: "the same, CPU × one span of the SDK's around the call, of ten attributes", cases: observed, peer: "spans",
		unit: cpu, over: "bare", limit: 1.15, reached: 1.25},
	{row: "one sampled span with propagation, metrics and logs, added allocations", cases: observed, peer: "sampled",
		unit: allocs, over: absent, how: added, limit: 13},
	{row: "server, tools/call on a pipe, CPU × floor", cases: "Server/transport=pipe/era=.*/tool=.*/callers=1", unit: cpu,
		over: floor, limit: 3},
	{row: "server, HTTP JSON, CPU × floor", cases: "Server/transport=httpjson/era=.*/tool=.*/callers=1", unit: cpu,
		over: floor, limit: 1.3},

	// Not in the table, but promised: costs grow proportionally. A tenth is left for noise, a quarter for caches that are
	// too small. Fresh memory of 16 MiB costs more than a proportional share; a copy of it costs fifty times a copy of 1
	// MiB.
	{row: "a call after 100,000 others, CPU × after one", cases: "Growth/made=100000", unit: cpu, over: ours,
		overCases: "Growth/made=1", limit: 1.1},
	{row: "a call beside 10,000 tombstones, CPU × beside one", cases: "Growth/tombstones=10000", unit: cpu, over: ours,
		overCases: "Growth/tombstones=1", limit: 1.1},
	{row: "a text of 1 MiB, typed, × one of 100 KiB", cases: "Decode/shape=text/size=1MiB", unit: wall, over: ours,
		overCases: "Decode/shape=text/size=100KiB", limit: 13},
	{row: "small items of 1 MiB, typed, × those of 100 KiB", cases: "Decode/shape=items/size=1MiB", unit: wall, over: ours,
		overCases: "Decode/shape=items/size=100KiB", limit: 13},
	{row: "a text of 16 MiB, typed, × one of 1 MiB", cases: "Decode/shape=text/size=16MiB-1", unit: wall, over: ours,
		overCases: "Decode/shape=text/size=1MiB", limit: 32},
	{row: "small items of 16 MiB, typed, × those of 1 MiB", cases: "Decode/shape=items/size=16MiB-1", unit: wall,
		over: ours, overCases: "Decode/shape=items/size=1MiB", limit: 32},
	{row: "512 callers on one stdio connection, CPU of a call × that of 64 callers",
		cases: "Roundtrip/transport=stdio/era=2026-07-28/shape=text/size=200B/callers=512",
		unit:  cpu, over: ours, overCases: "Roundtrip/transport=stdio/era=2026-07-28/shape=text/size=200B/callers=64",
		limit: 1.05},
}

package main

import (
	"fmt"
	"slices"
	"strings"
)

// percentiles are the percentiles of the page and the chart of tails, with their places on the chart: each place has a
// tenth of the calls above the place before.
var percentiles = []struct {
	name  string
	place float64
}{{"50", 2}, {"90", 10}, {"99", 100}, {"99.9", 1000}, {"99.99", 10_000}}

// tailRows are the rows of tails.md.
var tailRows = func() (all []*row) {
	for _, way := range []struct{ name, title string }{{"stdio", "stdio"}, {"httpjson", "HTTP"}} {
		cases := []string{"Tails/transport=" + way.name}
		for _, p := range percentiles {
			all = append(all, &row{title: way.title + ", p" + p.name, cases: cases, unit: tailUnit(p.name)})
		}
		all = append(all, &row{title: way.title + ", the longest call", cases: cases, unit: tailUnit("100")},
			&row{title: way.title + ", CPU time of a call", cases: cases, unit: cpu})
	}
	return all
}()

func tailUnit(percentile string) string { return "p" + percentile + "-ns" }

const tailsHead = `# Latencies of a busy service

Written by ` + "`go -C benchmarks/peers run ./cmd/compare -tails`" + `; tails.txt.gz has the output of the benchmark.

%s
Each client makes 100,000 calls, 1,000 in a second, of which 100 are due at once. A latency begins when the call is due,
so that a call that waits for another one counts in full. Results have the sizes that tools return, 300 bytes to 40 KiB,
and one in 200 has 1 MiB. The clients have the telemetry of a service: the SDK with a tenth of the traces and metrics
every second, both over OTLP/gRPC to a receiver in the same process. mcpotel emits what it emits by default; the others
have a span and a histogram around each call. The server of stdio is another process, and that of HTTP a goroutine of
this process. The number behind a library is the multiple of mcpotel's figure.

`

// tailsPage writes tails.md.
func tailsPage(m *measurements) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, tailsHead, m.where())
	shown := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.peer == absent })
	b.WriteString("| |")
	for _, c := range shown {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(shown)))
	for _, r := range tailRows {
		v := r.judge(m)
		if v.first == nil {
			continue
		}
		fmt.Fprintf(&b, "\n| %s |", r.title)
		for _, c := range shown {
			fmt.Fprintf(&b, " %s |", v.cell(c.peer))
		}
	}
	b.WriteByte('\n')
	return b.String(), nil
}

// tailsChart draws tails.svg: percentile against latency on stdio, both axes logarithmic, a line for each peer.
func tailsChart(m *measurements) (string, error) {
	c := newChart(m, "Latency of calls in a busy service", "1,000 calls in a second on stdio, 100 of them at once; one "+
		"result in 200 has 1 MiB. Lower is better.", "p99.99")
	x := logScale{percentiles[0].place, percentiles[len(percentiles)-1].place, c.Left, c.Right}
	var curves []*curve
	for _, measured := range m.matching("Tails/transport=stdio") {
		for _, peer := range []string{floorJSON, ours, "gosdk", "mcpgo"} {
			k := &curve{peer: peer}
			for _, p := range percentiles {
				if s, ok := measured.series(peer, tailUnit(p.name)); ok {
					k.points = append(k.points, point{p.place, s.median()})
				}
			}
			if len(k.points) > 0 {
				curves = append(curves, k)
			}
		}
	}
	for _, p := range percentiles {
		c.X = append(c.X, tick{x.at(p.place), "p" + p.name})
	}
	c.plot(curves, x, "-ns", duration)
	return c.draw()
}

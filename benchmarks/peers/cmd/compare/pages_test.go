package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// throughputs returns the output of benchmarks of five peers, with seven sizes, in two passes.
func throughputs() *synthetic {
	s := output()
	for pass := range 2 {
		s.pass(pass+1, 0.25)
		for _, size := range []string{"200B", "1KiB", "10KiB", "100KiB", "1MiB", "10MiB", "16MiB-1"} {
			bytes, _ := parseSize(size)
			for peer, per := range map[string][2]float64{floor: {9000, 0.5}, floorJSON: {15_000, 10}, ours: {14_000, 1},
				"gosdk": {120_000, 48}, "mcpgo": {30_000, 57}} {
				ns := per[0] + per[1]*bytes
				s.line("Roundtrip/transport=stdio/era=2026-07-28/shape=text/size="+size+"/callers=1/peer="+peer,
					ns, wall, bytes/ns*1e3, rate, ns*1.2, cpu, 12, allocs)
			}
		}
	}
	return s
}

func proxied(transport string) string {
	return "ThroughAProxy/transport=" + transport + "/era=e/shape=text/size=200B/callers=1/peer="
}

func TestTheTableHasTheRowsThatWereMeasured(t *testing.T) {
	s := throughputs()
	for pass := range 2 {
		s.pass(pass+1, 0.25).
			line("CachedList/tools=100/peer=ours", 1000, cpu).line("CachedList/tools=1000/peer=ours", 1300, cpu).
			line(proxied("stdio")+ours, 50_000, wall).line(proxied("stdio")+ours+"-proxied", 110_000, wall).
			line(proxied("httpjson")+ours, 50_000, wall).line(proxied("httpjson")+ours+"-proxied", 160_000, wall).
			line("Start/peer=ours", 5e6, wall, 1e7, binary).line("Start/peer=gosdk", 10e6, wall, 2e7, binary).
			line("Observed/call=otelgrpc/peer=absent", 80_000, cpu, 100, allocs).
			line("Observed/call=otelgrpc/peer=sampled", 130_000, cpu, 150, allocs)
	}
	page, err := tablePage(s.parsed(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Abacus & Sons, 2 cores", "go1.99", "commit 0123456789ab", "2001-02-03", "load 0.25 to 0.25",
		"| Text of 10 KiB | 29.1 µs | – | 141 µs | 734 µs, ×25.2 | 736 µs, ×25.3 | ×0.30 | ×0.21 | yes |",
		"(the goal: × that of 100) | 1.30 µs | – | – | – | – | ×1.20 | ×1.30 | **no** |",
		// The goal is judged by the worst case.
		"| Proxy: time added to a tiny call | 60.0 µs | – | – | – | – | 100 µs | 110 µs | **no** |",
		"| Program with a client: size | 9.54 MiB | – | – | 19.1 MiB, ×2.00 | – | | | |",
		"| | otelgrpc |", "| the call alone | 80.0 µs, 100 |", "| sampled | 50.0 µs, 50 |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("want %q in the table, got\n%s", want, page)
		}
	}
	if strings.Contains(page, "Reconnect") {
		t.Error("want no row that was not measured")
	}
}

func TestAPatternMatchesWholeNames(t *testing.T) {
	m := output().pass(1, 0).line("A/size=1KiB/callers=1", 1, wall).line("A/size=1KiB/callers=1/client=own", 1, wall).
		parsed(t)
	if got := m.matching("A/size=.*/callers=1"); len(got) != 1 || got[0].name != "A/size=1KiB/callers=1" {
		t.Errorf("want the case without a client, got %v", got)
	}
}

func TestTheChartHasALineAndALabelForEachPeer(t *testing.T) {
	chart, err := throughputChart(throughputs().parsed(t))
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, chart)
	if file := os.Getenv("CHART"); file != "" { // for inspection
		if err := os.WriteFile(file, []byte(chart), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		">floor: bytes moved<", ">floor + encoding/json<", ">mcpotel<", ">official Go SDK 1.8.0<", ">mcp-go 1.2.1<",
		">200 B<", ">16 MiB<", ">1,000<", "prefers-color-scheme: dark", "Abacus &amp; Sons",
	} {
		if !strings.Contains(chart, want) {
			t.Errorf("want %q in the chart", want)
		}
	}
	if n := strings.Count(chart, "<polyline"); n != 5 {
		t.Errorf("want 5 lines, got %d", n)
	}
	if strings.Contains(chart, "NaN") || strings.Contains(chart, "Inf") {
		t.Error("want numbers, got one that is none")
	}
}

func TestEmptyChartStatesThatNothingWasMeasured(t *testing.T) {
	chart, err := throughputChart(output().pass(1, 0).line("A/peer=ours", 1, wall).parsed(t))
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, chart)
	if !strings.Contains(chart, "Nothing of this was measured") {
		t.Errorf("want a chart that says that it has nothing, got %s", chart)
	}
}

func TestLabelsDoNotOverlapAndStayInTheChart(t *testing.T) {
	lines := []*line{{EndY: 100}, {EndY: 390}, {EndY: 385}, {EndY: 102}, {EndY: 101}}
	for _, l := range lines {
		l.LabelY = l.EndY
	}
	spreadLabels(lines, 30, 50, 390)
	for i, a := range lines {
		if a.LabelY < 50 || a.LabelY > 390 {
			t.Errorf("want a label from 50 to 390, got one at %v", a.LabelY)
		}
		for _, b := range lines[:i] {
			if math.Abs(a.LabelY-b.LabelY) < 30 {
				t.Errorf("want 30 between labels, got some at %v and %v", a.LabelY, b.LabelY)
			}
		}
	}
}

func TestSizesAreRead(t *testing.T) {
	for text, want := range map[string]float64{"200B": 200, "1KiB": 1024, "16MiB-1": 16<<20 - 1} {
		if got, ok := parseSize(text); !ok || got != want {
			t.Errorf("%s: want %v, got %v", text, want, got)
		}
	}
	for _, text := range []string{"", "large", "KiB", "12"} {
		if got, ok := parseSize(text); ok {
			t.Errorf("%q is no size, got %v", text, got)
		}
	}
}

// busy returns the output of one pass of the benchmark of latencies, for two peers.
func busy() *synthetic {
	s := output().pass(1, 0.25)
	for peer, times := range map[string]float64{ours: 1, "mcpgo": 3} {
		for _, way := range []string{"stdio", "httpjson"} {
			s.line("Tails/transport="+way+"/peer="+peer, 1000, wall, 120_000*times, cpu, 200_000*times, "p50-ns",
				300_000*times, "p90-ns", 4e6*times, "p99-ns", 5e6*times, "p99.9-ns", 6e6*times, "p99.99-ns",
				7e6*times, "p100-ns")
		}
	}
	return s
}

// TestPagesComeFromTheRawLines runs the whole command except the measurement.
func TestPagesComeFromTheRawLines(t *testing.T) {
	for _, test := range []struct {
		lines  string
		tails  bool
		writes []string
	}{
		{throughputs().String(), false, []string{"table.md", "throughput.svg"}},
		{busy().String(), true, []string{"tails.md", "tails.svg"}},
	} {
		dir := t.TempDir()
		o := &options{from: filepath.Join(dir, "lines.gz"), out: dir, tails: test.tails}
		if err := writeRaw(o.from, []byte(test.lines)); err != nil {
			t.Fatal(err)
		}
		if err := o.run(t.Context(), io.Discard); err != nil {
			t.Fatal(err)
		}
		for _, name := range test.writes {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(text) < 500 {
				t.Errorf("%s: want a page, got %d bytes, %v", name, len(text), err)
			}
		}
		if again, err := readRaw(o.from); err != nil || string(again) != test.lines {
			t.Errorf("want the raw lines as they were, got %v", err)
		}
	}
}

func TestPageOfLatenciesComparesThePeers(t *testing.T) {
	m := busy().parsed(t)
	page, err := tailsPage(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| | mcpotel | floor + json | official SDK | mcp-go |", "| stdio, p99 | 4.00 ms | – | – | 12.0 ms, ×3.00 |",
		"| HTTP, the longest call | 7.00 ms |", "| HTTP, CPU time of a call | 120 µs |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("want %q in the page, got\n%s", want, page)
		}
	}
	chart, err := tailsChart(m)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, chart)
	for _, want := range []string{"p99.99", "mcp-go 1.2.1", "18.0 ms", "<title id=\"title\">Latency"} {
		if !strings.Contains(chart, want) {
			t.Errorf("want %q in the chart", want)
		}
	}
}

func TestFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-passes", "-1"}, {"more"}, {"-unknown"}} {
		if _, err := parseFlags(args, io.Discard); err == nil {
			t.Errorf("%q: want an error, got none", args)
		}
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(fmt.Errorf("want well-formed XML: %w", err))
		}
	}
}

package main

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// charted matches the benchmarks in the chart: results with one text, in all sizes, from a server in a child process.
const charted = "Roundtrip/transport=stdio/era=2026-07-28/shape=text/size=.*/callers=1"

//go:embed chart.svg.tmpl
var chartText string

var chartTemplate = template.Must(template.New("chart").Parse(chartText))

// chart is the data of the template, in pixels.
type chart struct {
	Title, Subtitle          string
	Last                     string // what the last point of each line is
	Width, Height            int
	Left, Top, Right, Bottom float64 // of the plot
	Notes                    string
	X, Y                     []tick
	Lines                    []*line
}

// LabelX is where the labels of the lines begin.
func (c *chart) LabelX() float64 { return c.Right + 16 }

// tick is a line of the grid, and its label.
type tick struct {
	At   float64
	Text string
}

// line is the curve of a peer, with its label.
type line struct {
	Peer, Label, Value string
	Points             string
	Dots               []point
	EndX, EndY         float64
	LabelY             float64 // moved away from the other labels
}

// point is a pair of values, for example a size and a rate in bytes and MB/s, or a place in pixels.
type point struct{ X, Y float64 }

// peerNames are the names of the peers for readers of the chart.
var peerNames = map[string]string{
	floor: "floor: bytes moved", floorJSON: "floor + encoding/json", ours: "mcpotel", "gosdk": "official Go SDK 1.8.0",
	"mcpgo": "mcp-go 1.2.1",
}

// throughputChart draws throughput.svg: size against throughput, both axes logarithmic, a line for each peer.
func throughputChart(m *measurements) (string, error) {
	c := newChart(m, "Throughput of a tools/call by the size of its result", "MB/s from a child process on stdio to a "+
		"typed value: one text, one caller. Both axes are logarithmic; higher is better.", "the largest size")
	curves, sizes := m.throughputs()
	x := logScale{1, 1, c.Left, c.Right}
	if len(sizes) > 0 {
		x.from, x.to = slices.Min(sizes), slices.Max(sizes)
	}
	for _, s := range sizes {
		c.X = append(c.X, tick{x.at(s), sizeLabel(s)})
	}
	c.X = spacious(c.X, 48)
	c.plot(curves, x, rate, number)
	return c.draw()
}

func newChart(m *measurements, title, subtitle, last string) *chart {
	c := &chart{Title: title, Subtitle: subtitle, Last: last,
		Width: 860, Height: 460, Left: 72, Top: 76, Right: 640, Bottom: 388}
	c.Notes = join(" · ", m.about["cpu"], m.about["go"], prefixed("commit ", m.about["commit"]), m.about["date"],
		fmt.Sprintf("medians of %d passes", m.passes))
	return c
}

// plot adds the lines, and the grid of their values in a unit. Without curves, it adds nothing: the empty chart states
// that nothing was measured.
func (c *chart) plot(curves []*curve, x logScale, unit string, label func(float64) string) {
	if len(curves) == 0 {
		c.X = nil
		return
	}
	y := decades(curves, c.Bottom, c.Top)
	for v := y.from; v <= y.to*1.01; v *= 10 {
		c.Y = append(c.Y, tick{y.at(v), label(v)})
	}
	for _, k := range curves {
		c.Lines = append(c.Lines, k.line(x, y, unit))
	}
	spreadLabels(c.Lines, 34, c.Top, c.Bottom)
}

func (c *chart) draw() (string, error) {
	var b strings.Builder
	err := chartTemplate.Execute(&b, c)
	return b.String(), err
}

// curve is a figure of a peer, for example its throughput by size.
type curve struct {
	peer   string
	points []point
}

// throughputs returns the peers in the order of the table's columns, and all sizes, ascending.
func (m *measurements) throughputs() (all []*curve, sizes []float64) {
	by := map[string]*curve{}
	for _, c := range m.matching(charted) {
		size, ok := c.size()
		if !ok {
			continue
		}
		for _, p := range c.peers {
			s, ok := c.series(p, rate)
			if !ok {
				continue
			}
			if by[p] == nil {
				by[p] = &curve{peer: p}
				all = append(all, by[p])
			}
			by[p].points = append(by[p].points, point{size, s.median()})
			sizes = append(sizes, size)
		}
	}
	for _, k := range all {
		slices.SortFunc(k.points, func(a, b point) int { return int(math.Copysign(1, a.X-b.X)) })
	}
	slices.SortStableFunc(all, func(a, b *curve) int { return rank(a.peer) - rank(b.peer) })
	slices.Sort(sizes)
	return all, slices.Compact(sizes)
}

// rank orders the known peers as the chart does.
func rank(peer string) int {
	return slices.Index([]string{floor, floorJSON, ours, "gosdk", "mcpgo"}, peer)
}

// size returns the size in the name of a case, in bytes.
func (c *benchCase) size() (float64, bool) {
	for e := range strings.SplitSeq(c.name, "/") {
		if text, ok := strings.CutPrefix(e, "size="); ok {
			return parseSize(text)
		}
	}
	return 0, false
}

// parseSize parses a size in the form of benchmark names: 200B, 1KiB, 16MiB-1.
func parseSize(s string) (float64, bool) {
	s, less := strings.CutSuffix(s, "-1")
	for _, u := range []struct {
		suffix string
		bytes  float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"B", 1}} {
		if digits, ok := strings.CutSuffix(s, u.suffix); ok {
			n, err := strconv.ParseFloat(digits, 64)
			if less {
				return n*u.bytes - 1, err == nil
			}
			return n * u.bytes, err == nil
		}
	}
	return 0, false
}

// sizeLabel writes a size in whole units.
func sizeLabel(b float64) string {
	switch {
	case b >= 1<<20-1:
		return number(math.Round(b/(1<<20))) + " MiB"
	case b >= 1<<10-1:
		return number(math.Round(b/(1<<10))) + " KiB"
	default:
		return number(b) + " B"
	}
}

func (k *curve) line(x, y logScale, unit string) *line {
	l := &line{Peer: k.peer, Label: orElse(peerNames[k.peer], k.peer)}
	var points []string
	for _, p := range k.points {
		at := point{x.at(p.X), y.at(p.Y)}
		l.Dots = append(l.Dots, at)
		points = append(points, fmt.Sprintf("%g,%g", at.X, at.Y))
	}
	last := len(k.points) - 1
	l.Points, l.EndX, l.EndY, l.LabelY = strings.Join(points, " "), l.Dots[last].X, l.Dots[last].Y, l.Dots[last].Y
	l.Value = quantity(k.points[last].Y, unit)
	return l
}

// logScale maps values to pixels, logarithmically: the value from becomes start, and the value to becomes end.
type logScale struct{ from, to, start, end float64 }

func (s logScale) at(v float64) float64 {
	share := 0.5
	if s.from < s.to {
		share = math.Log(v/s.from) / math.Log(s.to/s.from)
	}
	return math.Round((s.start+share*(s.end-s.start))*10) / 10
}

// decades returns a scale between whole powers of ten, in which all curves fit.
func decades(curves []*curve, bottom, top float64) logScale {
	lo, hi := math.Inf(1), 0.0
	for _, k := range curves {
		for _, p := range k.points {
			lo, hi = min(lo, p.Y), max(hi, p.Y)
		}
	}
	from, to := math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi)))
	return logScale{from, max(to, from*10), bottom, top}
}

// spacious removes each tick that is less than least before the next tick.
func spacious(ticks []tick, least float64) []tick {
	var kept []tick
	for i, t := range ticks {
		if i == len(ticks)-1 || ticks[i+1].At-t.At >= least {
			kept = append(kept, t)
		}
	}
	return kept
}

// spreadLabels moves the labels apart: neighbours are at least distance apart, and all labels are between top and
// bottom.
func spreadLabels(lines []*line, distance, top, bottom float64) {
	byY := slices.SortedStableFunc(slices.Values(lines), func(a, b *line) int {
		return int(math.Copysign(1, a.EndY-b.EndY))
	})
	next := top
	for _, l := range byY { // from the top: move a label down if it is too close to the label above
		l.LabelY = max(l.LabelY, next)
		next = l.LabelY + distance
	}
	next = bottom
	for _, l := range slices.Backward(byY) { // from the bottom: move a label up if it is too low
		l.LabelY = min(l.LabelY, next)
		next = l.LabelY - distance
	}
}

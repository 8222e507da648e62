package traceview

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/unit"
)

// A period is an option of the list: it shows only the traces that began within this time.
type period struct {
	Value, Text string
	Here        bool
}

// periods returns the choices of a time.
func periods(since time.Duration) []period {
	all := []period{{"", "any time", since == 0}}
	for _, p := range []struct {
		length time.Duration
		text   string
	}{{time.Minute, "the last minute"}, {5 * time.Minute, "5 minutes"}, {15 * time.Minute, "15 minutes"}, {time.Hour, "hour"}} {
		all = append(all, period{p.length.String(), p.text, since == p.length})
	}
	if !slices.ContainsFunc(all, func(p period) bool { return p.Here }) {
		all = append(all, period{since.String(), unit.Duration(since), true})
	}
	return all
}

// A chart shows the durations of traces over time. Both axes are in percent of the drawing; the vertical axis is
// logarithmic.
type chart struct {
	Dots              []dot
	From, To          time.Time
	Shortest, Longest string
}

// A dot is one trace in the chart.
type dot struct {
	TraceID, Title string
	X, Y           string
	Failed         bool
}

// chartOf returns the chart of traces: at most maxDots, the first of the list. It returns nil for fewer than two.
func chartOf(traces []summary) *chart {
	traces = traces[:min(len(traces), maxDots)]
	if len(traces) < 2 {
		return nil
	}
	c := &chart{From: traces[0].Start, To: traces[0].Start}
	shortest, longest := math.Inf(1), 0.0
	for _, t := range traces {
		if t.Start.Before(c.From) {
			c.From = t.Start
		}
		if t.Start.After(c.To) {
			c.To = t.Start
		}
		shortest, longest = min(shortest, height(t.Duration)), max(longest, height(t.Duration))
	}
	c.Shortest, c.Longest = unit.Duration(lasting(shortest)), unit.Duration(lasting(longest))
	for _, t := range traces {
		c.Dots = append(c.Dots, dot{TraceID: t.TraceID, Failed: t.Errors > 0,
			Title: called(t.Name) + ", " + unit.Duration(t.Duration),
			X:     percentOf(float64(t.Start.Sub(c.From)), float64(c.To.Sub(c.From))),
			Y:     percentOf(longest-height(t.Duration), longest-shortest)})
	}
	return c
}

// height returns the logarithm of a duration, which is at least a microsecond.
func height(d time.Duration) float64 { return math.Log(float64(max(d, time.Microsecond))) }

// lasting is the inverse of height.
func lasting(height float64) time.Duration { return time.Duration(math.Round(math.Exp(height))) }

// percentOf returns part of whole as a position within the drawing, which has a margin of 2 % on each side.
func percentOf(part, whole float64) string {
	if whole <= 0 {
		return "50%"
	}
	return fmt.Sprintf("%.2f%%", 2+96*part/whole)
}

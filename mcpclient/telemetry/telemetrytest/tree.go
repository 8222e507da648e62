package telemetrytest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tree is a span with the spans below it.
type Tree struct {
	Span     sdktrace.ReadOnlySpan
	Children []*Tree // spans directly below, in the order in which they started
}

// Traces returns the ended spans as trees, in the order in which their roots started. A span is the root of a tree if
// its parent has not ended, or was recorded elsewhere.
func (r *Recording) Traces() []*Tree {
	spans := r.spans.snapshot()
	number := func(s sdktrace.ReadOnlySpan) int { return r.spans.start(s.SpanContext().SpanID()).number }
	slices.SortFunc(spans, func(a, b sdktrace.ReadOnlySpan) int { return cmp.Compare(number(a), number(b)) })
	type key struct {
		trace trace.TraceID
		span  trace.SpanID
	}
	trees, roots := map[key]*Tree{}, []*Tree{}
	for _, s := range spans {
		trees[key{s.SpanContext().TraceID(), s.SpanContext().SpanID()}] = &Tree{Span: s}
	}
	for _, s := range spans {
		t := trees[key{s.SpanContext().TraceID(), s.SpanContext().SpanID()}]
		if parent := trees[key{s.Parent().TraceID(), s.Parent().SpanID()}]; parent != nil {
			parent.Children = append(parent.Children, t)
		} else {
			roots = append(roots, t)
		}
	}
	return roots
}

// String draws the tree: a line with kind and name for each span, indented by two more spaces than its parent.
func (t *Tree) String() string { return strings.Join(t.outline().lines("", false), "\n") }

// AssertOneTrace fails the test unless exactly one trace has spans of want, and this trace equals want. want has the
// form of [Tree.String], with any indentation and empty lines before and after:
//
//	INTERNAL handle order
//	  CLIENT tools/call add
//	    SERVER tools/call add
//
// The order of the spans below one parent does not matter, because calls may run side by side. Traces without a span
// of want do not matter either, such as the trace of mcp_client.connect. A span ends a moment after the caller has
// its answer: AssertOneTrace waits for that, at most a second, by the clock of the test's bubble if there is one.
func (r *Recording) AssertOneTrace(want string) {
	r.t.Helper()
	wanted := parseOutline(want)
	for end := time.Now().Add(time.Second); !r.hasOneTrace(wanted); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Errorf("want one trace:\n%s\ngot:\n%s", strings.Join(wanted.lines("", false), "\n"), r.drawn())
			return
		}
	}
}

func (r *Recording) hasOneTrace(want outline) bool {
	found := 0
	for _, t := range r.Traces() {
		o := t.outline()
		switch {
		case o.sorted() == want.sorted():
			found++
		case o.shares(want):
			return false
		}
	}
	return found == 1
}

func (r *Recording) drawn() string {
	var all []string
	for _, t := range r.Traces() {
		all = append(all, t.String())
	}
	if all == nil {
		return "no ended span"
	}
	return strings.Join(all, "\n\n")
}

// outline is the text of a tree: the text of its span, and the outlines below it.
type outline struct {
	text  string
	below []outline
}

// orphan is the text after a root whose span has a parent.
const orphan = " (its parent was not recorded)"

func (t *Tree) outline() outline {
	o := t.outlineBelow()
	if t.Span.Parent().IsValid() {
		o.text += orphan
	}
	return o
}

func (t *Tree) outlineBelow() outline {
	o := outline{text: strings.ToUpper(t.Span.SpanKind().String()) + " " + t.Span.Name()}
	for _, c := range t.Children {
		o.below = append(o.below, c.outlineBelow())
	}
	return o
}

// parseOutline reads the first tree of a text. If the text has several roots, the result is one outline without text,
// which equals no trace.
func parseOutline(text string) outline {
	var all []indented
	for line := range strings.Lines(text) {
		if text := strings.TrimSpace(line); text != "" {
			all = append(all, indented{len(line) - len(strings.TrimLeft(line, " \t")), text})
		}
	}
	if roots := outlines(all); len(roots) == 1 {
		return roots[0]
	} else {
		return outline{below: roots}
	}
}

// indented is a line of a drawing.
type indented struct {
	by   int
	text string
}

// outlines reads the lines of sibling trees.
func outlines(lines []indented) (all []outline) {
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].by > lines[0].by {
			n++
		}
		all = append(all, outline{lines[0].text, outlines(lines[1:n])})
		lines = lines[n:]
	}
	return all
}

// lines draws o, with siblings in their order or sorted.
func (o outline) lines(indent string, sorted bool) []string {
	var parts []string
	for _, b := range o.below {
		parts = append(parts, strings.Join(b.lines(indent+"  ", sorted), "\n"))
	}
	if sorted {
		slices.Sort(parts)
	}
	return append([]string{indent + o.text}, parts...)
}

func (o outline) sorted() string { return strings.Join(o.lines("", true), "\n") }

// shares reports whether o has a span of want.
func (o outline) shares(want outline) bool {
	texts := map[string]bool{}
	for text := range strings.SplitSeq(o.sorted(), "\n") {
		texts[strings.TrimSuffix(strings.TrimSpace(text), orphan)] = true
	}
	for text := range strings.SplitSeq(want.sorted(), "\n") {
		if texts[strings.TrimSpace(text)] {
			return true
		}
	}
	return false
}

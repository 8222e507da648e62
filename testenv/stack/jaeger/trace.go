package jaeger

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Trace has the spans of one trace, the earliest first.
type Trace struct {
	ID    string
	Spans []*Span
}

// A Span is an exported span. Ids are hexadecimal; the ParentID of a root is empty.
type Span struct {
	TraceID, ID, ParentID string
	Service               string // service.name of the resource
	Scope                 string
	Name                  string
	Kind                  string // INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER or UNSPECIFIED
	Start                 time.Time
	Duration              time.Duration
	Status                string // UNSET, OK or ERROR
	StatusMessage         string
	Attributes            map[string]any // string, bool, int64, float64, []any, map[string]any
	Resource              map[string]any
	Links                 []Link
	Events                []Event
}

// A Link points from a span to another.
type Link struct{ TraceID, SpanID string }

// An Event is a moment in a span.
type Event struct {
	Name       string
	Time       time.Time
	Attributes map[string]any
}

// End returns the time when the span ended.
func (s *Span) End() time.Time { return s.Start.Add(s.Duration) }

// String returns kind, name and service, for failure messages.
func (s *Span) String() string { return s.Kind + " " + s.Name + " (" + s.Service + ")" }

// Span returns the span with an id, or nil if the trace has none.
func (t *Trace) Span(id string) *Span {
	for _, s := range t.Spans {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// Find returns the spans with a kind and a name; an empty argument matches any.
func (t *Trace) Find(kind, name string) (found []*Span) {
	for _, s := range t.Spans {
		if (kind == "" || s.Kind == kind) && (name == "" || s.Name == name) {
			found = append(found, s)
		}
	}
	return found
}

// Children returns the spans with this parent.
func (t *Trace) Children(id string) (found []*Span) {
	for _, s := range t.Spans {
		if s.ParentID == id {
			found = append(found, s)
		}
	}
	return found
}

// Orphans returns the spans with a parent that is missing in the trace.
func (t *Trace) Orphans() (found []*Span) {
	for _, s := range t.Spans {
		if s.ParentID != "" && t.Span(s.ParentID) == nil {
			found = append(found, s)
		}
	}
	return found
}

// String draws the tree with a line for each span, for failure messages.
func (t *Trace) String() string {
	var b strings.Builder
	b.WriteString("trace " + t.ID + "\n")
	var draw func(parent, indent string)
	draw = func(parent, indent string) {
		for _, s := range t.Children(parent) {
			b.WriteString(indent + s.line() + "\n")
			draw(s.ID, indent+"  ")
		}
	}
	draw("", "  ")
	for _, s := range t.Orphans() {
		b.WriteString("  orphan of " + s.ParentID + ": " + s.line() + "\n")
		draw(s.ID, "    ")
	}
	return b.String()
}

func (s *Span) line() string {
	line := s.String() + " " + s.Duration.String()
	if s.Status != "UNSET" {
		line += " " + s.Status
	}
	if t, ok := s.Attributes["error.type"].(string); ok {
		line += " " + t
	}
	return line + strings.Repeat(" +link", len(s.Links))
}

// group groups spans into traces, the earliest trace first.
func group(spans []*Span) []*Trace {
	byStart := func(a, b *Span) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID))
	}
	slices.SortFunc(spans, byStart)
	byID := map[string]*Trace{}
	var traces []*Trace
	for _, s := range spans {
		t := byID[s.TraceID]
		if t == nil {
			t = &Trace{ID: s.TraceID}
			byID[s.TraceID] = t
			traces = append(traces, t)
		}
		t.Spans = append(t.Spans, s)
	}
	return traces
}

package traceview

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/page"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/internal/waterfall"
)

// A trace holds the known data of one trace.
type trace struct {
	id      string
	spans   []otlpsink.Span
	records []otlpsink.Record // records, sorted by time
	jaeger  bool              // the spans are from Jaeger

	all otlpsink.Snapshot // the whole snapshot, for links to and from other traces
}

func (v *view) trace(w http.ResponseWriter, r *http.Request) {
	text, _ := strings.CutSuffix(r.PathValue("id"), ".json")
	id, ok := traceID(text)
	if !ok {
		v.notAnID(w, r)
		return
	}
	t := v.received(id)
	var err error
	if len(t.spans) == 0 && v.Jaeger != nil {
		t.jaeger = true
		t.spans, err = v.Jaeger.Trace(r.Context(), id)
	}
	switch {
	case err != nil && !errors.Is(err, ErrNoTrace):
		v.say(w, r, http.StatusBadGateway, message{Title: "Jaeger does not answer", Text: err.Error(), Jaeger: true, ID: id},
			refreshJaeger)
	case len(t.spans) == 0:
		v.say(w, r, http.StatusNotFound, v.missing(id), refresh)
	case page.WantsJSON(r):
		v.writeJSON(w, r, http.StatusOK, t.json())
	default:
		p := v.frame("Trace "+id[:8], v.tracePage(t))
		p.Title = t.title() + " · mcpotel"
		if t.jaeger {
			p.Refresh = refreshJaeger
		}
		v.write(w, r, http.StatusOK, "trace", p)
	}
}

// missing returns the message for an unknown trace.
func (v *view) missing(id string) message {
	m := message{Title: "No such trace", ID: id,
		Text: "No span of this trace has been received, or its spans are no longer kept. New spans will appear here."}
	if v.Jaeger != nil {
		m.Jaeger = true
		m.Text = "No span of this trace has been received, and Jaeger at " + v.Jaeger.String() +
			" does not have it either. New spans will appear here."
	}
	return m
}

// received returns the data that the sink has of a trace.
func (v *view) received(id string) trace {
	now := v.Snapshot()
	t := trace{id: id, spans: now.Trace(id), all: now}
	for _, r := range now.Records {
		if r.TraceID == id {
			t.records = append(t.records, r)
		}
	}
	slices.SortStableFunc(t.records, func(a, b otlpsink.Record) int { return a.At().Compare(b.At()) })
	return t
}

func (t trace) summary() summary {
	pointers := make([]*otlpsink.Span, len(t.spans))
	for i := range t.spans {
		pointers[i] = &t.spans[i]
	}
	return summaryOf(pointers)
}

func (t trace) title() string { return called(t.summary().Name) }

// tracePage is the data of the page of a trace.
type tracePage struct {
	summary
	Title    string
	Badges   []string
	Key      []service
	Ticks    []string
	Whole    string
	Rows     []row
	LeftOut  int
	Skewed   int // number of spans that were moved because of clock skew
	Lost     int // number of missing parents
	Logs     []record
	MoreLogs int
	From     string // URL of Jaeger, if the spans are from there
}

// A row is a span, or a note between spans.
type row struct {
	Depth int
	Gap   string // description of omitted or missing spans; Span is then empty
	Span  spanView
}

func (v *view) tracePage(t trace) tracePage {
	a := waterfall.Arrange(otlpsink.Waterfall(t.spans))
	p := tracePage{summary: t.summary(), Title: t.title()}
	for _, e := range p.ErrorTypes[:min(len(p.ErrorTypes), maxBadges)] {
		p.Badges = append(p.Badges, cut(scantText, e))
	}
	if t.jaeger {
		p.From = v.Jaeger.String()
	}
	for _, name := range inOrder(a, t.spans) {
		if s := v.services.of(name); len(p.Key) < maxServices {
			p.Key = append(p.Key, s)
		}
	}
	p.Whole = unit.Duration(a.To.Sub(a.From))
	for i := range 4 {
		p.Ticks = append(p.Ticks, unit.Duration(a.To.Sub(a.From)*time.Duration(i)/4))
	}
	p.Ticks[0] = "0"
	d := v.drawing(t, a)
	p.Rows, p.LeftOut = d.rows()
	p.Skewed, p.Lost = d.skewed, d.lost
	p.MoreLogs = max(len(t.records)-maxRecords, 0)
	for i, r := range t.records[:len(t.records)-p.MoreLogs] {
		p.Logs = append(p.Logs, d.record(i, r))
	}
	return p
}

// inOrder returns the services in the order in which their spans are drawn.
func inOrder(a waterfall.Arrangement, spans []otlpsink.Span) []string {
	var names []string
	seen := make(map[string]bool)
	for _, r := range a.Rows {
		if r.Index < 0 {
			continue
		}
		if name := spans[r.Index].Service(); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// rows returns the rows of the page, and how many spans it omits.
func (d *drawing) rows() (rows []row, leftOut int) {
	shown := chosen(d.arranged.Rows, func(r waterfall.Row) bool {
		return r.Index >= 0 && d.trace.spans[r.Index].Status == "ERROR"
	})
	gap, depth := 0, 0
	closeGap := func() {
		if gap > 0 {
			rows = append(rows, row{Depth: depth, Gap: fmt.Sprintf("%d spans are not shown here", gap)})
			gap = 0
		}
	}
	for i, r := range d.arranged.Rows {
		if !shown[i] {
			gap++
			leftOut++
			depth = min(r.Depth, maxDepth)
			continue
		}
		closeGap()
		if r.Index < 0 {
			d.lost++
			rows = append(rows, row{Depth: min(r.Depth, maxDepth),
				Gap: "span " + shortID(r.ID) + " is the missing parent of these spans"})
			continue
		}
		rows = append(rows, row{Depth: min(r.Depth, maxDepth), Span: d.span(r)})
	}
	closeGap()
	return rows, leftOut
}

// maxDepth is the deepest indentation in the stylesheet.
const maxDepth = 15

// chosen returns the rows that fit on a page: first the rows that matter and their ancestors, then the other rows from
// the top.
func chosen(rows []waterfall.Row, matters func(waterfall.Row) bool) map[int]bool {
	shown := make(map[int]bool)
	for i, r := range rows {
		if len(shown) >= maxRows/2 {
			break
		}
		if !matters(r) {
			continue
		}
		for n := 0; i >= 0 && n <= maxDepth && !shown[i]; n, i = n+1, rows[i].Parent {
			shown[i] = true
		}
	}
	for i := range rows {
		if len(shown) >= maxRows {
			break
		}
		shown[i] = true
	}
	return shown
}

// where formats a time as an offset from the start of the trace.
func where(t, begin time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := t.Sub(begin)
	if d >= 0 {
		return "+" + unit.Duration(d)
	}
	return unit.Duration(d)
}

// spanJSON is a span in JSON.
type spanJSON struct {
	SpanID        string         `json:"span_id"`
	ParentID      string         `json:"parent_id,omitzero"`
	Service       string         `json:"service"`
	Name          string         `json:"name"`
	Kind          string         `json:"kind"`
	Start         time.Time      `json:"start"`
	Duration      time.Duration  `json:"duration_ns"`
	Status        string         `json:"status"`
	StatusMessage string         `json:"status_message,omitzero"`
	Attributes    map[string]any `json:"attributes"`
	Events        []eventJSON    `json:"events,omitempty"`
	Links         []linkJSON     `json:"links,omitempty"`
	Resource      map[string]any `json:"resource"`
	Scope         string         `json:"scope"`
	ScopeVersion  string         `json:"scope_version,omitzero"`
}

type eventJSON struct {
	Name       string         `json:"name"`
	Time       time.Time      `json:"time"`
	Attributes map[string]any `json:"attributes"`
}

type linkJSON struct {
	TraceID    string         `json:"trace_id"`
	SpanID     string         `json:"span_id"`
	Attributes map[string]any `json:"attributes"`
}

func (t trace) json() any {
	spans := make([]spanJSON, len(t.spans))
	for i, s := range t.spans {
		spans[i] = spanJSON{
			SpanID: s.SpanID, ParentID: s.ParentID, Service: s.Service(), Name: s.Name, Kind: s.Kind, Start: s.Start,
			Duration: s.End.Sub(s.Start),
			Status:   s.Status, StatusMessage: s.StatusMessage, Attributes: jsonMap(s.Attributes),
			Resource: jsonMap(s.Resource), Scope: s.Scope, ScopeVersion: s.ScopeVersion,
		}
		for _, e := range s.Events {
			spans[i].Events = append(spans[i].Events, eventJSON{e.Name, e.Time, jsonMap(e.Attributes)})
		}
		for _, l := range s.Links {
			spans[i].Links = append(spans[i].Links, linkJSON{l.TraceID, l.SpanID, jsonMap(l.Attributes)})
		}
	}
	slices.SortStableFunc(spans, func(a, b spanJSON) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.SpanID, b.SpanID))
	})
	records := []recordJSON{}
	for _, r := range t.records {
		records = append(records, jsonRecord(r))
	}
	return map[string]any{"trace_id": t.id, "spans": spans, "records": records}
}

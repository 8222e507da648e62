package traceview

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/page"
)

// A summary describes one trace in the list.
type summary struct {
	TraceID    string        `json:"trace_id"`
	Name       string        `json:"name"`    // name of the root span, or of the first span if there is no root
	Service    string        `json:"service"` // service of that span
	Rootless   bool          `json:"rootless,omitzero"`
	Services   []string      `json:"services"`
	Start      time.Time     `json:"start"`
	Duration   time.Duration `json:"duration_ns"`
	Spans      int           `json:"spans"`
	Errors     int           `json:"errors"`
	ErrorTypes []string      `json:"error_types,omitempty"`
	Connecting bool          `json:"connecting,omitzero"` // the trace only connects or probes
}

// summarize returns the traces that pass the filter, newest first.
func summarize(spans []otlpsink.Span, f filter) []summary {
	var ids []string
	traces := make(map[string][]*otlpsink.Span)
	for i := range spans {
		id := spans[i].TraceID
		if traces[id] == nil {
			ids = append(ids, id)
		}
		traces[id] = append(traces[id], &spans[i])
	}
	var all []summary
	for _, id := range ids {
		if s := summaryOf(traces[id]); f.passes(s, traces[id]) {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b summary) int {
		if f.Longest {
			return cmp.Or(cmp.Compare(b.Duration, a.Duration), b.Start.Compare(a.Start))
		}
		return b.Start.Compare(a.Start)
	})
	return all
}

// summaryOf summarizes the spans of one trace, at least one.
func summaryOf(spans []*otlpsink.Span) summary {
	first := rootOf(spans)
	s := summary{
		TraceID: first.TraceID, Name: first.Name, Service: first.Service(), Rootless: first.ParentID != "",
		Spans: len(spans), Start: first.Start, Connecting: isConnecting(spans),
	}
	services, errorTypes := make(map[string]bool), make(map[string]bool)
	end := first.End
	for _, sp := range spans {
		services[sp.Service()] = true
		if sp.Start.Before(s.Start) {
			s.Start = sp.Start
		}
		if sp.End.After(end) {
			end = sp.End
		}
		if sp.Status == "ERROR" {
			s.Errors++
			errorTypes[errorType(sp)] = true
		}
	}
	s.Duration = end.Sub(s.Start)
	s.Services = slices.Sorted(maps.Keys(services))
	s.ErrorTypes = slices.Sorted(maps.Keys(errorTypes))
	return s
}

// rootOf returns the first span without a parent, or the first span if each has a parent.
func rootOf(spans []*otlpsink.Span) *otlpsink.Span {
	return slices.MinFunc(spans, func(a, b *otlpsink.Span) int {
		if (a.ParentID == "") != (b.ParentID == "") {
			if a.ParentID == "" {
				return -1
			}
			return 1
		}
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.SpanID, b.SpanID))
	})
}

// errorType returns error.type of a span in error.
func errorType(s *otlpsink.Span) string {
	if v, ok := s.Attributes["error.type"]; ok {
		return valueText(v)
	}
	return "error"
}

// listPage is the data of the list.
type listPage struct {
	Filter   filter
	Chosen   []string // services in the form
	Rows     []listRow
	From, To int    // numbers of the first and the last row among the matching traces
	Matches  int    // number of matching traces
	Before   string // link to the page before; empty for none
	After    string // link to the next page; empty for none
	Ranges   []period
	Chart    *chart  // durations over time; nil for fewer than two traces
	Folds    []*fold // groups of traces that only connect, unless Filter.Connects is set
	Folded   int     // number of traces in Folds
	FoldedIn string  // link to the same page with these traces in the list
	Traces   int     // number of all traces
	Failed   int     // number of traces with errors
	Spans    int
	Services int
	Records  int
	Dropped  otlpsink.Dropped
	GRPC     string
	HTTP     string
	Jaeger   *Jaeger
	JSON     string
}

type listRow struct {
	summary
	Root     service
	Others   []service
	Badges   []string
	MoreErrs int
}

func (v *view) list(w http.ResponseWriter, r *http.Request) {
	now := v.Snapshot()
	f := filterOf(r)
	some := summarize(now.Spans, f)
	if page.WantsJSON(r) {
		v.writeJSON(w, r, http.StatusOK, map[string]any{"traces": nonNil(some), "dropped_spans": now.Dropped.Spans})
		return
	}
	all := some
	if f.Active() {
		all = summarize(now.Spans, filter{})
	}
	p := listPage{
		Filter: f, Traces: len(all), Spans: len(now.Spans), Records: len(now.Records), Dropped: now.Dropped,
		GRPC: v.GRPC, HTTP: v.HTTP, Jaeger: v.Jaeger,
		JSON: "/traces.json" + strings.TrimSuffix(f.at(1), "?"),
	}
	services := make(map[string]bool)
	for _, s := range slices.Backward(all) { // oldest first, so that colours stay the same
		if s.Errors > 0 {
			p.Failed++
		}
		for _, name := range append([]string{s.Service}, s.Services...) {
			services[name] = true
			v.services.of(name)
		}
	}
	p.Services = len(services)
	p.Chosen = choices(services)
	if !f.Connects {
		p.fold(v, f, &some)
	}
	p.Ranges, p.Chart = periods(f.Since), chartOf(some)
	p.Matches = len(some)
	f.Page = min(f.Page, max(1, (len(some)+maxTraces-1)/maxTraces))
	first := (f.Page - 1) * maxTraces
	last := min(first+maxTraces, len(some))
	p.From, p.To = first+1, last
	if f.Page > 1 {
		p.Before = f.at(f.Page - 1)
	}
	if last < len(some) {
		p.After = f.at(f.Page + 1)
	}
	for _, s := range some[first:last] {
		p.Rows = append(p.Rows, v.listRow(s))
	}
	v.write(w, r, http.StatusOK, "list", v.frame("Traces", p))
}

// fold moves the traces that only connect from traces to Folds.
func (p *listPage) fold(v *view, f filter, traces *[]summary) {
	var connecting []summary
	*traces = slices.DeleteFunc(*traces, func(s summary) bool {
		if s.Connecting {
			connecting = append(connecting, s)
		}
		return s.Connecting
	})
	f.Connects, f.Page = true, 1
	p.Folds, p.Folded, p.FoldedIn = v.folded(connecting), len(connecting), f.query()
}

func (v *view) listRow(s summary) listRow {
	row := listRow{summary: s, Root: v.services.of(s.Service)}
	row.Name = called(s.Name)
	for _, name := range s.Services {
		if name != s.Service && len(row.Others) < colours {
			row.Others = append(row.Others, v.services.of(name))
		}
	}
	for _, t := range s.ErrorTypes[:min(len(s.ErrorTypes), maxBadges)] {
		row.Badges = append(row.Badges, cut(scantText, t))
	}
	row.MoreErrs = len(s.ErrorTypes) - len(row.Badges)
	return row
}

// choices returns the services that a form offers.
func choices(services map[string]bool) []string {
	delete(services, "")
	names := slices.Sorted(maps.Keys(services))
	names = names[:min(len(names), maxServices)]
	return slices.DeleteFunc(names, func(s string) bool { return len(s) > titleText })
}

// nonNil returns an empty list instead of nil, for JSON.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

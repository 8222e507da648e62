package traceview

import (
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/waterfall"
)

// A spanView is a span on the page.
type spanView struct {
	Anchor     string // id of the element; empty if another span has the same id
	ID, Parent string
	Service    service
	Name, Kind string
	Failed     bool
	Error      string // error.type
	Took       time.Duration
	At         string // start of the span since the start of the trace
	Bar        bar
	Notes      []string

	Status, Message string
	Attributes      []attribute
	MoreAttributes  int
	Resource        []attribute
	MoreResource    int
	Scope           string
	State           string // W3C tracestate of the trace
	Events          []event
	MoreEvents      int
	Links           []link
	MoreLinks       int
	Logs            int
}

// A bar is the position of a span on the time axis, in percent.
type bar struct {
	X, Width string
	Moments  []string // positions of its events
}

type event struct {
	Name, At   string
	Attributes []attribute
	More       int
}

// A link leads from a span to another span, or back.
type link struct {
	Href, Text string
	Back       bool // the link is from the other span
	Elsewhere  bool // the other span is in another trace
	Known      bool // the other span has been received
	Attributes []attribute
}

// A drawing builds the page of one trace.
type drawing struct {
	view     *view
	trace    trace
	arranged waterfall.Arrangement
	budget   *budget

	names  map[spanRef]string          // names of all known spans
	back   map[string][]*otlpsink.Span // spans that link to a span of this trace, by the id of that span
	logs   map[string]int              // number of records, by span id
	done   map[string]bool             // ids of spans that already have an element
	skewed int
	lost   int
}

type spanRef struct{ trace, span string }

func (v *view) drawing(t trace, a waterfall.Arrangement) *drawing {
	d := &drawing{
		view: v, trace: t, arranged: a, budget: newBudget(),
		names: make(map[spanRef]string), back: make(map[string][]*otlpsink.Span), logs: make(map[string]int),
		done: make(map[string]bool),
	}
	wanted := make(map[spanRef]bool)
	for _, s := range t.spans {
		d.names[spanRef{t.id, s.SpanID}] = s.Name
		for _, l := range s.Links {
			wanted[spanRef{l.TraceID, l.SpanID}] = true
		}
	}
	for i := range t.all.Spans {
		s := &t.all.Spans[i]
		if ref := (spanRef{s.TraceID, s.SpanID}); wanted[ref] {
			d.names[ref] = s.Name
		}
		for _, l := range s.Links {
			if l.TraceID == t.id {
				d.back[l.SpanID] = append(d.back[l.SpanID], s)
			}
		}
	}
	for _, r := range t.records {
		d.logs[r.SpanID]++
	}
	return d
}

func (d *drawing) span(r waterfall.Row) spanView {
	s := &d.trace.spans[r.Index]
	v := spanView{
		ID: s.SpanID, Parent: s.ParentID, Service: d.view.services.of(s.Service()),
		Name: called(s.Name), Kind: s.Kind,
		Failed: s.Status == "ERROR", Took: s.End.Sub(s.Start), At: where(s.Start, d.arranged.From),
		Notes: r.Notes, Status: s.Status, Message: d.budget.text(s.StatusMessage), State: d.budget.text(s.TraceState),
		Scope: d.budget.text(scope(s.Origin)), Logs: d.logs[s.SpanID],
	}
	if !d.done[s.SpanID] {
		d.done[s.SpanID] = true
		v.Anchor = anchor(s.SpanID)
	}
	if v.Failed {
		v.Error = cut(scantText, errorType(s))
	}
	if len(r.Notes) > 0 {
		d.skewed++
	}
	v.Attributes, v.MoreAttributes = attributesOf(s.Attributes, d.budget)
	v.Resource, v.MoreResource = attributesOf(s.Resource, d.budget)
	v.Bar = d.bar(r, s)
	v.MoreEvents = len(s.Events) - d.budget.of(len(s.Events), maxEvents)
	for _, e := range s.Events[:len(s.Events)-v.MoreEvents] {
		x := event{Name: d.budget.text(cut(titleText, e.Name)), At: where(e.Time, d.arranged.From)}
		x.Attributes, x.More = attributesOf(e.Attributes, d.budget)
		v.Events = append(v.Events, x)
	}
	v.Links, v.MoreLinks = d.links(s)
	return v
}

// anchor returns the id of a span's element, for links to it.
func anchor(spanID string) string { return "s-" + spanID }

func scope(o otlpsink.Origin) string {
	if o.ScopeVersion == "" {
		return o.Scope
	}
	return o.Scope + " " + o.ScopeVersion
}

// links returns the links from s and to s.
func (d *drawing) links(s *otlpsink.Span) (list []link, more int) {
	back := d.back[s.SpanID]
	for _, l := range s.Links[:d.budget.of(len(s.Links), maxLinks)] {
		x := d.link(l.TraceID, l.SpanID)
		x.Attributes, _ = attributesOf(l.Attributes, d.budget)
		list = append(list, x)
	}
	for _, from := range back[:d.budget.of(len(back), maxLinks)] {
		x := d.link(from.TraceID, from.SpanID)
		x.Back, x.Known, x.Text = true, true, d.budget.text(called(from.Name))
		list = append(list, x)
	}
	return list, len(s.Links) + len(back) - len(list)
}

func (d *drawing) link(traceID, spanID string) link {
	l := link{Href: "#" + anchor(spanID), Elsewhere: traceID != d.trace.id}
	if l.Elsewhere {
		l.Href = "/trace/" + traceID + l.Href
	}
	name, known := d.names[spanRef{traceID, spanID}]
	l.Known, l.Text = known, d.budget.text(called(name))
	if !known {
		l.Text = "span " + shortID(spanID) + " of trace " + shortID(traceID)
	}
	return l
}

// minBar is the minimum width of a visible bar, in percent.
const minBar = 0.4

func (d *drawing) bar(r waterfall.Row, s *otlpsink.Span) bar {
	x := min(d.percent(r.From), 100-minBar)
	b := bar{X: percent(x), Width: percent(max(d.percent(r.To)-x, minBar))}
	shift := r.From.Sub(s.Start)
	for _, e := range s.Events[:d.budget.of(len(s.Events), maxEvents)] {
		b.Moments = append(b.Moments, percent(d.percent(e.Time.Add(shift))))
	}
	return b
}

// percent returns the position of t on the time axis.
func (d *drawing) percent(t time.Time) float64 {
	whole := d.arranged.To.Sub(d.arranged.From)
	if whole <= 0 {
		return 0
	}
	return 100 * min(max(float64(t.Sub(d.arranged.From))/float64(whole), 0), 1)
}

func percent(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) + "%" }

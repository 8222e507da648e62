package traceview

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/page"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// A record is a log record on a page.
type record struct {
	Anchor     string
	At         string // time since the start of the trace, or the time of day
	Time       time.Time
	Level      string
	Class      string // CSS class of the level's badge
	Service    service
	Text       string
	Brief      []attribute // the most useful attributes
	Error      string      // text of the record's error; empty without an error
	Span       link        // Href is empty without a span
	Attributes []attribute
	More       int
}

// telling lists the attributes to show next to the text of a record, with their short names.
var telling = []attribute{
	{"mcp.method.name", "method"}, {"gen_ai.tool.name", "tool"}, {"error.type", "error.type"},
	{"mcp_client.connection.from", "from"},
	{"mcp_client.connection.to", "to"}, {"mcp_client.connection.reason", "reason"},
	{"mcp_client.violation.reason", "reason"},
}

const maxBrief = 4

// levels are the names of OpenTelemetry's severity ranges, each with four numbers.
var levels = [...]struct{ name, class string }{
	{"TRACE", "mute"}, {"DEBUG", "mute"}, {"INFO", "good"}, {"WARN", "warn"}, {"ERROR", "bad"}, {"FATAL", "bad"},
}

func levelOf(r otlpsink.Record) (name, class string) {
	if r.Severity < 1 || r.Severity > 4*len(levels) {
		return cut(12, r.SeverityText), "mute"
	}
	l := levels[(r.Severity-1)/4]
	return l.name, l.class
}

// textOf returns the body of a record, or the name of its event.
func textOf(r otlpsink.Record) string {
	if s := valueText(r.Body); s != "" {
		return s
	}
	return r.EventName
}

func (v *view) record(i int, r otlpsink.Record, b *budget) record {
	x := record{Anchor: "l-" + strconv.Itoa(i), Time: r.At(), Service: v.services.of(r.Service()),
		Text: b.text(textOf(r))}
	x.Level, x.Class = levelOf(r)
	for _, a := range telling {
		if v, ok := r.Attributes[a.Key]; ok && len(x.Brief) < maxBrief {
			x.Brief = append(x.Brief, attribute{a.Value, cut(scantText, valueText(v))})
		}
	}
	if v, ok := r.Attributes[names.KeyExceptionMessage]; ok {
		x.Error = b.text(cut(titleText, valueText(v)))
	}
	x.Attributes, x.More = attributesOf(r.Attributes, b)
	if r.EventName != "" && r.EventName != textOf(r) {
		x.Attributes = append([]attribute{{"event.name", b.text(r.EventName)}}, x.Attributes...)
	}
	return x
}

// record returns a record of the trace.
func (d *drawing) record(i int, r otlpsink.Record) record {
	x := d.view.record(i, r, d.budget)
	x.At = where(x.Time, d.arranged.From)
	if r.SpanID != "" {
		x.Span = d.link(d.trace.id, r.SpanID)
	}
	return x
}

// logsPage is the data of the page with all logs.
type logsPage struct {
	Filter  filter
	Chosen  []string
	Rows    []record
	LeftOut int
	Dropped int
	Levels  []levelChoice
	JSON    string
}

type levelChoice struct {
	Number int
	Name   string
}

func (v *view) logsPage(w http.ResponseWriter, r *http.Request) {
	now := v.Snapshot()
	f := filterOf(r)
	services := make(map[string]bool)
	var some []otlpsink.Record
	for _, rec := range now.Records {
		services[rec.Service()] = true
		if f.passesRecord(rec) {
			some = append(some, rec)
		}
	}
	slices.SortStableFunc(some, func(a, b otlpsink.Record) int { return b.At().Compare(a.At()) })
	if page.WantsJSON(r) {
		list := []recordJSON{}
		for _, rec := range some {
			list = append(list, jsonRecord(rec))
		}
		v.writeJSON(w, r, http.StatusOK, map[string]any{"records": list, "dropped_records": now.Dropped.Records})
		return
	}
	p := logsPage{
		Filter: f, Chosen: choices(services), LeftOut: max(len(some)-maxRecords, 0), Dropped: now.Dropped.Records,
		JSON: "/logs.json" + f.query(),
	}
	for i, l := range levels {
		p.Levels = append(p.Levels, levelChoice{4*i + 1, l.name})
	}
	b := newBudget()
	for i, rec := range some[:len(some)-p.LeftOut] {
		x := v.record(i, rec, b)
		x.Anchor = "" // the newest record is always first, so an anchor by position would move
		x.At = x.Time.UTC().Format("15:04:05.000")
		if rec.TraceID != "" {
			x.Span = link{Href: "/trace/" + rec.TraceID + "#" + anchor(rec.SpanID), Text: "trace " + shortID(rec.TraceID),
				Known: true}
		}
		p.Rows = append(p.Rows, x)
	}
	v.write(w, r, http.StatusOK, "logs", v.frame("Logs", p))
}

func (f filter) passesRecord(r otlpsink.Record) bool {
	switch {
	case f.Service != "" && r.Service() != f.Service, r.Severity < f.Level:
		return false
	case f.Text == "":
		return true
	}
	return contains(textOf(r), f.Text) || contains(r.EventName, f.Text) || contains(r.TraceID, f.Text) ||
		contained(r.Attributes, f.Text)
}

// recordJSON is a record in JSON.
type recordJSON struct {
	Time         time.Time      `json:"time"`
	Severity     int            `json:"severity"`
	SeverityText string         `json:"severity_text"`
	EventName    string         `json:"event_name,omitzero"`
	Body         any            `json:"body"`
	Attributes   map[string]any `json:"attributes"`
	Service      string         `json:"service"`
	TraceID      string         `json:"trace_id,omitzero"`
	SpanID       string         `json:"span_id,omitzero"`
}

func jsonRecord(r otlpsink.Record) recordJSON {
	return recordJSON{
		Time: r.At(), Severity: r.Severity, SeverityText: r.SeverityText, EventName: r.EventName,
		Body: jsonValue(r.Body), Attributes: jsonMap(r.Attributes), Service: r.Service(), TraceID: r.TraceID,
		SpanID: r.SpanID,
	}
}

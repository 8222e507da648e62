package traceview

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// An element is an element of a page.
type element struct {
	name     string
	attrs    map[string]string
	content  []any // in order, elements and text
	children []*element
	parent   *element
}

// parse parses the <main> element of a page. It fails if elements are not nested correctly.
func parse(t testing.TB, page string) *element {
	t.Helper()
	start, end := strings.Index(page, "<main"), strings.LastIndex(page, "</main>")
	if start < 0 || end < 0 {
		t.Fatalf("want a page with <main>, got %.200q", page)
	}
	d := xml.NewDecoder(strings.NewReader(page[start : end+len("</main>")]))
	d.Strict = false // attributes may have no value
	d.AutoClose = append(slices.Clone(xml.HTMLAutoClose), "wbr")
	d.Entity = xml.HTMLEntity
	root := &element{}
	at := root
	for {
		token, err := d.Token()
		if err == io.EOF {
			return root
		}
		if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: make(map[string]string), parent: at}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			at.children = append(at.children, e)
			at.content = append(at.content, e)
			at = e
		case xml.EndElement:
			at = at.parent
		case xml.CharData:
			at.content = append(at.content, string(token))
		}
	}
}

// text returns the text of e and of all elements below e, in order.
func (e *element) text() string {
	var b strings.Builder
	var write func(*element)
	write = func(e *element) {
		for _, c := range e.content {
			switch c := c.(type) {
			case *element:
				write(c)
			case string:
				b.WriteString(c)
			}
		}
	}
	write(e)
	return b.String()
}

// all returns the elements that match a selector, among e and the elements below e: "tag", ".class", "tag.class" or
// "#id".
func (e *element) all(like string) (found []*element) {
	tag, class, _ := strings.Cut(like, ".")
	tag, id, _ := strings.Cut(tag, "#")
	if (tag == "" || e.name == tag) && (class == "" || slices.Contains(strings.Fields(e.attrs["class"]), class)) &&
		(id == "" || e.attrs["id"] == id) && e.name != "" {
		found = append(found, e)
	}
	for _, c := range e.children {
		found = append(found, c.all(like)...)
	}
	return found
}

// one returns the only element that matches a selector.
func (e *element) one(t testing.TB, like string) *element {
	t.Helper()
	found := e.all(like)
	if len(found) != 1 {
		t.Fatalf("want one %s, got %d in %.300q", like, len(found), e.text())
	}
	return found[0]
}

// texts returns the text of each element that matches a selector, as one line.
func (e *element) texts(like string) (all []string) {
	for _, x := range e.all(like) {
		all = append(all, strings.Join(strings.Fields(x.text()), " "))
	}
	return all
}

// get requests a page like a browser.
func get(t testing.TB, h http.Handler, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(context.Background(), "GET", "http://localhost:1"+path, nil)
	r.Header.Set("Accept", "text/html,*/*")
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func getPage(t testing.TB, h http.Handler, path string) *element {
	t.Helper()
	w := get(t, h, path)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: want 200, got %d", path, w.Code)
	}
	return parse(t, w.Body.String())
}

func getJSON[T any](t testing.TB, h http.Handler, path string) (v T) {
	t.Helper()
	w := get(t, h, path)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("GET %s: want 200 and JSON, got %d %s", path, w.Code, w.Header().Get("Content-Type"))
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	return v
}

func showing(s otlpsink.Snapshot) http.Handler {
	return New(Options{Snapshot: snapshotOf(s)})
}

func snapshotOf(s otlpsink.Snapshot) func() otlpsink.Snapshot {
	return func() otlpsink.Snapshot { return s }
}

var noon = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

func after(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }

func from(service string) otlpsink.Origin {
	return otlpsink.Origin{Resource: map[string]any{"service.name": service}, Scope: "lib", ScopeVersion: "v1"}
}

const (
	traceA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	traceB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// sample returns a trace with a call that fails at the server, and a second trace that links to the first.
func sample() otlpsink.Snapshot {
	return otlpsink.Snapshot{
		Spans: []otlpsink.Span{
			{Origin: from("server"), TraceID: traceA, SpanID: "a3", ParentID: "a2", Name: "tools/call divide", Kind: "SERVER",
				Start: after(20), End: after(40), Status: "ERROR",
				StatusMessage: "no such number",
				Attributes:    map[string]any{"error.type": "tool_error", "count": int64(7), "list": []any{"x", 1.5}},
				Events: []otlpsink.Event{
					{Name: "exception", Time: after(30), Attributes: map[string]any{"exception.type": "DivideError"}}}},
			{Origin: from("client"), TraceID: traceA, SpanID: "a1", Name: "work", Kind: "INTERNAL", Start: after(0),
				End: after(100), Status: "UNSET"},
			{Origin: from("client"), TraceID: traceA, SpanID: "a2", ParentID: "a1", Name: "tools/call divide", Kind: "CLIENT",
				Start: after(10), End: after(60), Status: "ERROR",
				Attributes: map[string]any{"error.type": "tool_error", "gen_ai.tool.name": "divide"}},
			{Origin: from("client"), TraceID: traceB, SpanID: "b1", Name: "again", Kind: "INTERNAL", Start: after(200),
				End: after(201), Status: "OK",
				Links: []otlpsink.Link{{TraceID: traceA, SpanID: "a2", Attributes: map[string]any{"why": "retry"}},
					{TraceID: strings.Repeat("c", 32), SpanID: "c1"}}},
		},
		Records: []otlpsink.Record{
			{Origin: from("server"), Severity: 17, Body: "second", Time: after(35), TraceID: traceA, SpanID: "a3",
				EventName: "failed"},
			{Origin: from("client"), Severity: 9, Body: "first", Observed: after(5), TraceID: traceA, SpanID: "a1",
				Attributes: map[string]any{"error.type": "none"}},
			{Origin: from("client"), Severity: 5, SeverityText: "debug", EventName: "elsewhere", Time: after(6)},
		},
	}
}

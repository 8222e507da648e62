package traceview

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

func TestATraceIsDrawnAsATree(t *testing.T) {
	page := getPage(t, showing(sample()), "/trace/"+traceA)
	spans := page.all("details.span")
	if len(spans) != 3 {
		t.Fatalf("want three spans, got %d", len(spans))
	}
	for i, want := range []struct {
		id, kind, title, took, class string
		x, width                     string
	}{
		{"s-a1", "INTERNAL", "work", "100ms", "d0", "0.000%", "100.000%"},
		{"s-a2", "CLIENT", "tools/call divide", "50.0ms", "d1", "10.000%", "50.000%"},
		{"s-a3", "SERVER", "tools/call divide", "20.0ms", "d2", "20.000%", "20.000%"},
	} {
		s := spans[i]
		bar := s.one(t, "rect.time").attrs
		got := []string{s.attrs["id"], s.one(t, ".kind").text(), s.one(t, ".title").text(), s.one(t, ".took").text(),
			bar["x"], bar["width"]}
		if !slices.Equal(got, []string{want.id, want.kind, want.title, want.took, want.x, want.width}) {
			t.Errorf("line %d: want %+v, got %q", i, want, got)
		}
		if classes := strings.Fields(s.attrs["class"]); !slices.Contains(classes, want.class) ||
			slices.Contains(classes, "failed") != (i > 0) {
			t.Errorf("line %d: want depth %s and a mark if it failed, got %q", i, want.class, classes)
		}
	}
	if x := spans[2].one(t, "circle.moment").attrs["cx"]; x != "30.000%" {
		t.Errorf("want the event at 30 %%, got %s", x)
	}
	inside := spans[2].one(t, ".inside")
	if got := inside.texts("dt")[:3]; !slices.Equal(got, []string{"error.type", "count", "list"}) {
		t.Errorf("want the attributes by name, error.type first, got %q", got)
	}
	for _, want := range []string{`["x",1.5]`, "no such number", "DivideError", "service.name", "lib v1"} {
		if !strings.Contains(inside.text(), want) {
			t.Errorf("want %q in the details of the span, got %q", want, inside.text())
		}
	}
	if back := spans[1].one(t, "ul.links"); !strings.Contains(back.text(), "from again") ||
		back.one(t, "a").attrs["href"] != "/trace/"+traceB+"#s-b1" {
		t.Errorf("want the span that links here, got %q", back.text())
	}
}

func TestLinksLeadToOtherTraces(t *testing.T) {
	list := getPage(t, showing(sample()), "/trace/"+traceB).one(t, "ul.links")
	a := list.all("a")
	if len(a) != 2 || a[0].attrs["href"] != "/trace/"+traceA+"#s-a2" || a[0].text() != "tools/call divide" {
		t.Errorf("want a link to the call by its name, got %q", list.text())
	}
	if !strings.Contains(list.text(), "why") || !strings.Contains(list.text(), "retry") ||
		strings.Count(list.text(), "another trace") != 2 || strings.Count(list.text(), "not received") != 1 {
		t.Errorf("want the link's attributes, and a note on the missing span, got %q", list.text())
	}
}

func TestLogsAreSortedByTimeBelowTheirTrace(t *testing.T) {
	page := getPage(t, showing(sample()), "/trace/"+traceA)
	records := page.one(t, "section#logs").all("div.log")
	var got []string
	for _, r := range records {
		got = append(got, r.one(t, ".at").text()+" "+r.one(t, ".badge").text()+" "+
			strings.TrimSpace(r.one(t, ".text").text())+" "+r.one(t, "a.of").attrs["href"])
	}
	if want := []string{"+5.00ms INFO first error.type=none #s-a1", "+35.0ms ERROR second #s-a3"}; !slices.Equal(got,
		want) {
		t.Errorf("want %q, got %q", want, got)
	}
	if text := records[1].one(t, ".inside").text(); !strings.Contains(text, "event.name") ||
		!strings.Contains(text, "failed") {
		t.Errorf("want the name of the event, because the text lacks it, got %q", text)
	}
	if all := getPage(t, showing(sample()), "/logs").all("div.log"); len(all) != 3 ||
		!strings.Contains(all[0].text(), "second") {
		t.Errorf("want all records on the page of logs, the newest first, got %d", len(all))
	}
	type list struct{ Records []recordJSON }
	if some := getJSON[list](t, showing(sample()), "/logs.json?level=13").Records; len(some) != 1 ||
		some[0].Body != "second" {
		t.Errorf("level 13: want the error only, got %+v", some)
	}
	if some := getJSON[list](t, showing(sample()), "/logs.json?q=elsewhere&service=client").Records; len(some) != 1 ||
		some[0].EventName != "elsewhere" {
		t.Errorf("other trace: want its record, got %+v", some)
	}
}

func TestLogLineContainsItsErrorText(t *testing.T) {
	const why = "127.0.0.1:8080: connection refused"
	s := sample()
	s.Records[0].Attributes = map[string]any{"error.type": "connection_lost", "exception.message": why}
	for _, path := range []string{"/trace/" + traceA, "/logs"} {
		var lines []string
		for _, r := range getPage(t, showing(s), path).all("div.log") {
			lines = append(lines, r.one(t, "summary").text())
		}
		if text := strings.Join(lines, "\n"); !strings.Contains(text, why) {
			t.Errorf("%s: want the text of the error in the line, got %q", path, text)
		}
	}
}

func TestIncompleteTraceIsMarked(t *testing.T) {
	s := sample()
	s.Spans = s.Spans[:1] // the server's
	page := getPage(t, showing(s), "/trace/"+traceA)
	if text := page.one(t, ".gap").text(); !strings.Contains(text, "a2 is the missing parent of these spans") {
		t.Errorf("want a line for the parent, got %q", text)
	}
	if notes := page.texts(".note"); len(notes) != 1 || !strings.Contains(notes[0], "A span is missing") {
		t.Errorf("want a note, got %q", notes)
	}
	w := get(t, showing(s), "/trace/"+traceB)
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `data-refresh="1000"`) {
		t.Errorf("unknown trace: want 404 and a page that refreshes, got %d", w.Code)
	}
}

func TestClockSkewIsNoted(t *testing.T) {
	s := sample()
	s.Spans[0].Start, s.Spans[0].End = after(5000), after(5020)
	page := getPage(t, showing(s), "/trace/"+traceA)
	server := page.all("details.span")[2]
	if got := server.one(t, "rect.time").attrs["width"]; got != "20.000%" {
		t.Errorf("want the server's span in its place at its length, got a width of %s", got)
	}
	if text := server.one(t, ".note").text(); !strings.Contains(text, "clock skew? drawn 4.96s earlier") {
		t.Errorf("want a note at the span, got %q", text)
	}
	if notes := strings.Join(page.texts(".note"), " "); !strings.Contains(notes, "1 span moved into its parent") {
		t.Errorf("want a note above, got %q", notes)
	}
}

func TestTraceIDsAreReadInCommonNotations(t *testing.T) {
	s := sample()
	s.Spans = append(s.Spans, otlpsink.Span{Origin: from("x"), TraceID: strings.Repeat("0", 28) + "abcd", SpanID: "1",
		Name: "short", Start: noon, End: noon})
	h := showing(s)
	for id, want := range map[string]int{
		traceA: 200, strings.ToUpper(traceA): 200, traceA + ".json": 200, "abcd": 200, "xyz": 400, traceA + "a": 400,
		"..": 301, "%2e%2e%2f": 400,
	} {
		if w := get(t, h, "/trace/"+id); w.Code != want && !(id == ".." && w.Code/100 == 3) {
			t.Errorf("%s: want %d, got %d", id, want, w.Code)
		}
	}
	for id, want := range map[string]string{" ABCD ": "/trace/" + strings.Repeat("0", 28) + "abcd", "//evil.example": ""} {
		w := get(t, h, "/trace", func(r *http.Request) { r.URL.RawQuery = "id=" + strings.ReplaceAll(id, " ", "+") })
		if got := w.Header().Get("Location"); got != want {
			t.Errorf("look up %q: want a redirect to %q, got %q", id, want, got)
		}
	}
}

func TestPageOfALargeTraceIsBoundedAndShowsErrors(t *testing.T) {
	const n = 10_000
	huge := strings.Repeat("x", 1<<20)
	attributes := map[string]any{}
	for i := range 2 * maxAttributes {
		attributes[fmt.Sprint("key", i)] = huge
	}
	s := otlpsink.Snapshot{}
	for i := range n {
		sp := otlpsink.Span{Origin: from("x"), TraceID: traceA, SpanID: fmt.Sprintf("%016x", i+1), Name: huge,
			Kind: "INTERNAL", Start: after(i), End: after(n), Attributes: attributes}
		if i > 0 {
			sp.ParentID = fmt.Sprintf("%016x", (i-1)/2+1)
		}
		for range 2 * maxEvents {
			sp.Events = append(sp.Events, otlpsink.Event{Name: huge, Time: after(i), Attributes: attributes})
			sp.Links = append(sp.Links, otlpsink.Link{TraceID: traceB, SpanID: "b1", Attributes: attributes})
		}
		s.Spans = append(s.Spans, sp)
	}
	s.Spans[n-1].Status = "ERROR"
	for range 2 * maxRecords {
		s.Records = append(s.Records,
			otlpsink.Record{Origin: from("x"), TraceID: traceA, SpanID: fmt.Sprintf("%016x", n), Body: huge,
				Attributes: attributes, Time: noon})
	}
	w := get(t, showing(s), "/trace/"+traceA)
	if size := w.Body.Len(); size > 16<<20 {
		t.Errorf("want a page of at most 16 MiB, got %d bytes", size)
	}
	page := parse(t, w.Body.String())
	if spans := page.all("details.span"); len(spans) != maxRows {
		t.Errorf("want %d spans drawn, got %d", maxRows, len(spans))
	}
	if failed := page.all("details.failed"); len(failed) != 1 || failed[0].attrs["id"] != fmt.Sprintf("s-%016x", n) {
		t.Errorf("want the failed span among them, got %d", len(failed))
	}
	if notes := strings.Join(page.texts(".note"), " "); !strings.Contains(notes, "9000 spans of 10000 not shown") ||
		!strings.Contains(notes, "500 later records not shown") {
		t.Errorf("want a note on the omitted elements, got %q", notes)
	}
}

func TestJSONEncodesUnsupportedValuesAsText(t *testing.T) {
	s := sample()
	s.Spans[0].Attributes = map[string]any{"nan": math.NaN(), "inf": []any{math.Inf(1), map[string]any{"x": math.Inf(-1)}},
		"bytes": []byte{0, 255}}
	type trace struct {
		Spans   []spanJSON
		Records []recordJSON
	}
	got := getJSON[trace](t, showing(s), "/trace/"+traceA+".json")
	if len(got.Spans) != 3 || len(got.Records) != 2 {
		t.Fatalf("want three spans and two records, got %+v", got)
	}
	if a := got.Spans[2].Attributes; a["nan"] != "NaN" || fmt.Sprint(a["inf"]) != "[+Inf map[x:-Inf]]" ||
		a["bytes"] != "AP8=" {
		t.Errorf("want text for values that are not finite, got %v", a)
	}
}

// nasty generates text from a peer that tries to break out of its HTML context.
func nasty() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"<script>alert(1)</script>", `"><img src=x onerror=y>`, "</main></details></option>", "'", `"`, "`", "<", ">",
			"&lt;", "&#x3c;", "]]>", "<!--", "-->",
			"{{.}}", "javascript:", "//evil.example", "#", "?", "\x00", "\x1b", "\xff", "\r\n", "\u202e", "\u0301", "é", "a",
			" ", "=", "/", "..",
		}), 0, 8).Draw(t, "parts"), "")
	}))
}

// TestPagesEscapeAnyTelemetry searches pages for elements and links that come from data, and checks that pages are well
// formed.
func TestPagesEscapeAnyTelemetry(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		name, value, service := nasty().Draw(r, "name"), nasty().Draw(r, "value"), nasty().Draw(r, "service")
		nanos := rapid.Int64().Draw(r, "nanos")
		s := sample()
		for i := range s.Spans {
			sp := &s.Spans[i]
			sp.Name, sp.Kind, sp.StatusMessage, sp.TraceState, sp.Origin = name, value, value, name, from(service)
			sp.Attributes = map[string]any{name: value, "error.type": value, value: []any{name}}
			sp.SpanID, sp.ParentID = value, name
			sp.End = sp.Start.Add(time.Duration(nanos))
			sp.Links = append(sp.Links, otlpsink.Link{TraceID: name, SpanID: value, Attributes: sp.Attributes})
			sp.Events = append(sp.Events, otlpsink.Event{Name: name, Time: sp.End, Attributes: sp.Attributes})
		}
		for i := range s.Records {
			rec := &s.Records[i]
			rec.Body, rec.SeverityText, rec.SpanID, rec.Attributes = name, value, value, map[string]any{name: value}
		}
		s.Points = []otlpsink.Point{{Origin: from(service), Metric: name, Unit: value, Kind: otlpsink.Histogram, Count: 1,
			Attributes: map[string]any{name: value},
			Exemplars:  []otlpsink.Exemplar{{TraceID: value, SpanID: name, Value: float64(nanos)}}}}
		h := showing(s)
		for _, path := range []string{"/", "/trace/" + traceA, "/metrics", "/logs"} {
			w := get(t, h, path)
			if w.Code != http.StatusOK || w.Body.Len() > 256<<10 {
				r.Fatalf("%s: want 200 and a page of some size, got %d and %d bytes", path, w.Code, w.Body.Len())
			}
			for _, e := range parse(t, w.Body.String()).all("") {
				if !slices.Contains(known, e.name) {
					r.Errorf("%s: data added <%s>", path, e.name)
				}
				for a, v := range e.attrs {
					if strings.HasPrefix(a, "on") || a == "style" ||
						a == "href" && !(strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "//")) && !strings.HasPrefix(v, "#") {
						r.Errorf("%s: data added %s=%q", path, a, v)
					}
				}
			}
			if w := get(t, h, path+".json"); path != "/" && w.Code != http.StatusOK {
				r.Errorf("%s.json: want 200, got %d", path, w.Code)
			}
		}
	})
}

// known are the elements that the templates use.
var known = strings.Fields(
	`main h1 h2 h3 p ul li b i em a span time div section table thead tbody tr th td form label select option input button
	details summary dl dt dd wbr svg line rect circle title figure figcaption pre`)

package traceview

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

func TestListShowsTracesNewestFirst(t *testing.T) {
	page := getPage(t, showing(sample()), "/")
	rows := page.one(t, "table#traces").all("tr")[1:]
	if len(rows) != 2 {
		t.Fatalf("want two traces, got %d", len(rows))
	}
	if got, want := rows[0].texts("td"),
		[]string{"again", "client", "", "1", "1.00ms", "12:00:00.200"}; !slices.Equal(got, want) {
		t.Errorf("first: want %q, got %q", want, got)
	}
	if got, want := rows[1].texts("td"),
		[]string{"work", "clientserver", "tool_error", "3", "100ms", "12:00:00.000"}; !slices.Equal(got, want) {
		t.Errorf("second: want %q, got %q", want, got)
	}
	if rows[0].attrs["class"] == "failed" || rows[1].attrs["class"] != "failed" {
		t.Error("want only the second marked as failed")
	}
	if href := rows[1].one(t, "a").attrs["href"]; href != "/trace/"+traceA {
		t.Errorf("want a link to the trace, got %s", href)
	}
}

func TestListCanBeFiltered(t *testing.T) {
	h := showing(sample())
	for query, want := range map[string][]string{
		"":                           {"again", "work"},
		"service=server":             {"work"},
		"service=nobody":             nil,
		"errors=1":                   {"work"},
		"min=50ms":                   {"work"},
		"min=50":                     {"work"},
		"min=1s":                     nil,
		"min=soon":                   {"again", "work"},
		"q=DIVIDE":                   {"work"},
		"q=gen_ai.tool.name=divide":  {"work"},
		"q=count=7":                  {"work"},
		"q=no such number":           {"work"},
		"q=" + traceB[:10]:           {"again"},
		"q=again&errors=1":           nil,
		"q=work&errors=1&min=0.1s":   {"work"},
		"q=work&errors=1&min=100.1":  nil,
		"q=b1":                       {"again"},
		"q=list=[\"x\",1.5]&errors=": {"work"},
	} {
		type list struct{ Traces []struct{ Name string } }
		var got []string
		for _, s := range getJSON[list](t, h, "/traces.json?"+strings.ReplaceAll(query, " ", "+")).Traces {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: want %v, got %v", query, want, got)
		}
	}
	if note := getPage(t, h, "/?min=soon").texts(".note"); len(note) != 1 ||
		!strings.Contains(note[0], "“soon” is not a duration") {
		t.Errorf("want a note that soon is not a duration, got %q", note)
	}
	if text := getPage(t, h, "/?q=nosuch").text(); !strings.Contains(text, "No traces match.") {
		t.Errorf("want a note that no trace matches, got %q", text)
	}
}

func TestTraceIsNamedAfterItsRootOrFirstSpan(t *testing.T) {
	spans := sample().Spans
	for name, tc := range map[string]struct {
		spans []otlpsink.Span
		want  summary
	}{
		"whole": {spans[:3], summary{TraceID: traceA, Name: "work", Service: "client",
			Services: []string{"client", "server"}, Start: after(0), Duration: 100e6, Spans: 3, Errors: 2,
			ErrorTypes: []string{"tool_error"}}},
		"without root": {[]otlpsink.Span{spans[0], spans[2]},
			summary{TraceID: traceA, Name: "tools/call divide", Service: "client", Rootless: true,
				Services: []string{"client", "server"}, Start: after(10), Duration: 50e6, Spans: 2, Errors: 2,
				ErrorTypes: []string{"tool_error"}}},
	} {
		got := summarize(tc.spans, filter{})
		if diff := cmp.Diff([]summary{tc.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestEmptyTraceListShowsTheExportEndpoint(t *testing.T) {
	text := getPage(t, New(Options{GRPC: "127.0.0.1:4317", HTTP: "http://127.0.0.1:4318"}), "/").one(t, ".empty").text()
	for _, want := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318", "http/protobuf"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q, got %q", want, text)
		}
	}
}

func TestLongListHasPages(t *testing.T) {
	var s otlpsink.Snapshot
	for i := range maxTraces + 3 {
		s.Spans = append(s.Spans, otlpsink.Span{Origin: from("x"), TraceID: fmt.Sprintf("%032x", i+1), SpanID: "1",
			Name: fmt.Sprint("n", i), Start: after(i), End: after(i)})
	}
	s.Dropped.Spans = 5
	page := getPage(t, showing(s), "/")
	if rows := page.all("tr"); len(rows) != maxTraces+1 ||
		!strings.Contains(rows[1].text(), fmt.Sprint("n", maxTraces+2)) {
		t.Errorf("want the newest %d, got %d lines", maxTraces, len(rows)-1)
	}
	if notes := strings.Join(page.texts(".note"), " "); !strings.Contains(notes, "5 older spans dropped") {
		t.Errorf("want a note on dropped spans, got %q", notes)
	}
	next := page.one(t, "p.buttons").one(t, "a")
	if text := page.one(t, "p.buttons").text(); !strings.Contains(text, "1 to 200 of 203") || next.text() != "Next page" {
		t.Errorf("want the numbers and a link to the next page, got %q", text)
	}
	page = getPage(t, showing(s), "/"+next.attrs["href"])
	if rows := page.all("tr"); len(rows) != 4 || !strings.Contains(rows[3].text(), "n0") {
		t.Errorf("want the oldest 3 on the next page, got %d lines", len(rows)-1)
	}
	if a := page.one(t, "p.buttons").one(t, "a"); a.text() != "Previous page" || a.attrs["href"] != "?" {
		t.Errorf("want a link to the first page, got %q to %q", a.text(), a.attrs["href"])
	}
	if rows := getPage(t, showing(s), "/?page=99").all("tr"); len(rows) != 4 {
		t.Errorf("want the last page for a number that is too large, got %d lines", len(rows)-1)
	}
}

func TestListIsSortedByDurationAndLimitedToATime(t *testing.T) {
	now := time.Now()
	var s otlpsink.Snapshot
	for i, took := range []time.Duration{3 * time.Millisecond, time.Second, 20 * time.Millisecond} {
		start := now.Add(-time.Duration(i) * 10 * time.Minute)
		s.Spans = append(s.Spans, otlpsink.Span{Origin: from("x"), TraceID: fmt.Sprintf("%032x", i+1), SpanID: "1",
			Name: fmt.Sprint("n", i), Start: start, End: start.Add(took)})
	}
	for path, want := range map[string]string{
		"/": "n0 n1 n2", "/?sort=longest": "n1 n2 n0", "/?since=15m": "n0 n1", "/?since=15m0s&sort=longest": "n1 n0",
		"/?since=1m": "n0", "/?since=x": "n0 n1 n2",
	} {
		page := getPage(t, showing(s), path)
		if got := strings.Join(page.one(t, "#traces").texts(".name"), " "); got != want {
			t.Errorf("%s: want %s, got %s", path, want, got)
		}
		if dots := len(page.all("circle")); dots != strings.Count(want, "n") && dots+1 != strings.Count(want, "n") {
			t.Errorf("%s: want a dot for each of several traces, got %d", path, dots)
		}
	}
	chart := chartOf(summarize(s.Spans, filter{}))
	if len(chart.Dots) != 3 || chart.Shortest != "3.00ms" || chart.Longest != "1.00s" || chart.Dots[1].Y != "2.00%" ||
		chart.Dots[0].Y != "98.00%" || chart.Dots[0].X != "98.00%" {
		t.Errorf("want the longest on top and the newest on the right, got %+v", chart)
	}
}

func TestForeignHostsAreRefused(t *testing.T) {
	h := showing(sample())
	for _, path := range []string{"/", "/traces.json", "/trace/" + traceA, "/trace/" + traceA + ".json", "/metrics",
		"/metrics.json", "/logs", "/logs.json"} {
		if w := get(t, h, path, func(r *http.Request) {
			r.Host = "evil.example"
		}); w.Code != http.StatusMisdirectedRequest || strings.Contains(w.Body.String(), "divide") {
			t.Errorf("%s for another host: want 421 without content, got %d", path, w.Code)
		}
		w := get(t, h, path, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") })
		if w.Header().Get("Access-Control-Allow-Origin") != "" || w.Header().Get("Content-Security-Policy") == "" ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: want no other origin allowed, a policy, and no sniffing, got %v", path, w.Header())
		}
		if w := get(t, h, path, func(r *http.Request) { r.Method = "POST" }); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: want 405, got %d", path, w.Code)
		}
	}
	if w := get(t, h, "/nosuch"); w.Code != http.StatusNotFound {
		t.Errorf("/nosuch: want 404, got %d", w.Code)
	}
}

// connect returns the trace of an attempt to connect, with the probe for the version.
func connect(n int, failed string) []otlpsink.Span {
	id := fmt.Sprintf("%032x", 0xc0+n)
	spans := []otlpsink.Span{
		{Origin: from("shop"), TraceID: id, SpanID: "1", Name: "mcp_client.connect", Start: after(n), End: after(n + 1)},
		{Origin: from("shop"), TraceID: id, SpanID: "2", ParentID: "1", Name: "server/discover", Start: after(n),
			End: after(n + 1), Attributes: map[string]any{"mcp.method.name": "server/discover"}},
		{Origin: from("proxy"), TraceID: id, SpanID: "3", ParentID: "2", Name: "POST", Start: after(n), End: after(n + 1)},
	}
	if failed != "" {
		spans[0].Status, spans[0].Attributes = "ERROR", map[string]any{"error.type": failed}
	}
	return spans
}

func TestConnectionTracesAreFoldedWithTheirNumber(t *testing.T) {
	s := sample()
	for n := range 5 {
		s.Spans = append(s.Spans, connect(1000+n, "connection_lost")...)
	}
	s.Spans = append(s.Spans, connect(2000, "")...)
	h := showing(s)
	page := getPage(t, h, "/")
	if rows := page.one(t, "table#traces").all("tr")[1:]; len(rows) != 2 {
		t.Errorf("want the two calls in the list, got %d lines", len(rows))
	}
	fold := page.one(t, "details#connecting")
	if got := fold.texts("summary"); len(got) != 1 || got[0] != "6 traces with only connection attempts and probes" {
		t.Errorf("want the number of folded traces, got %q", got)
	}
	var lines [][]string
	for _, row := range fold.all("tr")[1:] {
		lines = append(lines, row.texts("td"))
	}
	want := [][]string{
		{"mcp_client.connect", "shopproxy", "", "1", "", "12:00:02.000"},
		{"mcp_client.connect", "shopproxy", "connection_lost", "5", "12:00:01.000", "12:00:01.004"},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("similar traces in one line (-want +got):\n%s", diff)
	}

	if href := fold.one(t, "p").one(t, "a").attrs["href"]; href != "?connects=1" {
		t.Errorf("want a link to the list with all traces, got %s", href)
	}
	all := getPage(t, h, "/?connects=1")
	if rows := all.one(t, "table#traces").all("tr")[1:]; len(rows) != 8 || len(all.all("details#connecting")) != 0 {
		t.Errorf("want all eight traces in the list, got %d", len(rows))
	}
}

func TestTraceWithACallIsNotFolded(t *testing.T) {
	spans := connect(1, "")
	for name, test := range map[string]struct {
		spans []otlpsink.Span
		want  bool
	}{
		"a connect":     {spans, true},
		"a probe alone": {spans[1:2], true},
		"with a call": {append(spans[:2:2], otlpsink.Span{SpanID: "4", ParentID: "1",
			Attributes: map[string]any{"mcp.method.name": "tools/call"}}), false},
		"below a span of the program": {append(spans[:2:2], otlpsink.Span{SpanID: "0", Name: "start"}), false},
	} {
		var pointers []*otlpsink.Span
		for i := range test.spans {
			pointers = append(pointers, &test.spans[i])
		}
		if got := isConnecting(pointers); got != test.want {
			t.Errorf("%s: want %v, got %v", name, test.want, got)
		}
	}
}

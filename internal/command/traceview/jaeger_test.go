package traceview

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/backend"
	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

// answered is a shortened answer of Jaeger 2.13 to the request for a trace.
const answered = `{"result":{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"mcpotel-demo-server"}}]},
"scopeSpans":[{"scope":{"name":"github.com/mcpotel/mcpotel","version":"(devel)"},"spans":[{"traceId":"450a6458619ee611e4ea03ffb833d2db","spanId":"9742f0686140fd91",
"parentSpanId":"11cf888188520afd","flags":769,"name":"tools/call divide","kind":2,"startTimeUnixNano":"1795261527945131692","endTimeUnixNano":"1795261527945349665",
"attributes":[{"key":"error.type","value":{"stringValue":"tool_error"}},{"key":"mcp_server.request.size","value":{"intValue":"462"}}],"status":{"code":2}}]}]}]}}`

const another = `{"result":{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"mcpotel"}}]},"scopeSpans":[{"spans":[
{"traceId":"450a6458619ee611e4ea03ffb833d2db","spanId":"11cf888188520afd","name":"tools/call divide","kind":3,"startTimeUnixNano":"1795261527945000000","endTimeUnixNano":"1795261527945500000","status":{}}]}]}]}}`

const answeredID = "450a6458619ee611e4ea03ffb833d2db"

func withJaeger(t *testing.T, status int, body string) (http.Handler, *[]string) {
	t.Helper()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return New(Options{Jaeger: jaegerAt(t, server.URL+"/jaeger/")}), &asked
}

func TestJaegerTraceIsDrawnLikeOthers(t *testing.T) {
	h, asked := withJaeger(t, 200, answered+another)
	page := getPage(t, h, "/trace/"+answeredID)
	var got []string
	for _, s := range page.all("details.span") {
		got = append(got, s.one(t, ".kind").text()+" "+s.one(t, ".title").text()+" "+s.one(t, ".from").text()+" "+
			strings.Join(s.texts(".badge"), ","))
	}
	if want := []string{"CLIENT tools/call divide mcpotel ",
		"SERVER tools/call divide mcpotel-demo-server tool_error"}; !slices.Equal(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
	if !slices.Equal(*asked, []string{"/jaeger/api/v3/traces/" + answeredID}) {
		t.Errorf("want one request, below the base path, got %v", *asked)
	}
	if text := page.text(); !strings.Contains(text, "from Jaeger at http://127.0.0.1:") ||
		!strings.Contains(text, "Jaeger keeps no log records") {
		t.Errorf("want the source of the trace, got %q", text)
	}
	type trace struct{ Spans []spanJSON }
	if spans := getJSON[trace](t, h, "/trace/"+answeredID+".json").Spans; len(spans) != 2 ||
		spans[1].Attributes["mcp_server.request.size"] != 462.0 {
		t.Errorf("want both as JSON, got %+v", spans)
	}
}

func TestReceivedTracesAreNotFetchedFromJaeger(t *testing.T) {
	_, asked := withJaeger(t, 200, answered)
	s := sample()
	h := New(Options{Snapshot: snapshotOf(s), Jaeger: jaegerAt(t, "http://127.0.0.1:1")})
	if page := getPage(t, h, "/trace/"+traceA); len(page.all("details.span")) != 3 || len(*asked) > 0 {
		t.Errorf("want the received trace, without a request to Jaeger")
	}
}

func TestJaegerErrorsAreShown(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		want   int
		text   string
	}{
		"none":     {404, `{"error":{"httpCode":404,"message":"No traces found"}}`, 404, "does not have it either"},
		"empty":    {200, "", 404, "does not have it either"},
		"no spans": {200, `{"result":{}}`, 404, "does not have it either"},
		"another":  {200, `{}`, 404, "does not have it either"},
		"an error": {500, "<b>storage</b> is down", 502, "<b>storage</b> is down"},
		"not JSON": {200, "<html>", 502, "answer of Jaeger"},
		"not OTLP": {200, `{"result":{"resourceSpans":7}}`, 502, "answer of Jaeger"},
		"cut off":  {200, answered[:100], 502, "answer of Jaeger"},
	} {
		h, _ := withJaeger(t, tc.status, tc.body)
		w := get(t, h, "/trace/"+answeredID)
		if page := parse(t, w.Body.String()); w.Code != tc.want || !strings.Contains(page.text(), tc.text) {
			t.Errorf("%s: want %d and %q, got %d and %q", name, tc.want, tc.text, w.Code, page.text())
		}
		if w := get(t, h, "/trace/"+answeredID+".json"); w.Code != tc.want ||
			w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s as JSON: want %d and JSON, got %d", name, tc.want, w.Code)
		}
	}
}

func jaegerAt(t *testing.T, base string) *Jaeger {
	t.Helper()
	at, err := backend.New(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	return NewJaeger(at)
}

func TestPageWithJaegerHasATraceLookupForm(t *testing.T) {
	h, _ := withJaeger(t, 404, "")
	form := getPage(t, h, "/").all("form")
	if len(form) != 2 || form[1].attrs["action"] != "/trace" || form[1].one(t, "input").attrs["name"] != "id" {
		t.Errorf("want a form for a trace id, got %d forms", len(form))
	}
	if len(getPage(t, showing(sample()), "/").all("form")) != 1 {
		t.Error("without Jaeger: want none")
	}
}

func TestJaegerSearchUsesAttributes(t *testing.T) {
	since := time.UnixMicro(1795261527000000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.URL.Path != "/base/api/traces" || q.Get("service") != "shop" || q.Get("start") != "1795261527000000" ||
			q.Get("tags") != `{"error.type":"timeout","mcp_client.name":"shop"}` {
			http.Error(w, "what?", http.StatusBadRequest)
			return
		}
		if q.Get("minDuration") == "5s" {
			fmt.Fprint(w, `{"data":[{"traceID":"4713"}]}`)
			return
		}
		fmt.Fprint(w, `{"data":[{"traceID":"4711","spans":[]},{"traceID":"4712"}],"errors":null}`)
	}))
	defer s.Close()
	j := jaegerAt(t, s.URL+"/base/")
	attributes := map[string]string{"error.type": "timeout", "mcp_client.name": "shop"}
	ids, err := j.Tagged(t.Context(), "shop", attributes, since)
	if err != nil || !slices.Equal(ids, []string{"4711", "4712"}) {
		t.Errorf("got %q, %v", ids, err)
	}
	ids, err = j.Search(t.Context(), "shop", attributes, since, 5*time.Second)
	if err != nil || !slices.Equal(ids, []string{"4713"}) {
		t.Errorf("of at least 5 s: got %q, %v", ids, err)
	}
	if _, err := j.Tagged(t.Context(), "another", attributes, since); err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("got %v, want the status", err)
	}
}

// TestJaegerAnswerMemoryIsBounded uses answers with small JSON and large values, in one part and in many parts.
func TestJaegerAnswerMemoryIsBounded(t *testing.T) {
	const head, tail = `{"result":{"resourceSpans":[{"scopeSpans":[{"spans":[{}`, `]}]}]}}`
	fill := func(n int, s string) string { return strings.Repeat(s, n/len(s)) }
	for name, answer := range map[string]string{
		"one part":   head + fill(9<<20, ",{}") + tail,
		"many parts": fill(9<<20, head+fill(300<<10, ",{}")+tail),
		"tiny parts": fill(9<<20, head+tail),
		"attributes": head + `,{"attributes":[{}` + fill(9<<20, ",{}") + "]}" + tail,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
		j := jaegerAt(t, server.URL)
		var spans int
		allocated := heap.Allocated(func() {
			all, err := j.Trace(t.Context(), answeredID)
			if spans = len(all); err == nil && spans > 200_000 {
				t.Errorf("%s: got %d spans", name, spans)
			}
		})
		if allocated > 300<<20 {
			t.Errorf("%s: %d MiB of JSON allocate %d MiB for %d spans, want 300 MiB at most", name, len(answer)>>20,
				allocated>>20, spans)
		}
		server.Close()
	}
	for name, answer := range map[string]string{
		"services": `{"services":[""` + fill(9<<20, `,""`) + "]}", "found": `{"data":[{}` + fill(9<<20, ",{}") + "]}",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
		j := jaegerAt(t, server.URL)
		allocated := heap.Allocated(func() {
			if name == "services" {
				_, _ = j.Services(t.Context())
			} else {
				_, _ = j.Tagged(t.Context(), "x", nil, time.Now())
			}
		})
		if allocated > 100<<20 {
			t.Errorf("%s: %d MiB of JSON allocate %d MiB, want 100 MiB at most", name, len(answer)>>20, allocated>>20)
		}
		server.Close()
	}
}

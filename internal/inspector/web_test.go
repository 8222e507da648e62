package inspector_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/internal/inspector"
	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

// shown is a client on a debug page.
type shown inspect.Client

func (s shown) Inspect() inspect.Client { return inspect.Client(s) }

func TestDebugPageIsReadWithItsFlightRecorders(t *testing.T) {
	c := trouble().Clients[0]
	site := httptest.NewServer(debugpage.Handler(debugpage.WithClients(shown(c)), debugpage.WithServers()))
	defer site.Close()
	d, err := inspector.NewDebugPage(site.URL+"/debug/mcp/", false)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := d.Look(t.Context())
	if err != nil || len(seen.Clients) != 1 || len(seen.Clients[0].Recent) != len(c.Recent) ||
		seen.Clients[0].State != c.State {
		t.Errorf("want the client with its flight recorder, got %+v, %v", seen, err)
	}
}

func TestAPageOfTracesIsRead(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/trace/"+traceID+".json" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"trace_id":"`+traceID+`","spans":[{"span_id":"1","kind":"CLIENT","name":"tools/call radar",
			"start":"2026-07-28T12:00:00Z","duration_ns":1000,"status":"ERROR","status_message":"no",
			"attributes":{"error.type":"-32603","mcp_client.request.size":462,"list":["a"],"set":true}}]}`)
	}))
	defer site.Close()
	p, err := inspector.NewTracePage(site.URL+"/", false)
	if err != nil {
		t.Fatal(err)
	}
	spans, err := p.Trace(t.Context(), traceID)
	if err != nil || len(spans) != 1 || !spans[0].Failed || spans[0].Message != "no" ||
		spans[0].Attributes["mcp_client.request.size"] != "462" || spans[0].Attributes["list"] != `["a"]` {
		t.Errorf("got %+v, %v", spans, err)
	}
	if spans, err := p.Trace(t.Context(), "4711"); err != nil || len(spans) != 0 {
		t.Errorf("another trace: want none, got %v, %v", spans, err)
	}
}

// TestFailuresAreFoundWithTracesAlone uses sources of traces without any debug page.
func TestFailuresAreFoundWithTracesAlone(t *testing.T) {
	const (
		refused = "44444444444444444444444444444444"
		attempt = "33333333333333333333333333333333"
		asking  = "22222222222222222222222222222222" // a call of the inspector's own tool
		web     = "11111111111111111111111111111111" // a trace without MCP
	)
	span := func(second int, name, status, attributes string) string {
		return fmt.Sprintf(`{"span_id":"%d","kind":"CLIENT","name":%q,"start":"2026-07-28T12:00:0%dZ",
			"duration_ns":2000000000,"status":%q,"attributes":{"mcp_client.instance.id":"1",
			"mcp_client.name":"weather"%s}}`, second, name, second, status, attributes)
	}
	const call = `,"mcp.method.name":"tools/call","gen_ai.tool.name":"radar","error.type":"timeout"`
	traces := map[string]string{
		refused: `{"spans":[` + span(4, "tools/call radar", "ERROR", call) + `],"records":[{"span_id":"4","attributes":
			{"exception.message":"client is not ready in time; the last attempt to connect failed: cannot connect to h: connection refused"}}]}`,
		attempt: `{"spans":[` + span(3, "mcp_client.connect", "ERROR", `,"mcp_client.connection.attempt.number":1,
			"error.type":"connection_lost"`) + `],"records":[]}`,
		asking: `{"spans":[` + span(2, "tools/call explain", "ERROR", `,"mcp.method.name":"tools/call",
			"gen_ai.tool.name":"explain","error.type":"tool_error"`) + `]}`,
		web: `{"spans":[` + span(1, "GET /find", "ERROR", "") + `]}`,
	}
	var asked []string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/traces.json" {
			asked = append(asked, r.URL.RawQuery)
			_, _ = fmt.Fprintf(w, `{"traces":[{"trace_id":%q},{"trace_id":%q},{"trace_id":%q},{"trace_id":%q}]}`, refused,
				attempt, asking, web)
			return
		}
		_, _ = io.WriteString(w, traces[strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/trace/"), ".json")])
	}))
	defer site.Close()
	p, err := inspector.NewTracePage(site.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	c := agent(t, inspector.Sources{Spans: []inspector.Spans{p}})
	text, page := ask(t, c, "recent_traces", nil)
	says(t, text, "tools/call radar of weather failed. The call was never sent", "connection refused", refused,
		"the attempt to connect of weather failed", `"GET /find" failed`)
	if n := len(page["traces"].([]any)); n != 3 || strings.Contains(text, asking) {
		t.Errorf("want three failures, without the agent's own calls, got %d:\n%s", n, text)
	}
	text, _ = ask(t, c, "explain", map[string]any{"tool": "radar"})
	says(t, text, "never sent", "nothing_listens, certain")
	text, _ = ask(t, c, "recent_traces", map[string]any{"peer": "mail"})
	says(t, text, "No failed call is recorded")
	ids, err := p.Recent(t.Context(), inspector.Query{Service: "shop", Attributes: map[string]string{"error.type": "timeout"},
		AtLeast: 5 * time.Second})
	if want := "min=5s&q=error.type%3Dtimeout&service=shop"; err != nil || len(ids) != 4 || !slices.Contains(asked, want) {
		t.Errorf("want the query %s, got %q, %v and %q", want, ids, err, asked)
	}
	if want := []string{"errors=1", "errors=1&q=gen_ai.tool.name%3Dradar"}; !slices.Contains(asked, want[0]) ||
		!slices.Contains(asked, want[1]) {
		t.Errorf("want requests with %q, got %q", want, asked)
	}
}

func TestInvalidOrRemotePageURLsAreRefused(t *testing.T) {
	for _, base := range []string{"", "localhost:6060", "ftp://localhost/", "http://", "http://u:p@localhost/",
		"http://localhost/?a=b", "http://localhost/#a", ":"} {
		if _, err := inspector.NewDebugPage(base, true); err == nil {
			t.Errorf("%q: want an error", base)
		}
	}
	for _, base := range []string{"http://192.0.2.1/", "http://example.com/", "http://localhost.example.com/",
		"http://169.254.169.254/"} {
		if _, err := inspector.NewDebugPage(base, false); !errors.Is(err, inspector.ErrRemote) {
			t.Errorf("%q: want ErrRemote, got %v", base, err)
		}
		if _, err := inspector.NewTracePage(base, true); err != nil {
			t.Errorf("%q: want no error, got %v", base, err)
		}
	}
}

func TestInvalidPageGivesAnExplainedError(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	for want, h := range map[string]http.HandlerFunc{
		"302":                  http.RedirectHandler(other.URL, http.StatusFound).ServeHTTP,
		"500":                  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"no such page":         http.NotFound,
		"not the JSON of such": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"unexpected end of JSON input": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"clients":[`)
		},
		"answer is not the JSON": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(" ", 17<<20))
		},
	} {
		site := httptest.NewServer(h)
		d, err := inspector.NewDebugPage(site.URL, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Look(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		site.Close()
		if _, err := d.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "check that the program is running") {
			t.Errorf("page that is gone: got %v", err)
		}
	}
	if elsewhere > 0 {
		t.Error("the redirect was followed")
	}
}

// TestDebugPageMemoryIsBounded uses pages with small JSON and large values: in one answer, and in many answers.
func TestDebugPageMemoryIsBounded(t *testing.T) {
	for name, answer := range map[string]func(query string) string{
		"one answer": func(string) string { return `{"Clients":[{}` + strings.Repeat(",{}", 5<<20) + "]}" },
		"all answers": func(query string) string {
			if strings.Contains(query, "client=") {
				return `{"recent":[{}` + strings.Repeat(",{}", 100<<10) + "]}"
			}
			var all []string
			for i := range 100 {
				all = append(all, fmt.Sprintf(`{"number":%d}`, i+1))
			}
			return `{"Clients":[` + strings.Join(all, ",") + "]}"
		},
	} {
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, answer(r.URL.RawQuery))
		}))
		d, err := inspector.NewDebugPage(site.URL+"/", false)
		if err != nil {
			t.Fatal(err)
		}
		allocated := heap.Allocated(func() { _, err = d.Look(t.Context()) })
		if err == nil || !strings.Contains(err.Error(), "too large") || allocated > 384<<20 {
			t.Errorf("%s: got %v and %d MiB allocated, want an error and 384 MiB at most", name, err, allocated>>20)
		}
		site.Close()
	}
}

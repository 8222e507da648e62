package inspector_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/internal/inspector"
)

// shown is a client as a debug page shows it.
type shown inspect.Client

func (s shown) Inspect() inspect.Client { return inspect.Client(s) }

func TestADebugPageIsReadWithEachFlightRecorder(t *testing.T) {
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
		t.Errorf("want the client with what happened last, got %+v, %v", seen, err)
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

func TestOnlyWhatTheUserNamedIsAsked(t *testing.T) {
	for _, base := range []string{"", "localhost:6060", "ftp://localhost/", "http://", "http://u:p@localhost/",
		"http://localhost/?a=b", "http://localhost/#a", ":"} {
		if _, err := inspector.NewDebugPage(base, true); err == nil {
			t.Errorf("%q: want an error", base)
		}
	}
	for _, base := range []string{"http://192.0.2.1/", "http://example.com/", "http://localhost.example.com/",
		"http://169.254.169.254/"} {
		if _, err := inspector.NewDebugPage(base, false); !errors.Is(err, inspector.ErrRemote) {
			t.Errorf("%q: want it refused, got %v", base, err)
		}
		if _, err := inspector.NewTracePage(base, true); err != nil {
			t.Errorf("%q: want it allowed, got %v", base, err)
		}
	}
}

func TestAPageThatIsNoneIsAnErrorThatSaysSo(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	for want, h := range map[string]http.HandlerFunc{
		"302":              http.RedirectHandler(other.URL, http.StatusFound).ServeHTTP,
		"500":              func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"no such page":     http.NotFound,
		"not that of such": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"unexpected EOF":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"clients":[`) },
		"answer is not that of": func(w http.ResponseWriter, _ *http.Request) {
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
		if _, err := d.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "is the program running?") {
			t.Errorf("of a page that is gone: got %v", err)
		}
	}
	if elsewhere > 0 {
		t.Error("want no redirect followed")
	}
}

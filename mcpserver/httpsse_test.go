package mcpserver_test

import (
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// oldSession opens HTTP+SSE and returns its stream and the URL for messages.
func (w *web) oldSession(target string) (s *events, address string) {
	w.t.Helper()
	s = w.stream("GET", "", target)
	e := s.next()
	base, err := url.Parse(target)
	if err != nil {
		w.t.Fatal(err)
	}
	relative, err := base.Parse(string(e.Data))
	if e.Name != "endpoint" || err != nil {
		w.t.Fatalf("the first event is %s %q, want the endpoint", e.Name, e.Data)
	}
	return s, relative.String()
}

func TestHTTPWithSSEIsServedAtSameURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWebServer(t, mcpserver.Options{})
		w := serveWeb(t, server, nil)
		s, address := w.oldSession("http://localhost/some/mcp?key=1&other=a%26b")
		if !strings.HasPrefix(address, "http://localhost/some/mcp?") || !strings.Contains(address, "key=1&other=a%26b") {
			t.Errorf("the endpoint is %s, want the stream's own address with its parameters", address)
		}
		reply := func() message {
			t.Helper()
			e := s.next()
			if e.Name != "message" || e.HasID {
				t.Errorf("event %+v, want a message without id", e)
			}
			return decoded(t, string(e.Data))
		}
		post := func(body string) {
			t.Helper()
			if p := w.post(body, address); p.status != 202 {
				t.Errorf("%s got %d with %s, want 202", body, p.status, p.body)
			}
		}
		go post(initializeAs("2024-11-05"))
		if m := reply(); m.ID != 0.0 || !strings.Contains(string(m.Result), "2024-11-05") {
			t.Errorf("got %+v, want the answer to initialize", m)
		}
		post(initialized)
		post(legacySteps(1))
		for range 3 {
			if m := reply(); m.Method != mcp.NotificationProgress {
				t.Errorf("got %+v, want progress", m)
			}
		}
		if m := reply(); m.ID != 1.0 {
			t.Errorf("got %+v, want the answer", m)
		}
		server.RemoveTools("echo")
		if m := reply(); m.Method != mcp.NotificationToolListChanged {
			t.Errorf("got %+v, want the change", m)
		}
		post(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		if p := w.post(`[`+pingRequest+`]`, address); p.status != 400 {
			t.Errorf("a batch in a revision without got %d, want 400", p.status)
		}
		post(callOf(2, "sleep", `{"seconds":3600}`))
		post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		if p := w.post(`{`, address); p.status != 400 {
			t.Errorf("no JSON got %d, want 400", p.status)
		}
		s.leave()
		synctest.Wait()
		if p := w.post(initialized, address); p.status != 404 {
			t.Errorf("after the end of the stream, a message got %d, want 404", p.status)
		}
		w.end()
	})
}

func TestShutdownAnswersHTTPWithSSEClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, gate, _ := gated(t, mcpserver.Options{})
		w := serveWeb(t, server, nil)
		s, address := w.oldSession("http://localhost/")
		go w.post(initializeAs("2025-03-26"), address)
		s.next()
		w.post(callOf(2, "gated", `{}`), address)
		go w.end()
		synctest.Wait()
		close(gate)
		if m := s.message(); m.ID != 2.0 {
			t.Errorf("got %+v, want the answer to the running request", m)
		}
		s.over()
	})
}

func TestHTTPWithSSECanBeDisabled(t *testing.T) {
	w := serveWeb(t, newServer(t, mcpserver.Options{}), &mcpserver.HTTPOptions{NoSSE: true})
	if p := w.do("GET", ""); p.status != 400 {
		t.Errorf("GET got %d, want 400", p.status)
	}
	if p := w.post(initialize, "http://localhost/?sessionId=x"); p.status != 200 {
		t.Errorf("a parameter of the URL got %d, want it left alone", p.status)
	}
}

func TestBatchOverHTTPWithSSE(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
		s, address := w.oldSession("http://localhost/")
		go w.post(initializeAs("2025-03-26"), address)
		s.next()
		go w.post(`[`+pingRequest+`,`+callOf(1, "greet", `{"name":"x"}`)+`]`, address)
		if data := string(s.next().Data); !strings.HasPrefix(data, "[") || strings.Count(data, `"result"`) != 2 {
			t.Errorf("got %s, want both answers in one", data)
		}
		synctest.Wait()
		go w.post(`[]`, address)
		if m := s.message(); m.Error == nil || m.Error.Code != mcp.CodeInvalidRequest {
			t.Errorf("an empty batch got %+v, want it refused on the stream", m)
		}
		s.leave()
		w.end()
	})
}

// -> POST endpoint, MCP-Protocol-Version: 2026-07-28, as mcp-go probes; the client reads its stream, not the response.
func TestPOSTToSSEEndpointIsAnsweredOnStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
		s, address := w.oldSession("http://localhost/mcp")
		go func() {
			discover := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` + versionMeta +
				`,"io.modelcontextprotocol/clientCapabilities":{}}}}`
			if p := w.post(discover, address, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method",
				"server/discover"); p.status != 202 {
				t.Errorf("got %d with %s, want 202", p.status, p.body)
			}
		}()
		if m := decoded(t, string(s.next().Data)); m.ID != 1.0 || !strings.Contains(string(m.Result), "2026-07-28") {
			t.Errorf("got %+v, want the answer to server/discover", m)
		}
		s.leave()
	})
}

package mcpproxy_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/mcpotel/mcpotel/mcptest"
)

// get returns the response of a handler as text.
func get(h http.Handler) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return fmt.Sprintf("%d %s", w.Code, strings.TrimSpace(w.Body.String()))
}

// atURL serves the gateway over HTTP until the test ends, and returns its URL.
func (a *around) atURL(o *mcpserver.HTTPOptions) string {
	h := a.gateway.HTTPHandler(o)
	web := httptest.NewServer(h)
	a.t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(h.Shutdown(ctx), a.gateway.Close()); err != nil {
			a.t.Errorf("the gateway ended with %v", err)
		}
		web.Close()
	})
	return web.URL
}

// client returns a host over HTTP that speaks v.
func client(t *testing.T, url string, v mcp.Version, features ...mcpclient.Feature) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: url}, &mcpclient.Options{
		Versions: []mcp.Version{v}, Features: features, Telemetry: telemetry.Off(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// eventually waits until f returns true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); {
		if time.Now().After(end) {
			t.Fatalf("not true within 20 s: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func TestHTTPHostsShareGateway(t *testing.T) {
	a := begin(t, nil, func(name string, s *mcptest.Server) {
		addEcho(name, s)
		addThings(name, s)
		addWork(new(heard))(name, s)
	})
	url := a.atURL(nil)
	for _, v := range []mcp.Version{mcp.Version20250326, mcp.Version20250618, mcp.Version20260728} {
		h := new(heard)
		c := client(t, url, v, append(able(), h.features()...)...)
		if got := toolNames(t, c); len(got) != 18 {
			t.Errorf("%s: the host gets %d tools, want 18", v, len(got))
		}
		must(c.SetLogLevel(t.Context(), mcp.LevelInfo))
		for _, name := range memberNames {
			r, err := c.CallTool(t.Context(), name+"_sample", nil)
			must(err)
			if can := v != mcp.Version20260728 || name == "new"; r.IsError == can {
				t.Errorf("%s: %s_sample answers %s, want the host's answer: %v", v, name, textOf(r), can)
			}
			must(c.SubscribeResource(t.Context(), name+"://thing"))
		}
		for i, name := range memberNames {
			_, err := c.CallTool(t.Context(), name+"_work", nil)
			must(err)
			a.servers[i].ResourceUpdated(name + "://thing")
			eventually(t, "the host is notified of "+name, func() bool {
				h.mu.Lock()
				defer h.mu.Unlock()
				return slices.Contains(h.all, "updated "+name+"://thing") &&
					slices.Contains(h.all, "warning "+name+`/part {"n":1}`)
			})
			must(c.UnsubscribeResource(t.Context(), name+"://thing"))
		}
		must(c.Close())
	}
}

// If a host without a session lacks a capability that a call needs, the call fails with the error for a missing
// capability.
func TestMissingCapabilityIsReportedToHost(t *testing.T) {
	a := begin(t, nil, addWork(new(heard)))
	c := client(t, a.atURL(nil), mcp.Version20260728)
	toolNames(t, c)
	_, err := c.CallTool(t.Context(), "new_sample", nil)
	if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != mcp.CodeMissingClientCapability {
		t.Errorf("the call answers %v, want -32021", err)
	}
}

// posted sends one message of a session. It returns the answer and the id of the session.
func posted(t *testing.T, url, session, message string) (answer, id string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(message))
	must(err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	w, err := http.DefaultClient.Do(r)
	must(err)
	defer w.Body.Close()
	var b strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := w.Body.Read(buffer)
		b.Write(buffer[:n])
		if err != nil {
			return b.String(), w.Header.Get("Mcp-Session-Id")
		}
	}
}

func TestSessionContinuesInAnotherProcess(t *testing.T) {
	levels := new(heard)
	add := func(name string, s *mcptest.Server) {
		addEcho(name, s)
		addThings(name, s)
		must(s.Implement(leveled{levels, name}))
	}
	shared, events := store.NewMemorySessions(), store.NewMemoryEvents(0, 0)
	var urls []string
	for range 2 {
		a := begin(t, nil, add)
		urls = append(urls, a.atURL(&mcpserver.HTTPOptions{Sessions: shared, Events: events}))
	}
	_, id := posted(t, urls[0], "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":`+
		`"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	posted(t, urls[0], id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	posted(t, urls[0], id, `{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}`)
	posted(t, urls[0], id, `{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"mid://thing"}}`)
	eventually(t, "the servers of the first process know the level", func() bool { return levels.count("mid error") == 1 })
	answer, _ := posted(t, urls[1], id,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"mid_echo","arguments":{"x":1}}}`)
	if !strings.Contains(answer, `mid {\"x\":1}`) {
		t.Errorf("the other process answers %s", answer)
	}
	eventually(t, "the servers of the other process know the level", func() bool { return levels.count("mid error") == 2 })
	answer, _ = posted(t, urls[1], id,
		`{"jsonrpc":"2.0","id":5,"method":"resources/unsubscribe","params":{"uri":"mid://thing"}}`)
	if !strings.Contains(answer, `"result":{}`) {
		t.Errorf("the other process answers %s, want an answer without a watched resource", answer)
	}
}

// leveled records the log levels that a server receives.
type leveled struct {
	h    *heard
	name string
}

func (l leveled) SetLevel(_ context.Context, level mcp.LoggingLevel) error {
	l.h.note("%s %s", l.name, level)
	return nil
}

func (h *heard) count(what string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.all {
		if one == what {
			n++
		}
	}
	return n
}

func TestPolicyMatchesNamesOfGateway(t *testing.T) {
	a := begin(t, &mcpproxy.GatewayOptions{Policy: &mcpproxy.Policy{
		DenyTools: []string{"old_*"}, Timeouts: map[string]time.Duration{"*_wait": 10 * time.Millisecond},
		MaxConcurrent: 1, Redaction: mcpproxy.Redaction{Patterns: []string{"part|half|no mid|file:///home"}},
	}}, func(name string, s *mcptest.Server) {
		addEcho(name, s)
		addWork(new(heard))(name, s)
	})
	url := a.atURL(nil)
	h := new(heard)
	c := client(t, url, mcp.Version20260728, append(able(), h.features()...)...)
	if got := toolNames(t, c); len(got) != 12 || strings.Contains(strings.Join(got, " "), "old_") {
		t.Errorf("the host gets the tools %q, want those of two members", got)
	}
	for tool, want := range map[string]string{
		"old_echo": "the policy of the proxy does not allow it", "mid_wait": "exceeded the timeout of 10ms",
		"mid_refuse": "[redacted]",
	} {
		if _, err := c.CallTool(t.Context(), tool, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s answers %v, want %s", tool, err, want)
		}
	}
	r, err := c.CallTool(t.Context(), "new_sample", nil)
	if err != nil || textOf(r) != "said new|[redacted]" {
		t.Errorf("new_sample answers %+v, %v, want the host's answer with redactions", r, err)
	}
	said := new(heard)
	done := make(chan error)
	for range 3 {
		go func() {
			_, err := c.CallTool(t.Context(), "new_work", nil, mcpclient.WithProgress(func(p *mcp.ProgressParams) {
				said.note("%s", p.Message)
			}))
			done <- err
		}()
	}
	for range 3 {
		must(<-done)
	}
	if n := said.count("[redacted]"); n != 3 {
		t.Errorf("progress messages: %q, want them redacted", said.all)
	}
}

func TestBlockedHostDoesNotDelayOthers(t *testing.T) {
	shouted := make(chan struct{})
	a := begin(t, nil, func(_ string, s *mcptest.Server) {
		must(s.AddTool(&mcp.Tool{Name: "shout"},
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				for range 300 { // more than the buffers of a connection hold
					must(r.Log(ctx, mcp.LevelWarning, "", strings.Repeat("x", 64<<10)))
				}
				shouted <- struct{}{}
				return &mcp.CallToolResult{}, nil
			}))
	})
	url := a.atURL(nil)
	h := new(heard)
	c := client(t, url, mcp.Version20260728, mcpclient.HandleToolListChanged(func(context.Context) { h.note("changed") }))
	toolNames(t, c)
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"new_shout","_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/logLevel":"debug"}}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "new_shout",
	} {
		r.Header.Set(name, value)
	}
	unread, err := net.Dial("tcp", r.URL.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unread.Close() }()
	if err := r.Write(unread); err != nil {
		t.Fatal(err)
	}
	<-shouted
	before := h.count("changed")
	same := a.servers[slices.Index(memberNames, "new")]
	must(same.AddTool(&mcp.Tool{Name: "another"},
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		}))
	begun := time.Now()
	eventually(t, "another host is notified of the tools", func() bool { return h.count("changed") > before })
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("another host was notified of the tools after %v", took)
	}
}

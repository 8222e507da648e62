package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// host is a handler with methods for sessions. Its fields configure the methods.
type host struct {
	name   string
	init   func(context.Context, *mcpserver.Session) error
	leave  func(context.Context, *mcpserver.Session)
	accept func(mcp.ClientCapabilities) error

	mu  *sync.Mutex
	log *[]string
}

func newHost(name string) *host { return &host{name: name, mu: new(sync.Mutex), log: new([]string)} }

func (h *host) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*h.log = append(*h.log, h.name+": "+fmt.Sprintf(format, args...))
}

func (h *host) taken() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	log := *h.log
	*h.log = nil
	return log
}

func (h *host) Init(ctx context.Context, s *mcpserver.Session) error {
	h.note("init %s", s.Client().Name)
	if h.init != nil {
		return h.init(ctx, s)
	}
	return nil
}

func (h *host) HandleClientCapabilities(_ context.Context, s *mcpserver.Session, c mcp.ClientCapabilities) error {
	if h.accept != nil {
		return h.accept(c)
	}
	return nil
}

func (h *host) Terminate(ctx context.Context, s *mcpserver.Session, reason error) {
	h.note("terminate %s: %v", s.Client().Name, reason)
	if h.leave != nil {
		h.leave(ctx, s)
	}
}

// hosting returns a server with a tool and hosts.
func hosting(t *testing.T, o mcpserver.Options, tool mcpserver.ToolHandler, hosts ...*host) *mcpserver.Server {
	t.Helper()
	s := withTool(t, o, "tool", tool)
	for _, h := range hosts {
		if err := s.Implement(h); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func idle(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil }

func wantLog(t *testing.T, h *host, want ...string) {
	t.Helper()
	if got := h.taken(); !slices.Equal(got, want) {
		t.Errorf("the handler heard %q, want %q", got, want)
	}
}

func TestSessionIsInitializedAndTerminatedOnce(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		end    func(w *wire, cancel context.CancelCauseFunc)
		reason string
	}{
		"the client leaves": {func(w *wire, _ context.CancelCauseFunc) { close(w.in) }, "<nil>"},
		"the context ends":  {func(_ *wire, cancel context.CancelCauseFunc) { cancel(errors.New("enough")) }, "enough"},
		"the connection breaks": {func(w *wire, _ context.CancelCauseFunc) { w.in <- received{err: broken} },
			"receive: broken"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost("h")
				answered := false
				s := hosting(t, mcpserver.Options{DrainTimeout: time.Minute},
					func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						select {
						case <-ctx.Done():
						case <-time.After(time.Second):
						}
						answered = true
						return nil, nil
					}, h)
				h.leave = func(ctx context.Context, _ *mcpserver.Session) {
					if !answered {
						t.Error("Terminate was called while a request was being handled")
					}
					time.Sleep(2 * time.Second) // Serve waits until Terminate returns
					if ctx.Err() != nil {
						t.Error("the context of Terminate has ended, want that there is time")
					}
					h.note("clean")
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				w := opened(t, ctx, s)
				w.send(callOf(1, "tool", "{}"))
				wantLog(t, h, "h: init c")
				tt.end(w, cancel)
				<-w.result
				wantLog(t, h, "h: terminate c: "+tt.reason, "h: clean")
			})
		})
	}
}

func TestInitAndTerminateNeedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("h")
		var session *mcpserver.Session
		s := hosting(t, mcpserver.Options{}, func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult,
			error) {
			session = r.Session()
			return nil, nil
		}, h)
		w := serve(t, t.Context(), s)
		w.send(pingRequest, asked(1, "tools/call", bothMetas, `"name":"tool"`))
		if session != nil {
			t.Error("a modern request has a session, want none")
		}
		if session.ID() != "" || session.Value("x") != nil || session.Version() != "" || session.Principal() != "" {
			t.Error("no session says something, want zero values")
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
		web := serveWeb(t, s, &mcpserver.HTTPOptions{Stateless: true})
		web.post(initialize)
		web.end()
		wantLog(t, h)
	})
}

func TestInitMayRefuseASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newHost("first"), newHost("second")
		second.mu, second.log = first.mu, first.log
		var how func() error
		second.init = func(_ context.Context, s *mcpserver.Session) error {
			if s.Value("left") != nil {
				t.Error("a session that was refused has left a value")
			}
			s.SetValue("left", 1)
			return how()
		}
		w := serve(t, t.Context(), hosting(t, mcpserver.Options{}, idle, first, second))
		for name, tt := range map[string]struct {
			how  func() error
			want string
		}{
			"an error":         {func() error { return errors.New("secret") }, "internal error"},
			"an error for all": {func() error { return &mcp.Error{Code: -5, Message: "closed"} }, "closed"},
			"a panic":          {func() error { panic("secret") }, "internal error"},
		} {
			how = tt.how
			w.send(initialize)
			if m := w.reply(t); m.Error == nil || m.Error.Message != tt.want {
				t.Errorf("%s: initialize got %+v, want %q", name, m, tt.want)
			}
			w.send(callOf(1, "tool", "{}"))
			if m := w.reply(t); m.Error == nil {
				t.Errorf("%s: a call got %+v, want that there is no session", name, m)
			}
			wantLog(t, first, "first: init c", "second: init c", "first: terminate c: the session was rejected")
		}
		how = func() error { return nil }
		w.send(initialize)
		if m := w.reply(t); m.Error != nil {
			t.Errorf("another initialize got %+v, want a session", m)
		}
		w.send(initialize)
		if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInvalidRequest {
			t.Errorf("the next initialize got %+v, want that there is a session", m)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
		wantLog(t, first, "first: init c", "second: init c", "second: terminate c: <nil>", "first: terminate c: <nil>")
	})
}

func TestClientCapabilitiesMayBeRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("h")
		h.accept = func(c mcp.ClientCapabilities) error {
			if c.Sampling == nil {
				return &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "needs sampling"}
			}
			return nil
		}
		w := serve(t, t.Context(), hosting(t, mcpserver.Options{}, idle, h))
		w.send(initialize)
		if m := w.reply(t); m.Error == nil || m.Error.Message != "needs sampling" {
			t.Errorf("initialize got %+v, want what the handler says", m)
		}
		w.send(strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"sampling":{}}`, 1))
		if m := w.reply(t); m.Error != nil {
			t.Errorf("initialize got %+v, want a session", m)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
		wantLog(t, h, "h: init c", "h: terminate c: the session was rejected", "h: init c", "h: terminate c: <nil>")
	})
}

func TestSessionValuesAreAvailableInItsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		h := newHost("h")
		h.init = func(ctx context.Context, s *mcpserver.Session) error {
			if mcpserver.RequestFrom(ctx).Session() != s {
				t.Error("the request of Init has another session")
			}
			s.SetValue(key{}, 0)
			return nil
		}
		h.leave = func(_ context.Context, s *mcpserver.Session) { h.note("%v, %v", s.Value(key{}), s.Value("gone")) }
		s := hosting(t, mcpserver.Options{}, func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult,
			error) {
			r.Session().SetValue("gone", 1)
			r.Session().SetValue("gone", nil)
			n := r.Session().Update(key{}, func(old any) any { return old.(int) + 1 })
			return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(fmt.Sprint(r.Session().Version(), n))}}, nil
		}, h)
		for range 2 { // two sessions, each with its own values
			w := opened(t, t.Context(), s)
			for id := range 50 {
				w.in <- received{frame: []byte(callOf(id+1, "tool", "{}"))}
			}
			synctest.Wait()
			if out := w.taken(); len(out) != 50 || !strings.Contains(out[0], "2025-11-25") {
				t.Errorf("%d answers, the first %s, want 50 with the revision", len(out), out[0])
			}
			if err := w.finish(); err != nil {
				t.Error(err)
			}
			wantLog(t, h, "h: init c", "h: terminate c: <nil>", "h: 50, <nil>")
		}
	})
}

func TestTerminateTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, other := newHost("h"), newHost("other")
		free := make(chan struct{})
		h.leave = func(ctx context.Context, _ *mcpserver.Session) {
			<-ctx.Done()
			h.note("late")
			<-free
		}
		w := opened(t, t.Context(), hosting(t, mcpserver.Options{DrainTimeout: 5 * time.Second}, idle, other, h))
		start := time.Now()
		err := w.finish()
		if err == nil || !strings.Contains(err.Error(), "although their contexts have ended: 1") {
			t.Errorf("Serve returned %v, want that one handler runs on", err)
		}
		if took := time.Since(start); took != 6*time.Second {
			t.Errorf("Serve returned after %v, want 6 s", took)
		}
		wantLog(t, h, "h: init c", "h: terminate c: <nil>", "h: late")
		close(free)
		synctest.Wait()
		wantLog(t, other, "other: init c", "other: terminate c: <nil>")
	})
}

func TestFailedTerminateDoesNotPreventOthers(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("secret") }, "exit": runtime.Goexit} {
		synctest.Test(t, func(t *testing.T) {
			h, other := newHost("h"), newHost("other")
			h.leave = func(context.Context, *mcpserver.Session) { fail() }
			w := opened(t, t.Context(), hosting(t, mcpserver.Options{}, idle, other, h))
			if err := w.finish(); err != nil {
				t.Errorf("%s: Serve returned %v, want nil", name, err)
			}
			wantLog(t, other, "other: init c", "other: terminate c: <nil>")
		})
	}
}

func TestHTTPSessionTerminatesOnceWithReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("h")
		var ids []string
		h.leave = func(_ context.Context, s *mcpserver.Session) {
			time.Sleep(500 * time.Millisecond)
			h.note("clean")
			ids = append(ids, s.ID(), s.Principal())
		}
		s := hosting(t, mcpserver.Options{}, idle, h)
		handler := s.HTTPHandler(&mcpserver.HTTPOptions{
			Timeouts: mcpserver.HTTPTimeouts{Session: time.Minute}, Principal: func(*http.Request) string { return "alice" },
		})
		w := serveHandler(t, handler, handler)
		deleted := w.open("2025-11-25")
		if p := w.do("DELETE", "", "Mcp-Session-Id", deleted); p.status != http.StatusNoContent {
			t.Errorf("DELETE got %d, want 204", p.status)
		}
		time.Sleep(time.Second)
		wantLog(t, h, "h: init c", "h: terminate c: <nil>", "h: clean")
		w.open("2025-06-18")
		time.Sleep(2 * time.Minute)
		wantLog(t, h, "h: init c", "h: terminate c: the session has expired", "h: clean")
		sse := w.stream("GET", "")
		endpoint := string(sse.next().Data)
		go w.post(initializeAs("2024-11-05"), "http://localhost/mcp"+endpoint)
		if m := sse.message(); m.Error != nil {
			t.Errorf("initialize over HTTP+SSE got %+v, want a session", m)
		}
		sse.leave()
		time.Sleep(time.Second)
		wantLog(t, h, "h: init c", "h: terminate c: <nil>", "h: clean")
		w.open("2025-11-25")
		w.end()
		wantLog(t, h, "h: init c", "h: terminate c: the server is shutting down", "h: clean")
		if len(ids) != 8 || ids[0] != deleted || ids[1] != "alice" {
			t.Errorf("the sessions were %q, want their ids, the first %s, and who opened them", ids, deleted)
		}
	})
}

func TestRefusedHTTPSessionReleasesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, first := newHost("h"), newHost("first")
		first.mu, first.log = h.mu, h.log
		h.init = func(context.Context, *mcpserver.Session) error { return errors.New("no") }
		w := serveWeb(t, hosting(t, mcpserver.Options{}, idle, first, h),
			&mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 1}})
		for range 3 {
			if p := w.post(initialize); p.header.Get("Mcp-Session-Id") != "" || !strings.Contains(p.body, "-32603") {
				t.Errorf("initialize got the session %q with %s, want an error", p.header.Get("Mcp-Session-Id"), p.body)
			}
			synctest.Wait()
			wantLog(t, h, "first: init c", "h: init c", "first: terminate c: the session was rejected")
		}
	})
}

func TestSessionEndingDuringInitializeTerminatesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("h")
		h.init = func(context.Context, *mcpserver.Session) error {
			time.Sleep(time.Second)
			return nil
		}
		w := serveWeb(t, hosting(t, mcpserver.Options{}, idle, h), nil)
		sse := w.stream("GET", "")
		endpoint := string(sse.next().Data)
		go w.post(initializeAs("2024-11-05"), "http://localhost/mcp"+endpoint)
		synctest.Wait()
		sse.leave() // also ends the session
		time.Sleep(10 * time.Second)
		wantLog(t, h, "h: init c", "h: terminate c: the session was rejected")
	})
}

package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// apart runs two servers that share a store, in a synctest bubble.
func apart(t *testing.T, make func(t *testing.T, name string) *mcpserver.Server,
	test func(t *testing.T, a, b process)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		all := processes(t, mcpserver.HTTPOptions{}, make(t, "a"), make(t, "b"))
		test(t, all[0], all[1])
		all[0].end()
		all[1].end()
	})
}

// ask sends a request and returns its answer, which must arrive without delay.
func (p process) ask(session, request string) {
	p.t.Helper()
	if got := p.post(request, "Mcp-Session-Id", session); got.status != http.StatusOK ||
		strings.Contains(got.body, `"error"`) {
		p.t.Errorf("%s got %d with %s", request, got.status, got.body)
	}
}

func TestResponseIsRefusedWhileTargetProcessIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := processes(t, mcpserver.HTTPOptions{}, withTool(t, mcpserver.Options{}, "roots", rootsTool),
			withTool(t, mcpserver.Options{}, "roots", rootsTool))
		a, b := all[0], all[1]
		session := a.openAble("2025-11-25")
		s := a.stream("POST", callOf(1, "roots", "{}"), "Mcp-Session-Id", session)
		s.next()
		id, _ := s.message().ID.(string)
		asker, _, _ := strings.Cut(id, "-")
		if err := a.store.Sessions.Beat(t.Context(), asker, 0); err != nil { // as if the store had lost its data
			t.Fatal(err)
		}
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"roots":[{"uri":"file:///a"}]}}`, id)
		if p := b.post(answer, "Mcp-Session-Id", session); p.status != http.StatusServiceUnavailable {
			t.Errorf("the answer got %d with %s, want 503", p.status, p.body)
		}
		time.Sleep(5 * time.Second)
		if p := b.post(answer, "Mcp-Session-Id", session); p.status != http.StatusAccepted {
			t.Errorf("the answer got %d with %s, want 202", p.status, p.body)
		}
		if m := s.message(); m.ID != 1.0 || m.Result == nil {
			t.Errorf("got %+v, want the result", m)
		}
		s.over()
		a.end()
		b.end()
	})
}

func TestResponseReachesRequestingProcess(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-11-25"} {
		for _, batch := range []bool{false, version == "2025-03-26"} {
			apart(t, func(t *testing.T, _ string) *mcpserver.Server {
				return withTool(t, mcpserver.Options{}, "roots", rootsTool)
			}, func(t *testing.T, a, b process) {
				session := a.openAble(version)
				first := a.stream("POST", callOf(1, "roots", "{}"), "Mcp-Session-Id", session)
				second := b.stream("POST", callOf(2, "roots", "{}"), "Mcp-Session-Id", session)
				var ids []string
				for _, s := range []*events{first, second} {
					e := s.next()
					if version == "2025-11-25" { // in this revision, the first event is empty
						e = s.next()
					}
					m := decoded(t, string(e.Data))
					id, _ := m.ID.(string)
					if id == "" || slices.Contains(ids, id) {
						t.Errorf("the id is %v, want one that no other process gives out", m.ID)
					}
					ids = append(ids, id)
				}
				answer := func(id string, n int) string {
					text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"roots":[%s]}}`, id,
						strings.TrimSuffix(strings.Repeat(`{"uri":"file:///a"},`, n), ","))
					if batch {
						return "[" + text + "]"
					}
					return text
				}
				want := http.StatusServiceUnavailable
				if batch { // the server has handled the rest of the batch
					want = http.StatusAccepted
				}
				if p := b.post(answer("nobody-1", 1), "Mcp-Session-Id", session); p.status != want {
					t.Errorf("a response for an unknown process got %d with %s, want %d", p.status, p.body, want)
				}
				for _, body := range []string{answer(strings.Repeat("x", 100)+"-1", 1), answer("x", 1),
					answer(ids[0], 1)} {
					if p := b.post(body, "Mcp-Session-Id", session); p.status != http.StatusAccepted {
						t.Errorf("a response got %d with %s, want 202", p.status, p.body)
					}
				}
				if p := a.post(answer(ids[1], 2), "Mcp-Session-Id", session); p.status != http.StatusAccepted {
					t.Errorf("a response got %d with %s, want 202", p.status, p.body)
				}
				for i, s := range []*events{first, second} {
					if m := s.message(); m.ID != float64(i+1) || !strings.Contains(string(m.Result), fmt.Sprintf("%d roots", i+1)) {
						t.Errorf("got %+v, want the result", m)
					}
					s.over()
				}
			})
		}
	}
}

// onlooker is a handler that records watched resources and sessions.
type onlooker struct {
	toolbox
	shelf
	mu     sync.Mutex
	heard  []string
	refuse error
}

func (w *onlooker) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, what)
}

// took returns the records since the previous call.
func (w *onlooker) took() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.heard = nil }()
	return strings.Join(w.heard, " ")
}

func (w *onlooker) SubscribeResource(_ context.Context, uri string) error {
	w.note("+" + uri)
	return nil
}

func (w *onlooker) UnsubscribeResource(_ context.Context, uri string) error {
	w.note("-" + uri)
	return nil
}

func (w *onlooker) Init(_ context.Context, s *mcpserver.Session) error {
	w.note("init " + string(s.Version()))
	return w.refuse
}

func (w *onlooker) Terminate(_ context.Context, _ *mcpserver.Session, reason error) {
	w.note(fmt.Sprint("end ", reason))
}

func TestSubscribedResourceIsWatchedInAllProcesses(t *testing.T) {
	onlookers := map[string]*onlooker{"a": {}, "b": {}}
	subscribe := func(uri string) string { return requestOf(1, "resources/subscribe", fmt.Sprintf(`{"uri":%q}`, uri)) }
	unsubscribe := func(uri string) string { return requestOf(1, "resources/unsubscribe", fmt.Sprintf(`{"uri":%q}`, uri)) }
	heard := func(t *testing.T, when, a, b string) {
		t.Helper()
		if got := onlookers["a"].took(); got != a {
			t.Errorf("%s the handler in a heard %q, want %q", when, got, a)
		}
		if got := onlookers["b"].took(); got != b {
			t.Errorf("%s the handler in b heard %q, want %q", when, got, b)
		}
	}
	apart(t, func(t *testing.T, name string) *mcpserver.Server {
		s := bare(t, mcpserver.Options{})
		must(t, s.Implement(onlookers[name]))
		return s
	}, func(t *testing.T, a, b process) {
		session := a.open("2025-11-25")
		heard(t, "when it was opened", "init 2025-11-25", "")
		a.ask(session, subscribe("file:///a"))
		b.ask(session, subscribe("file:///b"))
		heard(t, "when it watched", "+file:///a +file:///b", "init 2025-11-25 +file:///a +file:///b")
		s := a.stream("GET", "", "Mcp-Session-Id", session)
		synctest.Wait()
		for _, p := range []process{a, b} {
			for _, uri := range []string{"file:///a", "file:///b", "file:///c"} {
				p.server.ResourceUpdated(uri)
				time.Sleep(time.Second)
			}
			for _, uri := range []string{"file:///a", "file:///b"} {
				if e := s.next(); !strings.Contains(string(e.Data), uri) {
					t.Errorf("got %s, want that %s was updated", e.Data, uri)
				}
			}
		}
		a.ask(session, unsubscribe("file:///b"))
		heard(t, "when it did not watch any more", "-file:///b", "-file:///b")
		a.server.ResourceUpdated("file:///b")
		b.server.ResourceUpdated("file:///a")
		if e := s.next(); !strings.Contains(string(e.Data), "file:///a") {
			t.Errorf("got %s, want that of what it still watches", e.Data)
		}
		b.do("DELETE", "", "Mcp-Session-Id", session)
		s.over()
		heard(t, "when it ended", "-file:///a end <nil>", "-file:///a end <nil>")
	})
}

func TestProcessMayRefuseSharedSession(t *testing.T) {
	onlookers := map[string]*onlooker{"a": {}, "b": {refuse: errors.New("no")}}
	apart(t, func(t *testing.T, name string) *mcpserver.Server {
		s := bare(t, mcpserver.Options{})
		must(t, s.Implement(onlookers[name]))
		return s
	}, func(t *testing.T, a, b process) {
		session := a.open("2025-11-25")
		for range 2 {
			if p := b.post(pingRequest, "Mcp-Session-Id", session); p.status != http.StatusServiceUnavailable {
				t.Errorf("the process got %d, want 503", p.status)
			}
		}
		a.ask(session, pingRequest)
	})
}

func TestLogMessagesOfAllProcessesReachTheStream(t *testing.T) {
	apart(t, func(t *testing.T, _ string) *mcpserver.Server {
		return withTool(t, mcpserver.Options{Logging: true}, "tool", logAll)
	}, func(t *testing.T, a, b process) {
		session := a.open("2025-11-25")
		must(t, b.server.Log(mcp.LevelWarning, "", "before anybody listens"))
		synctest.Wait()
		s := a.stream("GET", "", "Mcp-Session-Id", session)
		logged := func(text string) {
			t.Helper()
			if e := s.next(); !strings.Contains(string(e.Data), text) {
				t.Errorf("got %s, want %q", e.Data, text)
			}
		}
		logged("before anybody listens")
		b.ask(session, requestOf(1, "logging/setLevel", `{"level":"error"}`))
		synctest.Wait()
		for _, p := range []process{a, b} {
			must(t, p.server.Log(mcp.LevelWarning, "", "not wanted"))
			must(t, p.server.Log(mcp.LevelError, "", "wanted"))
			logged("wanted")
		}
		other := b.stream("GET", "", "Mcp-Session-Id", session)
		s.over()
		s = other
		synctest.Wait()
		must(t, a.server.Log(mcp.LevelError, "", "in a"))
		logged("in a")
		must(t, b.server.Log(mcp.LevelError, "", "in b"))
		logged("in b")
		other = a.stream("GET", "", "Mcp-Session-Id", session)
		s.over()
		s = other
		synctest.Wait()
		must(t, b.server.Log(mcp.LevelError, "", "once"))
		logged("once")
		s.leave()
		synctest.Wait()
	})
}

func TestElicitationCompletionIsSentByRequestingProcess(t *testing.T) {
	apart(t, func(t *testing.T, _ string) *mcpserver.Server {
		return withTool(t, mcpserver.Options{}, "tool",
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, mcpserver.URLElicitationRequired("sign in first",
					&mcp.ElicitParams{Message: "sign in", URL: "https://example.com/in", ElicitationID: "e1"})
			})
	}, func(t *testing.T, a, b process) {
		session := a.openAble("2025-11-25")
		s := b.stream("GET", "", "Mcp-Session-Id", session)
		a.post(callOf(1, "tool", "{}"), "Mcp-Session-Id", session)
		synctest.Wait()
		b.server.ElicitationComplete("e1")
		if m := s.message(); m.Method != mcp.NotificationElicitationComplete {
			t.Errorf("got %+v, want the client told", m)
		}
		s.leave()
		synctest.Wait()
	})
}

func TestConcurrentSubscriptionsOfOneSessionAreKept(t *testing.T) {
	onlookers := map[string]*onlooker{"a": {}, "b": {}}
	apart(t, func(t *testing.T, name string) *mcpserver.Server {
		s := bare(t, mcpserver.Options{})
		must(t, s.Implement(onlookers[name]))
		return s
	}, func(t *testing.T, a, b process) {
		session := a.open("2025-11-25")
		var all sync.WaitGroup
		for i := range 10 {
			for _, p := range []process{a, b} {
				all.Go(func() {
					p.ask(session, requestOf(i+1, "resources/subscribe", fmt.Sprintf(`{"uri":"file:///%p-%d"}`, p.server, i)))
				})
			}
		}
		all.Wait()
		synctest.Wait()
		s := a.stream("GET", "", "Mcp-Session-Id", session)
		synctest.Wait()
		for i := range 10 {
			for _, p := range []process{a, b} {
				uri := fmt.Sprintf("file:///%p-%d", p.server, i)
				a.server.ResourceUpdated(uri)
				if e := s.next(); !strings.Contains(string(e.Data), uri) {
					t.Errorf("got %s, want that %s was updated", e.Data, uri)
				}
			}
		}
		s.leave()
		synctest.Wait()
	})
}

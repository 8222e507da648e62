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
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// diary records the notifications that a server receives.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) wants(t *testing.T, want ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.lines, want) {
		t.Errorf("the server heard %q, want %q", d.lines, want)
	}
	d.lines = nil
}

// heard records a notification.
func (d *diary) heard(_ context.Context, n *mcpserver.Notification) {
	d.note("%s %s %q", n.Method, string(n.Params), n.Session.Version())
}

func noticed(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

const rootsChanged = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`

func TestNotificationsAreHandledInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		s := newServer(t, mcpserver.Options{})
		for _, method := range []string{mcp.NotificationInitialized, "x/one", "x/two"} {
			must(t, s.HandleNotification(method, d.heard))
		}
		must(t, s.HandleRootsChanged(func(_ context.Context, session *mcpserver.Session) {
			d.note("roots of %s", session.Client().Name)
		}))
		w := serve(t, t.Context(), s)
		w.send(initialize, initialized)
		w.taken()
		w.send(noticed("x/two", `{"n":1}`), noticed("x/one", `{"n":2}`), noticed("x/three", `{}`), rootsChanged,
			noticed("x/two", `{}`))
		d.wants(t, `notifications/initialized  "2025-11-25"`, `x/two {"n":1} "2025-11-25"`, `x/one {"n":2} "2025-11-25"`,
			"roots of c",
			`x/two {} "2025-11-25"`)
		w.expect(t)
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestANotificationHasOneHandler(t *testing.T) {
	s := newServer(t, mcpserver.Options{})
	h := new(diary).heard
	must(t, s.HandleNotification("x", h))
	must(t, s.HandleRootsChanged(func(context.Context, *mcpserver.Session) {}))
	wantError(t, s.HandleNotification("x", h), "handle notification x: the notification already has a handler")
	wantError(t, s.HandleNotification(mcp.NotificationRootsListChanged, h),
		"handle notification notifications/roots/list_changed: the notification already has a handler")
	wantError(t, s.HandleNotification(mcp.NotificationCancelled, h),
		"handle notification notifications/cancelled: the notification already has a handler")
	wantError(t, s.HandleNotification("", h), "handle notification: no method")
	wantError(t, s.HandleNotification("y", nil), "handle notification y: no handler")
	wantError(t, s.HandleRootsChanged(nil), "handle notification notifications/roots/list_changed: no handler")
}

func TestFailedNotificationHandlerIsReported(t *testing.T) {
	for name, fail := range map[string]func(){"panics": func() { panic("no") }, "ends its goroutine": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d diary
				rec := telemetrytest.Recorder(t)
				s := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
				must(t, s.HandleNotification("x", func(ctx context.Context, n *mcpserver.Notification) {
					if d.heard(ctx, n); strings.Contains(string(n.Params), "fail") {
						fail()
					}
				}))
				w := serve(t, t.Context(), s)
				w.send(initialize, initialized, noticed("x", `{"fail":1}`), noticed("x", `{}`))
				d.wants(t, `x {"fail":1} "2025-11-25"`, `x {} "2025-11-25"`)
				if n := rec.Value("mcp_server.notification.messages", "mcp.method.name", "x"); n != 2 {
					t.Errorf("%d notifications were counted, want 2", n)
				}
				if err := w.finish(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestQueuedNotificationBytesAreLimited(t *testing.T) {
	large := noticed(mcp.NotificationProgress, fmt.Sprintf(`{"x":%q}`, strings.Repeat("x", 400<<10)))
	for name, test := range map[string]struct {
		send   []string
		heard  int
		reason string
		method string
		lost   int64
	}{
		"bytes": {slices.Repeat([]string{large}, 5), 2, "queue_full", mcp.NotificationProgress, 3},
		"number": {slices.Repeat([]string{noticed(mcp.NotificationProgress, "{}")}, 300), 256, "queue_full",
			mcp.NotificationProgress, 44},
		"roots": {slices.Repeat([]string{rootsChanged}, 300), 1, "coalesced", mcp.NotificationRootsListChanged, 299},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d diary
				rec := telemetrytest.Recorder(t)
				s := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
				hold := make(chan struct{})
				must(t, s.HandleNotification("hold", func(context.Context, *mcpserver.Notification) { <-hold }))
				for _, method := range []string{mcp.NotificationProgress, mcp.NotificationRootsListChanged} {
					must(t, s.HandleNotification(method, func(context.Context, *mcpserver.Notification) { d.note("one") }))
				}
				w := serve(t, t.Context(), s)
				w.send(initialize, initialized, noticed("hold", `{}`))
				for _, frame := range test.send {
					w.send(frame)
				}
				close(hold)
				synctest.Wait()
				d.wants(t, slices.Repeat([]string{"one"}, test.heard)...)
				if n := rec.Value("mcp_server.notification.drops", "mcp.method.name", test.method, "mcp_server.drop.reason",
					test.reason); n != test.lost {
					t.Errorf("%v notifications were counted as %s, want %v", n, test.reason, test.lost)
				}
				if err := w.finish(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestServerRequestOutsideHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		s := newServer(t, mcpserver.Options{})
		must(t, s.HandleRootsChanged(func(ctx context.Context, session *mcpserver.Session) {
			var roots mcp.ListRootsResult
			err := session.AskAll(ctx, mcpserver.AskListRoots("", &roots))
			d.note("%d roots, %v", len(roots.Roots), err)
		}))
		w := openedAble(t, s, "2025-11-25")
		w.send(rootsChanged)
		w.expect(t, fmt.Sprintf(rootsAsked, 1))
		w.send(callOf(7, "echo", "{}")) // the server handles this call while it waits for the roots
		if m := w.reply(t); m.ID != 7.0 {
			t.Errorf("got %+v, want the answer to 7", m)
		}
		w.send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a"}]}}`)
		d.wants(t, "1 roots, <nil>")
		w.send(rootsChanged)
		w.expect(t, fmt.Sprintf(rootsAsked, 2))
		if err := w.finish(); err != nil {
			t.Error(err)
		}
		d.wants(t, "0 roots, roots/list: the connection has ended")
	})
}

func TestServerRequestOutsideHandlerErrors(t *testing.T) {
	ask := func(session *mcpserver.Session) error {
		return session.AskAll(t.Context(), mcpserver.AskListRoots("", nil))
	}
	wantError(t, ask(nil), "the client cannot be asked: there is no session")
	var nobody *mcpserver.Session
	nobody.Close(nil)
	synctest.Test(t, func(t *testing.T) {
		var sessions []*mcpserver.Session
		s := newServer(t, mcpserver.Options{})
		must(t, s.HandleRequest("x/session", func(_ context.Context, r *mcpserver.Request) (any, error) {
			sessions = append(sessions, r.Session())
			return nil, nil
		}))
		w := serve(t, t.Context(), s)
		w.send(initializeAble, `{"jsonrpc":"2.0","id":1,"method":"x/session"}`)
		wantError(t, ask(sessions[0]), "the client cannot be asked: it has not sent notifications/initialized yet")
		w.send(initialized)
		w.taken()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("too late"))
		defer cancel()
		wantError(t, sessions[0].AskAll(ctx, mcpserver.AskListRoots("", nil)), "too late")
		if out := w.taken(); len(out) != 2 || decoded(t, out[1]).Method != mcp.NotificationCancelled {
			t.Errorf("the server sent %q, want the request and its cancellation", out)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
		wantError(t, ask(sessions[0]), "roots/list: the client has disconnected")
	})
}

func TestServerClosesSession(t *testing.T) {
	for reason, want := range map[error]string{
		nil:                      "the server has closed the session",
		errors.New("time to go"): "time to go",
	} {
		synctest.Test(t, func(t *testing.T) {
			var d diary
			s := newServer(t, mcpserver.Options{})
			must(t, s.HandleRequest("x/close", func(ctx context.Context, r *mcpserver.Request) (any, error) {
				r.Session().Close(reason)
				<-ctx.Done()
				d.note("the handler ends")
				return nil, nil
			}))
			w := serve(t, t.Context(), s)
			w.send(initialize, initialized, `{"jsonrpc":"2.0","id":1,"method":"x/close"}`)
			wantError(t, <-w.result, want)
			d.wants(t, "the handler ends")
		})
	}
}

func TestServerAsksAndClosesHTTPSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var session *mcpserver.Session
		s := newServer(t, mcpserver.Options{})
		must(t, s.HandleNotification("x", func(_ context.Context, n *mcpserver.Notification) { session = n.Session }))
		w := serveWeb(t, s, &mcpserver.HTTPOptions{KeepAlive: -1})
		header := []string{"Mcp-Session-Id", w.openAble("2025-11-25")}
		if p := w.post(noticed("x", `{}`), header...); p.status != http.StatusAccepted {
			t.Fatalf("the notification got %d: %s", p.status, p.body)
		}
		synctest.Wait()
		wantError(t, session.AskAll(t.Context(), mcpserver.AskListRoots("", nil)),
			"the client cannot be asked: it has opened no stream for messages outside of requests")
		stream := w.stream("GET", "", header...)
		asked := make(chan error, 1)
		go func() { asked <- session.AskAll(t.Context(), mcpserver.AskListRoots("", nil)) }()
		if m := stream.message(); m.Method != mcp.MethodListRoots {
			t.Errorf("the client got %+v, want %s", m, mcp.MethodListRoots)
		}
		w.post(fmt.Sprintf(noRoots, 1), header...)
		if err := <-asked; err != nil {
			t.Error(err)
		}
		session.Close(nil)
		stream.over()
		if p := w.post(noticed("x", `{}`), header...); p.status != http.StatusNotFound {
			t.Errorf("then the client got %d: %s, want 404", p.status, p.body)
		}
		w.end()
	})
}

func TestStatelessNotificationIsHandledBeforeResponse(t *testing.T) {
	var d diary
	s := newServer(t, mcpserver.Options{})
	must(t, s.HandleNotification("x", func(_ context.Context,
		n *mcpserver.Notification) {
		d.note("%s %v", n.Params, n.Session == nil)
	}))
	w := serveWeb(t, s, nil)
	if p := w.post(noticed("x", `{"_meta":{`+bothMetas+`}}`), modernHeaders("x", "")...); p.status != http.StatusAccepted {
		t.Errorf("the notification got %d: %s, want 202", p.status, p.body)
	}
	d.wants(t, `{"_meta":{`+bothMetas+`}} true`)
}

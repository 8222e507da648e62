package mcpserver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// resumed opens the rest of a stream.
func (w *web) resumed(session, lastEventID string) *events {
	w.t.Helper()
	return w.stream("GET", "", "Mcp-Session-Id", session, "Last-Event-ID", lastEventID)
}

func TestClientResumesStreamClosedByHandler(t *testing.T) {
	for _, back := range []time.Duration{500 * time.Millisecond, 5 * time.Second} { // before or after the answer
		t.Run(back.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
				session := w.open("2025-11-25")
				s := w.stream("POST", callOf(7, "pause", "{}"), "Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-11-25")
				first := s.next()
				if last := s.next(); last.Retry != 500*time.Millisecond {
					t.Errorf("the last event is %+v, want the retry delay", last)
				}
				s.over()
				time.Sleep(back)
				s = w.resumed(session, first.ID)
				if m := s.message(); m.ID != 7.0 || m.Result == nil {
					t.Errorf("got %+v, want the answer", m)
				}
				s.over()
				w.end()
			})
		})
	}
}

func TestCloseStreamIsRefusedIfClientCannotResume(t *testing.T) {
	if err := mcpserver.RequestFrom(t.Context()).CloseStream(t.Context(), 0); !errors.Is(err, mcpserver.ErrNotResumable) {
		t.Errorf("without a request: %v, want %v", err, mcpserver.ErrNotResumable)
	}
	w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
	body, headers := askedCall(1, "pause", "{}")
	for name, p := range map[string]page{
		"modern":              w.post(body, headers...),
		"an earlier revision": w.post(callOf(1, "pause", "{}"), "Mcp-Session-Id", w.open("2025-06-18")),
	} {
		if p.status != 200 || !strings.Contains(p.body, mcpserver.ErrNotResumable.Error()) {
			t.Errorf("%s: got %d with %s, want an error for the handler", name, p.status, p.body)
		}
	}
}

func TestDisconnectedLegacyClientResumesWithoutLoss(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, gate, cause := gated(t, mcpserver.Options{})
				w := serveWeb(t, server, nil)
				session := w.open(version)
				s := w.stream("POST", gatedCall, "Mcp-Session-Id", session)
				last := s.next()
				if version == "2025-11-25" {
					last = s.next()
				}
				s.leave()
				synctest.Wait()
				close(gate)
				synctest.Wait()
				if len(cause) > 0 {
					t.Fatalf("the handler's context ended with %v, want it to go on", <-cause)
				}
				s = w.resumed(session, last.ID)
				if m := s.message(); m.Method != mcp.NotificationProgress {
					t.Errorf("got %+v, want the missed message", m)
				}
				if m := s.message(); m.ID != 5.0 || m.Result == nil {
					t.Errorf("got %+v, want the answer", m)
				}
				s.over()
				w.end()
			})
		})
	}
}

func TestResumedStreamContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, gate, _ := gated(t, mcpserver.Options{})
		w := serveWeb(t, server, nil)
		session := w.open("2025-11-25")
		s := w.stream("POST", gatedCall, "Mcp-Session-Id", session)
		first := s.next()
		s.leave()
		synctest.Wait()
		s = w.resumed(session, first.ID)
		if m := s.message(); m.Method != mcp.NotificationProgress {
			t.Errorf("got %+v, want the earlier message", m)
		}
		second := w.resumed(session, first.ID)
		if m := second.message(); m.Method != mcp.NotificationProgress {
			t.Errorf("got %+v, want the earlier message again", m)
		}
		s.over() // another stream has taken over
		close(gate)
		if m := second.message(); m.Method != mcp.NotificationProgress {
			t.Errorf("got %+v, want the new message", m)
		}
		if m := second.message(); m.ID != 5.0 {
			t.Errorf("got %+v, want the answer", m)
		}
		second.over()
		w.end()
	})
}

func TestResumptionFailsIfEventsAreMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newWebServer(t, mcpserver.Options{}), &mcpserver.HTTPOptions{Events: store.NewMemoryEvents(2, 0)})
		session := w.open("2025-06-18")
		s := w.stream("POST", legacySteps(1), "Mcp-Session-Id", session)
		first := s.next()
		for range 3 {
			s.next()
		}
		s.over()
		p := w.do("GET", "", "Mcp-Session-Id", session, "Last-Event-ID", first.ID)
		if p.status != 400 || !strings.Contains(p.body, "no longer stored") {
			t.Errorf("got %d with %s, want an error about the gap", p.status, p.body)
		}
		w.end()
	})
}

// The stream for messages outside of requests starts with an event id, like all streams. So a client can resume the
// stream even if it loses the stream before the first message.
func TestSessionStreamBeginsWithEventID(t *testing.T) {
	for _, test := range []struct {
		version string
		o       mcpserver.HTTPOptions
		primed  bool
	}{
		{"2025-11-25", mcpserver.HTTPOptions{}, true},
		{"2025-11-25", mcpserver.HTTPOptions{NotResumable: true}, false},
		{"2025-06-18", mcpserver.HTTPOptions{}, false},
		{"2025-03-26", mcpserver.HTTPOptions{}, false},
	} {
		check := func(t *testing.T, a, b process) {
			session := a.open(test.version)
			for range 2 { // first without an earlier event, then with one
				s := a.stream("GET", "", "Mcp-Session-Id", session)
				synctest.Wait()
				a.change()
				e := first(t, s)
				if test.primed {
					if e.ID == "" || len(e.Data) > 0 || e.Retry != time.Second {
						t.Fatalf("the stream begins with %+v, want an empty event with an id and a time to wait", e)
					}
					s.leave()
					synctest.Wait()
					s = b.resumed(session, e.ID)
					e = first(t, s)
				}
				if m := decoded(t, string(e.Data)); m.Method != mcp.NotificationToolListChanged {
					t.Errorf("got %+v, want the change that the client may have missed", m)
				}
				s.leave()
				synctest.Wait()
			}
		}
		t.Run(fmt.Sprintf("%s, not resumable: %v", test.version, test.o.NotResumable), func(t *testing.T) {
			t.Run("one process", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newWebServer(t, mcpserver.Options{})
					a := process{web: serveWeb(t, server, &test.o), server: server}
					check(t, a, a)
					a.end()
				})
			})
			t.Run("two processes", func(t *testing.T) {
				isolated(t, test.o, check)
			})
		})
	}
}

// first returns the first event of a stream, of any kind.
func first(t *testing.T, e *events) sse.Event {
	t.Helper()
	event, err := e.reader.Next()
	if err != nil {
		t.Fatalf("the stream ended with %v, want an event", err)
	}
	return event
}

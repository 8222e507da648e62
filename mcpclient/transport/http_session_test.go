package transport_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// legacyServer is a server with sessions that answers every request and logs the requests.
type legacyServer struct {
	mu   sync.Mutex
	log  []string // method, message, session id
	lost bool     // the server has forgotten its sessions
	n    int      // number of sessions

	listen func(w http.ResponseWriter, r *http.Request) // nil: 405
}

func (s *legacyServer) note(words ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, strings.TrimSpace(strings.Join(words, " ")))
}

func (s *legacyServer) notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

func (s *legacyServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = true
}

func (s *legacyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, id := readSent(r), r.Header.Get("Mcp-Session-Id")
	s.note(r.Method, m.Method, id)
	if m.Method == "initialize" {
		s.mu.Lock()
		s.n++
		s.lost = false
		w.Header().Set("Mcp-Session-Id", "session-"+string(rune('0'+s.n)))
		s.mu.Unlock()
		answerJSON(w, 200, result(m.ID))
		return
	}
	s.mu.Lock()
	lost, current := s.lost, "session-"+string(rune('0'+s.n))
	s.mu.Unlock()
	switch {
	case lost || id != current:
		answerJSON(w, 404, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
	case r.Method == http.MethodGet && s.listen != nil:
		s.listen(w, r)
	case r.Method != http.MethodPost:
		w.WriteHeader(405)
	case m.ID == 0:
		w.WriteHeader(202)
	case m.Method == "unknown":
		answerJSON(w, 404, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"no"}}`, m.ID))
	default:
		answerJSON(w, 200, result(m.ID))
	}
}

func TestHTTPSessionBeginsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(legacyServer)
		b := newBubble(t, s.ServeHTTP)
		conn := dialHTTP(t, b.transport(), transport.Config{})
		if id := conn.Info().SessionID; id != "" {
			t.Errorf("before initialize: want no session, got %q", id)
		}
		startSession(t, conn)
		synctest.Wait()
		send(t, conn, call(2))
		receiveData(t, conn, result(2), 2)
		if info := conn.Info(); info.SessionID != "session-1" || info.HTTPVersion != "1.1" {
			t.Errorf("want session-1 over HTTP 1.1, got %+v", info)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"POST initialize", "POST notifications/initialized session-1", "GET  session-1", "POST tools/call session-1",
			"DELETE  session-1",
		}
		if got := s.notes(); !slices.Equal(got, want) {
			t.Errorf("want the server to see\n%q, got\n%q", want, got)
		}
	})
}

func TestHTTP404ReportsSessionGoneOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(legacyServer)
		b := newBubble(t, s.ServeHTTP)
		conn := dialHTTP(t, b.transport(), transport.Config{})
		startSession(t, conn)
		m := call(2)
		m.Method = "unknown"
		m.Data = []byte(`{"jsonrpc":"2.0","id":2,"method":"unknown"}`)
		send(t, conn, m)
		receiveData(t, conn, `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`, 2)

		s.forget()
		send(t, conn, call(3))
		send(t, conn, call(4))
		synctest.Wait() // both requests have received their 404
		receiveGone(t, conn)
		// The 404 of the other request does not concern the next session.
		send(t, conn, initialize(5))
		receiveData(t, conn, result(5), 5)
		send(t, conn, initialized())
		send(t, conn, call(6))
		receiveData(t, conn, result(6), 6)
		if id := conn.Info().SessionID; id != "session-2" {
			t.Errorf("want the next session, got %q", id)
		}
		receiveNothing(t, conn)

		s.forget()
		send(t, conn, notification("notifications/roots/list_changed"))
		if e := receiveError(t, conn, 0); e.Reason != transport.ReasonSessionGone {
			t.Errorf("404 to a notification: want the session gone, got %v", e)
		}
	})
}

// A 401 without a challenge and body ends a session in which the server has answered a request. A second such 401, at
// the start of the next session, does not end that session.
func TestHTTPEmpty401AfterSuccessEndsOneSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, refuses := new(legacyServer), false
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			if refuses && r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") != "" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			s.ServeHTTP(w, r)
		})
		h := b.transport()
		h.NoListening = true
		conn := dialHTTP(t, h, transport.Config{})
		startSession(t, conn)
		send(t, conn, call(2))
		receiveData(t, conn, result(2), 2)
		refuses = true
		send(t, conn, call(3))
		if e := receiveError(t, conn, 3); e.Reason != transport.ReasonSessionGone || !e.Unsent {
			t.Errorf("want the session gone and the request unsent, got %v", e)
		}
		send(t, conn, initialize(4))
		receiveData(t, conn, result(4), 4)
		send(t, conn, call(5))
		if e := receiveError(t, conn, 5); e.Reason != transport.ReasonUnauthorized {
			t.Errorf("in the next session: want the request not authorized, got %v", e)
		}
	})
}

// receiveGone fails the test unless the next frame reports that the server no longer knows the session of a request.
func receiveGone(t *testing.T, conn transport.Conn) {
	t.Helper()
	f := receive(t, conn)
	if f.Err == nil || f.Err.Reason != transport.ReasonSessionGone || !f.Err.Unsent || f.Err.Status != 404 {
		t.Fatalf("want the session gone and the request unsent, got %s %v", f.Data, f.Err)
	}
}

// A new session drops everything that belongs to the previous one, including its streams.
func TestHTTPInitializeDropsPreviousSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ended := new(legacyServer), make(chan string, 10)
		s.listen = func(w http.ResponseWriter, r *http.Request) {
			answerEvents(w, ": open\n\n")
			<-r.Context().Done()
			ended <- r.Header.Get("Mcp-Session-Id")
		}
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Header.Get("Accept"), "application/json") && r.Header.Get("Mcp-Protocol-Version") == "slow" {
				readSent(r)
				<-r.Context().Done()
				ended <- "call"
				return
			}
			s.ServeHTTP(w, r)
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		startSession(t, conn)
		slow := call(2)
		slow.ProtocolVersion = "slow"
		send(t, conn, slow)
		synctest.Wait()
		send(t, conn, initialize(3))
		receiveData(t, conn, result(3), 3)
		got := []string{<-ended, <-ended}
		slices.Sort(got)
		if want := []string{"call", "session-1"}; !slices.Equal(got, want) {
			t.Errorf("want the server to see %q end, got %q", want, got)
		}
		receiveNothing(t, conn)
	})
}

func TestHTTPSessionIDMustBeVisibleASCII(t *testing.T) {
	for _, id := range []string{"a b", "é", strings.Repeat("x", 5000), "\x7f"} {
		url := serve(t, raw("HTTP/1.1 200 OK\r\n"+jsonType+"Mcp-Session-Id: "+id+"\r\n\r\n"+result(1)))
		conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
		send(t, conn, initialize(1))
		if f := receive(t, conn); f.Err == nil ||
			(f.Err.Reason != transport.ReasonMalformed && f.Err.Reason != transport.ReasonLost) {
			t.Errorf("session id %.10q: want the answer malformed, got %s and %v", id, f.Data, f.Err)
		}
		if got := conn.Info().SessionID; got != "" {
			t.Errorf("session id %.10q: want none, got %q", id, got)
		}
	}
}

// No message overtakes notifications/initialized, unless its answer takes too long.
func TestHTTPMessagesDoNotOvertakeInitialized(t *testing.T) {
	for _, c := range []struct{ answer, leaves time.Duration }{{time.Second, time.Second}, {time.Hour, 2 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			start, arrived := time.Now(), make(chan time.Duration, 1)
			b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
				switch m := readSent(r); m.Method {
				case "notifications/initialized":
					select {
					case <-time.After(c.answer):
					case <-r.Context().Done():
					}
					w.WriteHeader(202)
				case "tools/call":
					arrived <- time.Since(start)
					answerJSON(w, 200, result(m.ID))
				default:
					answerJSON(w, 200, result(m.ID))
				}
			})
			h := b.transport()
			h.NoListening = true
			conn := dialHTTP(t, h, transport.Config{})
			startSession(t, conn)
			send(t, conn, call(2))
			receiveData(t, conn, result(2), 2)
			if took := <-arrived; took != c.leaves {
				t.Errorf("initialized answered after %v: want the next message to leave after %v, got %v", c.answer, c.leaves, took)
			}
		})
	}
}

// A server may send a request at once. The request is lost if no stream is open.
func TestHTTPMessagesWaitForTheListeningStream(t *testing.T) {
	for _, c := range []struct{ opens, leaves time.Duration }{{200 * time.Millisecond, 200 * time.Millisecond},
		{time.Hour, 500 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			start, s := time.Now(), new(legacyServer)
			s.listen = func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-time.After(c.opens):
					events("")(w, r)
				case <-r.Context().Done():
				}
			}
			conn := dialHTTP(t, newBubble(t, s.ServeHTTP).transport(), transport.Config{})
			startSession(t, conn)
			send(t, conn, call(2))
			receiveData(t, conn, result(2), 2)
			if took := time.Since(start); took != c.leaves {
				t.Errorf("stream opens after %v: want the next message to leave after %v, got %v", c.opens, c.leaves, took)
			}
		})
	}
}

// A probe that the server answers slowly outlives initialize, because it belongs to no session.
func TestHTTPInitializeDoesNotEndTheProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			m := readSent(r)
			if m.Method == "server/discover" {
				time.Sleep(time.Minute)
			}
			answerJSON(w, 200, result(m.ID))
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		probe := modernCall(1)
		probe.Method, probe.Data = "server/discover", []byte(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`)
		send(t, conn, probe)
		send(t, conn, initialize(2))
		receiveData(t, conn, result(2), 2)
		receiveNothing(t, conn)
		time.Sleep(time.Minute)
		receiveData(t, conn, result(1), 1)
	})
}

// A notification that is never answered does not stay in flight forever.
func TestHTTPNotificationsTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			readSent(r)
			<-r.Context().Done()
		})
		h := b.transport()
		h.MaxInFlight = 1
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, notification("a"))
		if err := conn.Send(t.Context(), notification("b")); err != transport.ErrBusy {
			t.Errorf("want %v, got %v", transport.ErrBusy, err)
		}
		time.Sleep(time.Minute + time.Second)
		send(t, conn, notification("c"))
	})
}

func TestHTTPLegacyCancelSendsNotificationFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, read := make(chan string, 3), make(chan struct{})
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			if m := readSent(r); m.ID == 0 {
				log <- m.Method
				<-read
				w.WriteHeader(202)
				return
			}
			answerEvents(w, ":\n\n")
			<-r.Context().Done()
			log <- "end"
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		send(t, conn, call(1))
		synctest.Wait()
		notice := notification("notifications/cancelled")
		conn.Cancel(1, notice)
		clear(notice.Data)
		conn.Cancel(1, notification("again"))
		got := []string{<-log, <-log}
		slices.Sort(got)
		if want := []string{"again", "notifications/cancelled"}; !slices.Equal(got, want) {
			t.Errorf("while the server reads the notices: want %q, got %q", want, got)
		}
		close(read)
		if got := <-log; got != "end" {
			t.Errorf("want the stream to end, got %q", got)
		}
		receiveNothing(t, conn)
	})
}

func TestHTTPModernCancelOnlyClosesStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := make(chan string, 10)
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			log <- readSent(r).Method
			answerEvents(w, ":\n\n")
			<-r.Context().Done()
			log <- "end"
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		send(t, conn, modernCall(1))
		synctest.Wait()
		notice := notification("notifications/cancelled")
		notice.ProtocolVersion = "2026-07-28"
		conn.Cancel(1, notice)
		conn.Cancel(1, notice)
		conn.Cancel(2, notice)
		conn.Cancel(2, transport.Message{})
		synctest.Wait()
		if got := []string{<-log, <-log}; !slices.Equal(got, []string{"tools/call", "end"}) || len(log) > 0 {
			t.Errorf("want the stream to end and no notice, got %s and %d more", got, len(log))
		}
	})
}

// A server that has not received notifications/initialized sends no requests or notifications during the session.
func TestHTTPInitializedNotificationIsRetriedUntilAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		fails  int // failures, alternately a bad gateway and a cut connection
		status int // status of the server after the failures
		posts  int // expected number of POSTs
	}{"at once": {0, 202, 1}, "the fourth time": {3, 202, 4}, "never": {1000, 202, 17}, "refused": {0, 400, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, posts := new(legacyServer), 0
				s.listen = func(w http.ResponseWriter, r *http.Request) {
					answerEvents(w, "data: "+result(9)+"\n\n")
					<-r.Context().Done()
				}
				b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					if bytes.Contains(body, []byte("notifications/initialized")) {
						switch posts++; {
						case posts <= c.fails && posts%2 == 0:
							panic(http.ErrAbortHandler)
						case posts <= c.fails:
							w.WriteHeader(502)
							return
						}
						w.WriteHeader(c.status)
						return
					}
					r.Body = io.NopCloser(bytes.NewReader(body))
					s.ServeHTTP(w, r)
				})
				var gaps []string
				cfg := transport.Config{Missed: func(cause string) { gaps = append(gaps, cause) }}
				conn := dialHTTP(t, b.transport(), cfg)
				startSession(t, conn)
				time.Sleep(2 * time.Minute)
				receiveData(t, conn, result(9), 0)
				if posts != c.posts || slices.Contains(gaps, "stream") != (c.fails > 0 || c.status != 202) {
					t.Errorf("the notification was sent %d times, want %d; gaps: %q", posts, c.posts, gaps)
				}
				if err := conn.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A request that waits for notifications/initialized is not sent if it is cancelled.
func TestHTTPRequestCancelledWhileWaitingIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(legacyServer)
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") != "" {
				time.Sleep(time.Second)
			}
			s.ServeHTTP(w, r)
		})
		h := b.transport()
		h.NoListening = true
		conn := dialHTTP(t, h, transport.Config{})
		startSession(t, conn)
		send(t, conn, call(2))
		conn.Cancel(2, notification("notifications/cancelled"))
		time.Sleep(10 * time.Second)
		if got := s.notes(); len(got) != 2 {
			t.Errorf("want neither the request nor the notice to leave, got %q", got)
		}
	})
}

func TestHTTPSendAfterCloseIsErrClosed(t *testing.T) {
	conn := dialHTTP(t, &transport.HTTP{URL: "http://127.0.0.1:1"}, transport.Config{})
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := conn.Send(t.Context(), call(1)); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("send after close: want an error that is ErrClosed, got %v", err)
	}
}

package transport_test

import (
	"errors"
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

// oldServer speaks HTTP+SSE: clients post messages to /messages, and the answers are events of the stream.
type oldServer struct {
	endpoint string // "" means /messages?session=1
	accepted int    // status for messages; 0 means 202
	opens    bool   // whether a POST is answered with a stream, like a GET
	body     string // body of the answer to a posted message

	mu  sync.Mutex
	log []string
	out chan string // events for the stream
}

func newOldServer() *oldServer { return &oldServer{out: make(chan string, 100)} }

func (s *oldServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m := readSent(r)
	s.mu.Lock()
	s.log = append(s.log, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+m.Method))
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodGet || s.opens && r.URL.Path != "/messages":
		endpoint := s.endpoint
		if endpoint == "" {
			endpoint = "/messages?session=1"
		}
		answerEvents(w, ": hello\n\nevent: endpoint\ndata: "+endpoint+"\n\n")
		if r.Method != http.MethodGet { // a stream that answers a POST has no further events
			<-r.Context().Done()
			return
		}
		for {
			select {
			case e, ok := <-s.out:
				if !ok {
					return
				}
				writeFlushed(w, e)
			case <-r.Context().Done():
				return
			}
		}
	case r.URL.Path != "/messages":
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		if m.ID != 0 && s.accepted == 0 {
			s.out <- "event: message\n" + event(result(m.ID))
		}
		if s.body != "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(max(s.accepted, 202))
		_, _ = io.WriteString(w, s.body)
	}
}

func (s *oldServer) notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

func TestHTTPFallsBackToSSE(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOldServer()
		b := newBubble(t, s.ServeHTTP)
		h := b.transport()
		var kinds []string
		cfg := transport.Config{Stream: func(kind string) func(error) { kinds = append(kinds, kind); return nil }}
		for dial := range 2 { // the second dial knows the transport
			conn := dialHTTP(t, h, cfg)
			send(t, conn, initialize(1))
			receiveData(t, conn, result(1), 0)
			send(t, conn, initialized())
			send(t, conn, call(2))
			receiveData(t, conn, result(2), 0)
			s.out <- event(note)
			receiveData(t, conn, note, 0)
			conn.Cancel(2, notification("notifications/cancelled"))
			synctest.Wait()
			if err := conn.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			want := []string{
				"POST /mcp initialize", "GET /mcp", "POST /messages?session=1 initialize",
				"POST /messages?session=1 notifications/initialized",
				"POST /messages?session=1 tools/call", "POST /messages?session=1 notifications/cancelled",
			}
			if got := s.notes()[dial*len(want):]; !slices.Equal(got, want[dial:]) {
				t.Errorf("dial %d: want the server to see\n%q, got\n%q", dial, want[dial:], got)
			}
		}
		if !slices.Equal(kinds, []string{"sse", "sse"}) {
			t.Errorf("want two streams of kind sse, got %q", kinds)
		}
	})
}

// Over HTTP+SSE too, the client reports a gap if the server accepted notifications/initialized only after a failure.
func TestHTTPLateInitializedOverSSECausesGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, posts := newOldServer(), 0
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			if posts++; posts == 4 { // the first three are POST, GET and POST
				w.WriteHeader(502)
				return
			}
			s.ServeHTTP(w, r)
		})
		var gaps []string
		conn := dialHTTP(t, b.transport(), transport.Config{Missed: func(cause string) { gaps = append(gaps, cause) }})
		send(t, conn, initialize(1))
		receiveData(t, conn, result(1), 0)
		send(t, conn, initialized())
		send(t, conn, call(2))
		receiveData(t, conn, result(2), 0)
		if err := conn.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(gaps, []string{"stream"}) {
			t.Errorf("got gaps %q, want one", gaps)
		}
	})
}

// Some servers open their stream for any HTTP method.
func TestHTTPFallsBackToSSEServerThatAnswersWithStream(t *testing.T) {
	for _, method := range []string{"initialize", "server/discover"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newOldServer()
				s.opens = true
				b := newBubble(t, s.ServeHTTP)
				conn := dialHTTP(t, b.transport(), transport.Config{})
				first := initialize(1)
				first.Method, first.Data = method, []byte(strings.Replace(string(first.Data), "initialize", method, 1))
				begun := time.Now()
				send(t, conn, first)
				receiveData(t, conn, result(1), 0)
				send(t, conn, call(2))
				receiveData(t, conn, result(2), 0)
				if took := time.Since(begun); took > time.Second {
					t.Errorf("it took %v", took)
				}
				want := []string{"POST /mcp " + method, "GET /mcp", "POST /messages?session=1 " + method,
					"POST /messages?session=1 tools/call"}
				if got := s.notes(); !slices.Equal(got, want) {
					t.Errorf("the server saw %q, want %q", got, want)
				}
			})
		})
	}
}

// In a session of Streamable HTTP, an event named endpoint has no meaning.
func TestHTTPEndpointEventAfterTheFirstAnswerIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			if m := readSent(r); m.ID != 0 {
				answerEvents(w, "event: endpoint\ndata: /messages\n\n"+event(result(m.ID)))
			}
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		send(t, conn, call(1))
		receiveData(t, conn, result(1), 1)
	})
}

func TestHTTPModeSSEUsesOneStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOldServer()
		h := newBubble(t, s.ServeHTTP).transport()
		h.Mode = transport.ModeSSE
		conn := dialHTTP(t, h, transport.Config{})
		for id := range int64(10) {
			send(t, conn, call(id+1))
		}
		var got []string
		for range 10 {
			got = append(got, string(receive(t, conn).Data))
		}
		for id := range int64(10) {
			if !slices.Contains(got, result(id+1)) {
				t.Errorf("want the answer to %d, got %q", id+1, got)
			}
		}
		if log := s.notes(); log[0] != "GET /mcp" || len(log) != 11 {
			t.Errorf("want one stream and ten messages, got %q", log)
		}
	})
}

func TestHTTPModeStreamableHasNoFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOldServer()
		h := newBubble(t, s.ServeHTTP).transport()
		h.Mode = transport.ModeStreamable
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, initialize(1))
		if e := receiveError(t, conn, 1); e.Reason != transport.ReasonStatus || e.Status != 405 {
			t.Errorf("want HTTP 405 reported, got %v", e)
		}
		if log := s.notes(); len(log) != 1 {
			t.Errorf("want nothing else tried, got %q", log)
		}
	})
}

// If the server does not speak HTTP+SSE, the request gets its first answer, as without the fallback.
func TestHTTPFailedFallbackReportsTheFirstAnswer(t *testing.T) {
	modern := `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`
	for _, c := range []struct {
		name string
		post http.HandlerFunc
		get  http.HandlerFunc // nil if the client must not send a GET
		want string           // the delivered answer; "" for an error with the status of the answer
		took time.Duration
	}{
		{"GET is not allowed", answer(400, "no"), answer(405, ""), "", 0},
		{"GET answers with JSON", answer(404, ""), answer(200, "{}", "Content-Type", "application/json"), "", 0},
		{"the stream has no event", answer(405, ""), events(":\n\n"), "", 3 * time.Second},
		{"the stream has another event", answer(405, ""), events(event(note)), "", 3 * time.Second},
		{"the stream ends", answer(405, ""), closing(""), "", 0},
		{"GET does not answer", answer(405, ""), func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "",
			3 * time.Second},
		{"an error in JSON-RPC", answer(400, errorOf(1), "Content-Type", "application/json"), answer(405, ""), errorOf(1), 0},
		{"a modern server", answer(400, modern, "Content-Type", "application/json"), nil, modern, 0},
		{"500", answer(500, ""), nil, "", 0},
		{"401", answer(401, ""), nil, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
					switch {
					case r.Method == http.MethodPost:
						readSent(r)
						c.post(w, r)
					case c.get != nil:
						c.get(w, r)
					default:
						t.Error("want no attempt with GET, got one")
					}
				})
				start := time.Now()
				conn := dialHTTP(t, b.transport(), transport.Config{})
				send(t, conn, initialize(1))
				if c.want != "" {
					receiveData(t, conn, c.want, 1)
				} else {
					receiveError(t, conn, 1)
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("want it to take %v, got %v", c.took, took)
				}
				receiveNothing(t, conn)
			})
		})
	}
}

func TestHTTPEndpointOfAnotherOriginIsRefused(t *testing.T) {
	for _, endpoint := range []string{
		"http://evil.test/messages", "https://server.test/messages", "http://server.test:8080/messages", "//evil.test/",
		"javascript:alert(1)", "http://[",
	} {
		for _, mode := range []transport.HTTPMode{transport.ModeAuto, transport.ModeSSE} {
			synctest.Test(t, func(t *testing.T) {
				s := newOldServer()
				s.endpoint = endpoint
				h := newBubble(t, s.ServeHTTP).transport()
				h.Mode = mode
				conn := dialHTTP(t, h, transport.Config{})
				send(t, conn, initialize(1))
				if e := receiveError(t, conn, 1); e.Reason != transport.ReasonMalformed || !strings.Contains(e.Error(), "origin") {
					t.Errorf("endpoint %s: want the endpoint refused because of its origin, got %v", endpoint, e)
				}
			})
		}
	}
	for _, endpoint := range []string{"http://SERVER.test:80/messages", "messages", "?x", "//server.test/messages"} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldServer()
			s.endpoint = endpoint
			h := newBubble(t, s.ServeHTTP).transport()
			h.Mode = transport.ModeSSE
			conn := dialHTTP(t, h, transport.Config{})
			send(t, conn, initialize(1))
			synctest.Wait()
			if log := s.notes(); len(log) != 2 {
				t.Errorf("endpoint %s: want the message posted there, got %q", endpoint, log)
			}
		})
	}
}

func TestHTTPSSEReportsRefusedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOldServer()
		s.accepted, s.body = 400, "not now"
		h := newBubble(t, s.ServeHTTP).transport()
		h.Mode = transport.ModeSSE
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, call(1))
		if e := receiveError(t, conn, 1); e.Reason != transport.ReasonStatus || e.Status != 400 {
			t.Errorf("want HTTP 400, got %v", e)
		}
		s.body = someError
		send(t, conn, call(7))
		receiveData(t, conn, someError, 7)
		s.accepted, s.body = 200, "ignored"
		send(t, conn, call(2))
		s.out <- event(result(2))
		receiveData(t, conn, result(2), 0)
	})
}

func TestHTTPSSEConnectionEndsWhenEndpointIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOldServer()
		s.accepted, s.body = 404, "session not found"
		h := newBubble(t, s.ServeHTTP).transport()
		h.Mode = transport.ModeSSE
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, call(1))
		if e := receiveError(t, conn, 1); e.Reason != transport.ReasonLost || e.Status != 404 || !e.Unsent {
			t.Errorf("want the request lost and unsent, got %v", e)
		}
		receiveEnd(t, conn)
	})
}

func TestHTTPSSEConnectionEndsWithItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOldServer()
		h := newBubble(t, s.ServeHTTP).transport()
		h.Mode = transport.ModeSSE
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, call(1))
		receiveData(t, conn, result(1), 0)
		s.out <- event(note)
		close(s.out)
		receiveData(t, conn, note, 0)
		if end := receiveEnd(t, conn); !errors.Is(end, io.EOF) {
			t.Errorf("want io.EOF, got %v", end)
		}
		if err := conn.Send(t.Context(), call(2)); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("send: want an error that is ErrClosed, got %v", err)
		}
	})
}

func TestHTTPSSEReportsUnreachableServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, newOldServer().ServeHTTP)
		b.crash(errors.New("down"))
		h := b.transport()
		h.Mode = transport.ModeSSE
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, call(1))
		if e := receiveError(t, conn, 1); e.Reason != transport.ReasonUnreachable || !e.Unsent {
			t.Errorf("want the server unreachable and the request unsent, got %v", e)
		}
		receiveEnd(t, conn)
	})
}

// The transport remembers that a server speaks only HTTP+SSE. The server may be upgraded later.
func TestHTTPForgetsSSEAfterServerUpgrade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, now := newOldServer(), new(legacyServer)
		upgraded := false
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			if upgraded {
				now.ServeHTTP(w, r)
			} else {
				old.ServeHTTP(w, r)
			}
		})
		h := b.transport()
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, initialize(1))
		receiveData(t, conn, result(1), 0)
		if err := conn.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		upgraded = true
		now.listen = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(405) }
		for range 2 {
			conn = dialHTTP(t, h, transport.Config{})
			send(t, conn, initialize(1))
			receiveData(t, conn, result(1), 1)
			if err := conn.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		gets := 0
		for _, line := range now.notes() {
			if strings.HasPrefix(line, "GET") {
				gets++
			}
		}
		if gets != 1 {
			t.Errorf("want one more attempt with HTTP+SSE, got %d", gets)
		}
	})
}

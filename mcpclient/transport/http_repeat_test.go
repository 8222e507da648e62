package transport_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Over HTTP/2, net/http itself repeats a request that was reset with PROTOCOL_ERROR. Some proxies send that error if
// they do not understand the answer of their server. Only a request that the server reports as unprocessed may arrive
// twice.
func TestHTTP2RepeatsOnlyUnprocessedRequests(t *testing.T) {
	for name, c := range map[string]struct {
		times  int // number of arrivals of the request
		handle func(s *h2Stream, n int)
		want   *transport.RequestError // nil for an answer
	}{
		"PROTOCOL_ERROR": {1, func(s *h2Stream, n int) { s.reset(h2ProtocolError) },
			&transport.RequestError{Reason: transport.ReasonLost}},
		"INTERNAL_ERROR": {1, func(s *h2Stream, n int) { s.reset(h2InternalError) },
			&transport.RequestError{Reason: transport.ReasonLost}},
		"cut": {1, func(s *h2Stream, n int) { _ = s.conn.Close() },
			&transport.RequestError{Reason: transport.ReasonLost}},
		"REFUSED_STREAM": {3, func(s *h2Stream, n int) { s.reset(h2RefusedStream) },
			&transport.RequestError{Reason: transport.ReasonBusy, Unsent: true}},
		"REFUSED_STREAM once": {2, func(s *h2Stream, n int) {
			if n == 1 {
				s.reset(h2RefusedStream)
			} else {
				s.answer(result(2))
			}
		}, nil},
		"GOAWAY": {2, func(s *h2Stream, n int) {
			if n == 1 {
				s.goAway()
			} else {
				s.answer(result(2))
			}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var server *h2Server
			server, h := serveH2(t, func(s *h2Stream, m sent) {
				if m.ID == 1 {
					s.answer(result(1))
				} else {
					c.handle(s, server.times(m.ID))
				}
			})
			conn := dialHTTP(t, h, transport.Config{})
			send(t, conn, modernCall(1))
			receiveData(t, conn, result(1), 1)
			if v := conn.Info().HTTPVersion; v != "2" {
				t.Fatalf("want HTTP/2, got %s", v)
			}
			send(t, conn, modernCall(2))
			if c.want == nil {
				receiveData(t, conn, result(2), 2)
			} else if e := receiveError(t, conn, 2); e.Reason != c.want.Reason || e.Unsent != c.want.Unsent {
				t.Errorf("want %v, unsent %v, got %v, unsent %v", c.want.Reason, c.want.Unsent, e, e.Unsent)
			}
			if n := server.times(2); n != c.times {
				t.Errorf("want the request to arrive %d times, got %d", c.times, n)
			}
		})
	}
}

// With an Idempotency-Key, net/http may repeat a POST. A user who sets the key for all requests does not want repeats.
func TestHTTPDoesNotRepeatWrittenRequest(t *testing.T) {
	for _, name := range []string{"Idempotency-Key", "x-idempotency-key"} {
		var seen atomic.Int32
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if readSent(r).ID == 1 {
				answerJSON(w, 200, result(1))
				return
			}
			seen.Add(1)
			panic(http.ErrAbortHandler)
		})
		for _, client := range []*http.Client{nil, {Transport: http.DefaultTransport.(*http.Transport).Clone()}} {
			seen.Store(0)
			conn := dialHTTP(t, &transport.HTTP{URL: url, Client: client, Header: http.Header{name: {"1"}}}, transport.Config{})
			send(t, conn, modernCall(1)) // so that the next request uses an existing connection
			receiveData(t, conn, result(1), 1)
			send(t, conn, modernCall(2))
			if e := receiveError(t, conn, 2); e.Reason != transport.ReasonLost || e.Unsent || seen.Load() != 1 {
				t.Errorf("%s: want it lost, not unsent, and seen once, got %v, unsent %v, seen %d times", name, e, e.Unsent,
					seen.Load())
			}
		}
	}
}

// A user's client may refuse a request without reading its body.
func TestHTTPReportsUnsentRequests(t *testing.T) {
	for _, read := range []bool{false, true} {
		h := &transport.HTTP{URL: "http://server.test",
			Client: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				if read {
					_, _ = r.Body.Read(make([]byte, 1))
				}
				return nil, errors.New("no")
			})}}
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, call(1))
		if e := receiveError(t, conn, 1); e.Reason != transport.ReasonLost || e.Unsent == read {
			t.Errorf("read: %v, want the request lost, unsent: %v, got %v, unsent: %v", read, !read, e, e.Unsent)
		}
	}
}

// Streams are opened at most about once a second in the long run, no matter how the server ends them and which delay it
// suggests.
func TestHTTPReopeningShortStreamsBacksOff(t *testing.T) {
	n := 0
	numbered := func(data string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			n++
			closing(fmt.Sprintf("id: %d\nretry: 0\n%s\n\n", n, data))(w, r)
		}
	}
	for name, script := range map[string]http.HandlerFunc{
		"nothing":      closing("retry: 0\n\n"),
		"new ids":      numbered(""),
		"messages":     numbered(`data: {"jsonrpc":"2.0","method":"notifications/x"}`),
		"cut messages": cutting("retry: 0\ndata: {}\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, l, _ := listen(t, transport.Config{}, script)
				go func() {
					for {
						if _, err := conn.Receive(t.Context()); err != nil {
							return
						}
					}
				}()
				time.Sleep(time.Minute)
				if got := len(l.seen()); got > 65 || got < 45 {
					t.Errorf("want about 60 requests in a minute, got %d", got)
				}
			})
		})
	}
}

// If the server repeatedly ends the stream of a request, the client resumes it at most about once a second, until the
// caller gives up.
func TestHTTPResumingShortStreamsBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && readSent(r).ID == 1 {
				w.Header().Set("Mcp-Session-Id", "session-1")
				answerJSON(w, 200, result(1))
				return
			}
			n++
			closing(fmt.Sprintf("id: %d\nretry: 0\ndata:\n\n", n))(w, r)
		})
		h := b.transport()
		h.NoListening = true
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, initialize(1))
		receiveData(t, conn, result(1), 1)
		send(t, conn, call(2))
		time.Sleep(time.Minute)
		conn.Cancel(2, transport.Message{})
		if n > 65 || n < 45 {
			t.Errorf("want about 60 requests in a minute, got %d", n)
		}
	})
}

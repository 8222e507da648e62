package transport_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestHTTPUnreachableServerEndsConnection(t *testing.T) {
	for name, c := range map[string]struct{ url, text string }{
		"closed port":  {"http://" + closedPort(t) + "/mcp?key=secret", "refused"},
		"unknown host": {"http://host.invalid/?key=secret", "host.invalid"},
		"https to a plain HTTP server": {
			strings.Replace(serve(t, answer(200, "")), "http:", "https:", 1), "the server speaks plain HTTP there",
		},
		"unknown authority":  {serveTLS(t), "certificate"},
		"a user and no host": {"http://user:secret@" + closedPort(t), "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &transport.HTTP{URL: c.url}
			for range 2 {
				conn := dialHTTP(t, h, transport.Config{})
				send(t, conn, call(1))
				e := receiveError(t, conn, 1)
				if e.Reason != transport.ReasonUnreachable || !e.Unsent || e.Permanent() {
					t.Errorf("want a temporary ReasonUnreachable with Unsent, got %+v", e)
				}
				end := receiveEnd(t, conn)
				for _, err := range []error{e, end} {
					if strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), c.text) {
						t.Errorf("want an error with %q and no secret, got %q", c.text, err)
					}
				}
				if again := receiveEnd(t, conn); again != end {
					t.Errorf("want the same error each time, got %v and %v", end, again)
				}
				if err := conn.Send(t.Context(), call(2)); !errors.Is(err, transport.ErrClosed) {
					t.Errorf("send: want an error that is ErrClosed, got %v", err)
				}
				if err := conn.Close(t.Context()); err != nil {
					t.Errorf("close: want no error, got %v", err)
				}
			}
		})
	}
}

// closedPort returns an address at which no server listens.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestHTTPDialAfterUnreachableConnectsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) { answerJSON(w, 200, result(readSent(r).ID)) })
		b.refuse(errors.New("down"))
		h := b.transport()
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, call(1))
		if e := receiveError(t, conn, 1); e.Reason != transport.ReasonUnreachable || !e.Unsent {
			t.Errorf("want the server unreachable and nothing sent, got %v", e)
		}
		receiveEnd(t, conn)

		b.refuse(nil)
		conn = dialHTTP(t, h, transport.Config{})
		send(t, conn, call(2))
		receiveData(t, conn, result(2), 2)
	})
}

// When a server restarts, some requests still dial and some wait in line. Receive returns each of these requests as
// unsent, and then the reason for the end of the connection. In this test one request is connected, three fail to dial,
// two still dial and two wait in line.
func TestHTTPUnreachableFailsEveryUnsentRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("no more connections")
		b := newBubble(t, func(_ http.ResponseWriter, r *http.Request) {
			readSent(r)
			<-r.Context().Done()
		})
		var dials atomic.Int32
		fail, end := make(chan struct{}), make(chan struct{})
		defer close(end)
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			switch dial := dials.Add(1); {
			case dial == 1:
				return b.dial(ctx, network, address)
			case dial <= 4:
				<-fail
				return nil, down
			}
			<-end
			return nil, down
		}
		client := &http.Client{Transport: &http.Transport{DialContext: dial}}
		conn := dialHTTP(t, &transport.HTTP{URL: bubbleURL, Client: client, MaxInFlight: 6}, transport.Config{})
		for id := range int64(8) {
			send(t, conn, call(id+1))
			synctest.Wait()
		}
		close(fail)
		untold := map[int64]bool{2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true}
		for {
			f, err := conn.Receive(t.Context())
			if err != nil {
				if !errors.Is(err, down) {
					t.Errorf("want the connection over because of %v, got %v", down, err)
				}
				break
			}
			if !untold[f.Request] {
				t.Errorf("request %d: want no further report, got %v", f.Request, f.Err)
			}
			if f.Err.Reason != transport.ReasonUnreachable || !f.Err.Unsent || !errors.Is(f.Err, down) {
				t.Errorf("request %d: want it unsent because of %v, got %v", f.Request, down, f.Err)
			}
			delete(untold, f.Request)
		}
		if len(untold) > 0 {
			t.Errorf("want a report of each unsent request, got none of %v", untold)
		}
	})
}

// While another request is connected, the server counts as reachable, and a later request may succeed.
func TestHTTPThreeConsecutiveUnreachableRequestsEndConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("no more connections")
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			if m := readSent(r); m.ID > 1 {
				w.Header().Set("Connection", "close")
				answerJSON(w, 200, result(m.ID))
			} else {
				events(event(note))(w, r)
			}
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		send(t, conn, call(1))
		receiveData(t, conn, note, 1)
		fails := func(id int64) {
			send(t, conn, call(id))
			if e := receiveError(t, conn, id); e.Reason != transport.ReasonUnreachable || !e.Unsent || !errors.Is(e, down) {
				t.Errorf("want request %d unsent because of %v, got %v", id, down, e)
			}
		}
		b.refuse(down)
		fails(2)
		fails(3)
		b.refuse(nil)
		send(t, conn, call(4))
		receiveData(t, conn, result(4), 4)
		b.refuse(down)
		fails(5)
		fails(6)
		fails(7)
		if end := receiveEnd(t, conn); !errors.Is(end, down) {
			t.Errorf("want the connection over because of %v, got %v", down, end)
		}
	})
}

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

// desk is a server that answers one request for each value on next, and records the order of arrival.
type desk struct {
	next chan struct{}

	mu   sync.Mutex
	came []int64 // guarded by mu; ids, 0 for other messages
}

func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m := readSent(r)
	d.mu.Lock()
	d.came = append(d.came, m.ID)
	d.mu.Unlock()
	if m.ID == 0 {
		w.WriteHeader(202)
		return
	}
	select {
	case <-d.next:
		answerJSON(w, 200, result(m.ID))
	case <-r.Context().Done():
	}
}

func (d *desk) seen() []int64 {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.came)
}

// atDesk dials a desk, with MaxInFlight set to places.
func atDesk(t *testing.T, places int, cfg transport.Config) (*desk, transport.Conn, *bubble) {
	d := &desk{next: make(chan struct{})}
	b := newBubble(t, d.ServeHTTP)
	h := b.transport()
	h.MaxInFlight = places
	return d, dialHTTP(t, h, cfg), b
}

func TestHTTPRequestsAreQueuedForSlot(t *testing.T) {
	for _, m := range []func(int64) transport.Message{call, modernCall} {
		synctest.Test(t, func(t *testing.T) {
			var waits []time.Duration
			d, conn, _ := atDesk(t, 1, transport.Config{QueueWait: func(w time.Duration) { waits = append(waits, w) }})
			for id := range int64(5) {
				one := m(id + 1)
				send(t, conn, one)
				clear(one.Data)
			}
			if got := d.seen(); !slices.Equal(got, []int64{1}) || conn.Info().Queued != 4 {
				t.Fatalf("want one request at the server and 4 in line, got %v and %d", got, conn.Info().Queued)
			}
			conn.Cancel(3, notification("notifications/cancelled"))
			for _, id := range []int64{1, 2, 4, 5} {
				time.Sleep(time.Second)
				d.next <- struct{}{}
				receiveData(t, conn, result(id), id)
			}
			if got := d.seen(); !slices.Equal(got, []int64{1, 2, 4, 5}) {
				t.Errorf("want the requests that were not cancelled, in the order of sending, got %v", got)
			}
			want, left := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, conn.Info().Queued
			if !slices.Equal(waits, want) || left != 0 {
				t.Errorf("want waits of %v and no request in line, got %v and %d", want, waits, left)
			}
		})
	}
}

// A server may wait for any of these messages before it answers the requests in flight.
func TestHTTPMessagesNeededByServerBypassQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, conn, _ := atDesk(t, 1, transport.Config{})
		send(t, conn, modernCall(1))
		send(t, conn, modernCall(2))
		listen := modernCall(3)
		listen.Method = "subscriptions/listen"
		send(t, conn, listen)
		send(t, conn, notification("notifications/a"))
		d.seen() // the notification has been answered
		send(t, conn, transport.Message{
			Data: []byte(`{"jsonrpc":"2.0","id":0,"result":{}}`), Kind: transport.KindResponse, ProtocolVersion: "2025-11-25",
		})
		if got := d.seen(); len(got) != 4 || slices.Contains(got, 2) {
			t.Errorf("want all messages except the second request at the server, got %v", got)
		}
		send(t, conn, initialize(4))
		if got := d.seen(); !slices.Contains(got, 4) {
			t.Errorf("want initialize at the server, got %v", got)
		}
	})
}

func TestHTTPSendIsBusyWhenQueueIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, conn, _ := atDesk(t, 1, transport.Config{FrameLimit: 1 << 10})
		send(t, conn, call(1))
		large := call(2)
		large.Data = []byte(strings.Replace(string(large.Data), `"t"`, `"`+strings.Repeat("t", 1<<20)+`"`, 1))
		accepted := 0
		var err error
		for ; err == nil && accepted < 100; accepted++ {
			large.ID++
			err = conn.Send(t.Context(), large)
		}
		if err != transport.ErrBusy || accepted != 32 {
			t.Fatalf("want 31 messages of some more than 1 MiB to find space in 32 MiB, got %v for message %d", err, accepted)
		}
		send(t, conn, call(100)) // there is still space for a small message
		conn.Cancel(5, transport.Message{})
		send(t, conn, large)
		d.seen()
	})
}

// A message larger than the whole queue is accepted if no other message waits.
func TestHTTPEmptyQueueAcceptsMessageOfAnySize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn, _ := atDesk(t, 1, transport.Config{})
		send(t, conn, call(1))
		huge := call(2)
		huge.Data = make([]byte, 33<<20)
		send(t, conn, huge)
		if err := conn.Send(t.Context(), call(3)); err != transport.ErrBusy {
			t.Errorf("a second message: want %v, got %v", transport.ErrBusy, err)
		}
	})
}

func TestHTTPQueueEndsWithItsConnection(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, conn transport.Conn, b *bubble){
		"closed":      func(t *testing.T, conn transport.Conn, b *bubble) { _ = conn.Close(t.Context()) },
		"unreachable": func(t *testing.T, conn transport.Conn, b *bubble) { b.crash(errors.New("down")) },
		"a new session": func(t *testing.T, conn transport.Conn, b *bubble) {
			send(t, conn, initialized()) // now a version is negotiated
			send(t, conn, initialize(9))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, conn, b := atDesk(t, 2, transport.Config{})
				for id := range int64(5) {
					send(t, conn, call(id+1))
				}
				d.seen()
				end(t, conn, b)
				go func() {
					for {
						if _, err := conn.Receive(t.Context()); err != nil {
							return
						}
					}
				}()
				for _, id := range d.seen() {
					if id > 2 && id < 6 {
						t.Errorf("request %d arrived at the server, want the requests in line to be dropped", id)
					}
				}
				if n := conn.Info().Queued; n != 0 && name != "unreachable" {
					t.Errorf("want no request in line, got %d", n)
				}
			})
		})
	}
}

// A place is occupied until the stream has ended, at most half a second after the answer.
func TestHTTPLingeringStreamsKeepTheirSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		open, most := 0, 0
		note := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			open += n
			most = max(most, open)
		}
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			answerEvents(w, event(result(readSent(r).ID)))
			<-r.Context().Done()
		})
		h := b.transport()
		network := h.Client.Transport
		h.Client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			note(1)
			resp, err := network.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			resp.Body = noting{resp.Body, sync.OnceFunc(func() { note(-1) })}
			return resp, nil
		})
		h.MaxInFlight = 2
		conn := dialHTTP(t, h, transport.Config{})
		for id := range int64(6) {
			send(t, conn, modernCall(id+1))
		}
		for range 6 {
			if f := receive(t, conn); f.Err != nil {
				t.Fatal(f.Err)
			}
		}
		if most != 2 {
			t.Errorf("want 2 streams open at once, got %d", most)
		}
	})
}

// noting is a body that calls closed when it is closed.
type noting struct {
	io.ReadCloser
	closed func()
}

func (n noting) Close() error {
	n.closed()
	return n.ReadCloser.Close()
}

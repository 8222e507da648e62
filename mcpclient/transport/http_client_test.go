package transport_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// doors is a server that records the network connection of each request.
type doors struct {
	mu   sync.Mutex
	seen []string
}

func (d *doors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.seen = append(d.seen, r.RemoteAddr)
	d.mu.Unlock()
	answerJSON(w, 200, result(readSent(r).ID))
}

// number returns the number of different network connections.
func (d *doors) number() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(slices.Compact(slices.Sorted(slices.Values(d.seen))))
}

// ask makes a call and waits for the answer.
func ask(t *testing.T, conn transport.Conn) {
	t.Helper()
	send(t, conn, modernCall(1))
	receiveData(t, conn, result(1), 1)
}

func TestHTTPConnectionsToOneOriginShareIdleConnections(t *testing.T) {
	d := new(doors)
	url := serve(t, d.ServeHTTP)
	a := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
	b := dialHTTP(t, &transport.HTTP{URL: url + "/other?x=1"}, transport.Config{})
	ask(t, a)
	ask(t, b)
	if n := d.number(); n != 1 {
		t.Errorf("two connections, one after the other: want one network connection, got %d", n)
	}
	for range 2 { // Close may be called more than once
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	ask(t, b)
	if n := d.number(); n != 1 {
		t.Errorf("after one connection is closed: want the same network connection, got %d", n)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	ask(t, dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{}))
	if n := d.number(); n != 2 {
		t.Errorf("after all connections are closed: want a new network connection, got %d in all", n)
	}
}

func TestHTTPConnectionsToOtherOriginsShareNothing(t *testing.T) {
	one, other := new(doors), new(doors)
	a := dialHTTP(t, &transport.HTTP{URL: serve(t, one.ServeHTTP)}, transport.Config{})
	url := serve(t, other.ServeHTTP)
	b := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
	ask(t, a)
	ask(t, b)
	if err := b.Close(t.Context()); err != nil { // b is the last connection to its origin
		t.Error(err)
	}
	ask(t, a)
	ask(t, dialHTTP(t, &transport.HTTP{URL: strings.ToUpper(url[:4]) + url[4:]}, transport.Config{}))
	if n, m := one.number(), other.number(); n != 1 || m != 2 {
		t.Errorf("want 1 network connection of the first origin and 2 of the second, got %d and %d", n, m)
	}
}

// If a program replaces http.DefaultTransport, later connections use the new transport.
func TestHTTPConnectionsUseAReplacedDefaultTransport(t *testing.T) {
	d := new(doors)
	url := serve(t, d.ServeHTTP)
	ask(t, dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{}))
	old := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = old })
	for i, next := range []http.RoundTripper{old.(*http.Transport).Clone(), roundTripper(old.RoundTrip)} {
		http.DefaultTransport = next
		ask(t, dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{}))
		if n := d.number(); n != i+2 {
			t.Errorf("default transport %d: want a network connection of its own, got %d in all", i, n)
		}
	}
	old.(*http.Transport).CloseIdleConnections()
}

func TestHTTPConnectionsOpenAndCloseConcurrently(t *testing.T) {
	d := new(doors)
	h := &transport.HTTP{URL: serve(t, d.ServeHTTP)}
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() {
			for range 20 {
				conn, err := h.Dial(t.Context(), transport.Config{})
				if err != nil {
					t.Error(err)
					return
				}
				if err := conn.Send(t.Context(), modernCall(1)); err != nil {
					t.Error(err)
				}
				if f, err := conn.Receive(t.Context()); err != nil || f.Err != nil {
					t.Errorf("want an answer, got %v and %v", f.Err, err)
				}
				if err := conn.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	users.Wait()
}

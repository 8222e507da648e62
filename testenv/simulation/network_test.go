package simulation

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// network has the connections to one end, in memory. Each connection has a latency, and can be cut together with the
// data in flight. A network is a listener for that end.
type network struct {
	latency time.Duration // of each direction
	conns   chan net.Conn
	closed  chan struct{}
	running sync.WaitGroup

	mu   sync.Mutex
	down bool // guarded by mu; clients cannot connect
	open map[net.Conn]bool
}

func newNetwork(latency time.Duration) *network {
	return &network{
		latency: latency, conns: make(chan net.Conn), closed: make(chan struct{}), open: map[net.Conn]bool{},
	}
}

var errDown = errors.New("the network is down")

// dial opens a connection of four parts: client - near, far - server.
func (n *network) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	client, near := net.Pipe()
	far, server := net.Pipe()
	if !n.keep(near, far) {
		return nil, errDown
	}
	select {
	case n.conns <- server:
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	n.carry(near, far)
	n.carry(far, near)
	return client, nil
}

// keep records both ends of a connection, so that they can be cut. It returns false if the network is down.
func (n *network) keep(parts ...net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range parts {
		n.open[c] = true
	}
	return !n.down
}

// carry copies from one part to the other until one of them is closed. A write to a connection never waits: net/http
// writes with a mutex held, and while another goroutine waits for a mutex, no time passes in a bubble.
func (n *network) carry(from, to net.Conn) {
	w := &way{news: make(chan struct{}, 1)}
	n.running.Go(func() {
		for {
			b := make([]byte, 32<<10)
			k, err := from.Read(b)
			w.add(chunk{b[:k], time.Now().Add(n.latency), err != nil})
			if err != nil {
				return
			}
		}
	})
	n.running.Go(func() {
		for c := w.next(); !c.last; c = w.next() {
			time.Sleep(time.Until(c.due))
			if _, err := to.Write(c.data); err != nil {
				_ = from.Close() // the rest is dropped
			}
		}
		_ = to.Close()
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.open, to)
	})
}

// chunk is a part of the data in flight. The last chunk has no data.
type chunk struct {
	data []byte
	due  time.Time
	last bool
}

// way is a queue of chunks without a bound.
type way struct {
	mu     sync.Mutex
	chunks []chunk       // guarded by mu
	news   chan struct{} // holds a token if there may be chunks
}

func (w *way) add(c chunk) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.chunks = append(w.chunks, c)
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// next waits for a chunk and takes it.
func (w *way) next() chunk {
	for {
		w.mu.Lock()
		if len(w.chunks) > 0 {
			c := w.chunks[0]
			w.chunks = w.chunks[1:]
			w.mu.Unlock()
			return c
		}
		w.mu.Unlock()
		<-w.news
	}
}

// cut cuts all connections.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.open {
		_ = c.Close()
	}
}

// setDown determines whether clients can connect.
func (n *network) setDown(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
}

// Accept returns the server's part of the next connection.
func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close makes further connections fail.
func (n *network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.closed:
	default:
		close(n.closed)
	}
	return nil
}

// Addr returns an address that is not a loopback address.
func (n *network) Addr() net.Addr { return &net.UnixAddr{Name: "simulation", Net: "unix"} }

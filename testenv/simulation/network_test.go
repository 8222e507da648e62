package simulation

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// network is what leads to one end: connections in memory, each of which takes its time, and which can be cut with what
// is on its way. It is a listener for that end.
type network struct {
	latency time.Duration // of each direction
	conns   chan net.Conn
	closed  chan struct{}
	running sync.WaitGroup

	mu   sync.Mutex
	down bool // guarded by mu; no client can connect
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

// keep keeps both parts of a connection to cut them, unless the network is down.
func (n *network) keep(parts ...net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range parts {
		n.open[c] = true
	}
	return !n.down
}

// carry carries what comes out of one part to the other, until one of them is closed.
func (n *network) carry(from, to net.Conn) {
	type chunk struct {
		data []byte
		due  time.Time
	}
	way := make(chan chunk, 64)
	n.running.Go(func() {
		defer close(way)
		for {
			b := make([]byte, 32<<10)
			k, err := from.Read(b)
			if err != nil {
				return
			}
			way <- chunk{b[:k], time.Now().Add(n.latency)}
		}
	})
	n.running.Go(func() {
		for c := range way {
			time.Sleep(time.Until(c.due))
			if _, err := to.Write(c.data); err != nil {
				_ = from.Close() // and what still comes is dropped
			}
		}
		_ = to.Close()
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.open, to)
	})
}

// cut cuts all connections.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.open {
		_ = c.Close()
	}
}

// setDown says whether no client can connect.
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

// Close lets no client connect any more.
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

// Addr returns an address that is not the loopback's.
func (n *network) Addr() net.Addr { return &net.UnixAddr{Name: "simulation", Net: "unix"} }

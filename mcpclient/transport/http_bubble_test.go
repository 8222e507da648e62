package transport_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// bubble is a server and a network for a bubble of testing/synctest. Both wait only on channels.
type bubble struct {
	conns  chan net.Conn
	closed chan struct{}
	server http.Server

	mu   sync.Mutex
	down error // error of new connections; nil while clients can connect
	ends []net.Conn
}

const bubbleURL = "http://server.test/mcp"

// newBubble starts the server, which ends with the test.
func newBubble(t *testing.T, handler http.HandlerFunc) *bubble {
	b := &bubble{conns: make(chan net.Conn), closed: make(chan struct{})}
	b.server.Handler = handler
	var serving sync.WaitGroup
	serving.Go(func() { _ = b.server.Serve(b) })
	t.Cleanup(func() {
		_ = b.server.Close()
		serving.Wait()
	})
	return b
}

// client returns a client that connects to the server.
func (b *bubble) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: b.dial}}
}

// transport returns a transport to the server.
func (b *bubble) transport() *transport.HTTP {
	return &transport.HTTP{URL: bubbleURL, Client: b.client()}
}

// refuse makes new connections fail with err; nil allows them again.
func (b *bubble) refuse(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = err
}

// crash is like refuse, and also cuts all connections.
func (b *bubble) crash(err error) {
	b.refuse(err)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.ends {
		_ = c.Close()
	}
	b.ends = nil
}

func (b *bubble) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	b.mu.Lock()
	down := b.down
	b.mu.Unlock()
	if down != nil {
		return nil, down
	}
	ours, theirs := net.Pipe()
	select {
	case b.conns <- theirs:
	case <-b.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends = append(b.ends, theirs)
	return ours, nil
}

func (b *bubble) Accept() (net.Conn, error) {
	select {
	case c := <-b.conns:
		return c, nil
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

func (b *bubble) Close() error {
	close(b.closed)
	return nil
}

func (b *bubble) Addr() net.Addr { return &net.TCPAddr{} }

package otlpsink

import (
	"net"
	"sync"
)

// A listener knows its connections, so that it can cut those that the server does not know yet: one that has not sent
// its preface would keep even [grpc.Server.Stop] waiting for two minutes.
type listener struct {
	net.Listener

	mu     sync.Mutex
	open   map[*conn]struct{} // guarded by mu
	closed bool               // guarded by mu: cut
}

type conn struct {
	net.Conn
	listener *listener
}

func (l *listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{raw, l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = struct{}{}
	if l.closed {
		raw.Close()
	}
	return c, nil
}

func (c *conn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// cut closes the connections there are, under the server's feet, and any that still comes.
func (l *listener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for c := range l.open {
		c.Conn.Close()
	}
}

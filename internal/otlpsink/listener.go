package otlpsink

import (
	"net"
	"sync"
)

// A listener tracks its connections, so that it can cut connections that the server does not track yet: a connection
// without its preface would make [grpc.Server.Stop] wait for two minutes.
type listener struct {
	net.Listener

	mu     sync.Mutex
	open   map[*conn]struct{} // guarded by mu
	closed bool               // cut was called; guarded by mu
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

// cut closes all connections, and every connection that arrives later.
func (l *listener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for c := range l.open {
		c.Conn.Close()
	}
}

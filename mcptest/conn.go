package mcptest

import (
	"context"
	"errors"
	"sync"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// conn is a connection to a Server whose failures the test decides.
type conn struct {
	transport.Conn
	server *Server

	mu        sync.Mutex
	waiting   []transport.Frame  // what comes before the server's own frames; guarded by mu, as all below
	over      error              // how the server has ended, nil as long as it lives
	interrupt context.CancelFunc // ends the Receive that waits, nil for none
}

// Send turns a request away that finds the server busy.
func (c *conn) Send(ctx context.Context, m transport.Message) error {
	c.mu.Lock()
	over := c.over
	c.mu.Unlock()
	if over != nil {
		return errors.Join(transport.ErrClosed, over)
	}
	if m.Kind == transport.Request && ctx.Err() == nil {
		if why := c.server.turnedAway(); why != nil {
			c.deliver(transport.Frame{Request: m.ID, Err: why})
			return nil
		}
	}
	return c.Conn.Send(ctx, m)
}

// Receive returns what was delivered before what the server has sent.
func (c *conn) Receive(ctx context.Context) (transport.Frame, error) {
	for {
		f, err := c.receive(ctx)
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			return f, err
		}
	}
}

// receive is Receive that may be interrupted, with the error context.Canceled, and loses nothing then.
func (c *conn) receive(ctx context.Context) (transport.Frame, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	switch {
	case c.over != nil:
		defer c.mu.Unlock()
		return transport.Frame{}, c.over
	case len(c.waiting) > 0 && ctx.Err() == nil:
		defer c.mu.Unlock()
		f := c.waiting[0]
		c.waiting = c.waiting[1:]
		return f, nil
	}
	c.interrupt = cancel
	c.mu.Unlock()
	f, err := c.Conn.Receive(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupt = nil
	if c.over != nil {
		return transport.Frame{}, c.over
	}
	return f, err
}

// deliver has Receive return f.
func (c *conn) deliver(f transport.Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, f)
	c.wake()
}

// wake has the Receive that waits look again. c.mu is held.
func (c *conn) wake() {
	if c.interrupt != nil {
		c.interrupt()
	}
}

// kill ends the connection as a process that is killed does, and waits for the server's end of it.
func (c *conn) kill(err error) {
	c.mu.Lock()
	if c.over == nil {
		c.over = err
	}
	c.wake()
	c.mu.Unlock()
	atOnce, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.Close(atOnce) // says only that a handler still runs, for which Shutdown waits
}

// Close ends the connection.
func (c *conn) Close(ctx context.Context) error {
	defer func() {
		c.server.mu.Lock()
		defer c.server.mu.Unlock()
		delete(c.server.conns, c)
	}()
	return c.Conn.Close(ctx)
}

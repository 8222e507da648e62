package mcpclient_test

import (
	"context"
	"errors"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// interruptible is a transport in memory whose connections can be interrupted, like connections over pipes.
type interruptible struct {
	transport.Transport
	inHand func() // called when Receive has got a frame; may be nil
}

func (i *interruptible) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c, err := i.Transport.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return newInterruptibleConn(c, i), nil
}

// interruptibleConn ends the connection's Receive when it is interrupted.
type interruptibleConn struct {
	transport.Conn
	t *interruptible

	mu     sync.Mutex
	ctx    context.Context
	cancel context.CancelFunc
}

func newInterruptibleConn(c transport.Conn, t *interruptible) *interruptibleConn {
	i := &interruptibleConn{Conn: c, t: t}
	i.ctx, i.cancel = context.WithCancel(context.Background())
	return i
}

func (c *interruptibleConn) Interrupter() func() {
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cancel()
	}
}

func (c *interruptibleConn) Receive(ctx context.Context) (transport.Frame, error) {
	c.mu.Lock()
	interrupted := c.ctx
	c.mu.Unlock()
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(interrupted, cancel)()
	f, err := c.Conn.Receive(wait)
	if err == nil && c.t.inHand != nil {
		c.t.inHand()
	}
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ctx, c.cancel = context.WithCancel(context.Background())
		return transport.Frame{}, seam.ErrInterrupted
	}
	return f, err
}

package inlet

import (
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Next is like Receive, and also reports whether the owner delivered the frame. Frames from the peer are lost only
// after the owner has ended the connection.
func (c *Conn) Next(ctx context.Context) (f transport.Frame, delivered bool, err error) {
	for {
		f, delivered, err = c.next(ctx)
		if !errors.Is(err, errLook) || ctx.Err() != nil { // the ctx of an outer Conn also ends with errLook
			return f, delivered, err
		}
	}
}

// next returns errLook if the caller must call it again.
func (c *Conn) next(ctx context.Context) (transport.Frame, bool, error) {
	if ctx.Err() != nil {
		return transport.Frame{}, false, context.Cause(ctx)
	}
	c.mu.Lock()
	if f, done, err := c.ready(time.Now()); done {
		c.mu.Unlock()
		return f, err == nil, err
	}
	wait, cancel := c.waits(ctx)
	defer cancel(nil)
	asks := c.asks(time.Now())
	c.mu.Unlock()
	f, err := transport.Frame{}, error(nil)
	if asks {
		f, err = c.Conn.Receive(wait)
	} else {
		<-wait.Done()
		err = context.Cause(wait)
	}
	if err = c.received(ctx, err); err != nil {
		return transport.Frame{}, false, err
	}
	return f, false, nil
}

// ready returns a frame or an error without receiving from the peer, and reports whether there is one. The caller holds
// c.mu.
func (c *Conn) ready(now time.Time) (f transport.Frame, done bool, err error) {
	switch {
	case c.over != nil:
		return f, true, c.over
	case c.closed || now.Before(c.until):
		return f, false, nil
	case len(c.waiting) > 0 && !c.waiting[0].at.After(now):
		f = c.waiting[0].frame
		c.waiting[0] = parcel{}
		c.waiting = c.waiting[1:]
		c.bytes -= len(f.Data) + parcelOverhead
		return f, true, nil
	case len(c.waiting) == 0 && c.peerOver != nil:
		return f, true, c.peerOver
	}
	return f, false, nil
}

// waits returns the context of a wait for the peer. The context ends when another frame may be due. The caller holds
// c.mu.
func (c *Conn) waits(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	wait, interrupt := context.WithCancelCause(ctx)
	c.interrupt = interrupt
	at := c.until
	if len(c.waiting) > 0 && c.waiting[0].at.After(at) {
		at = c.waiting[0].at
	}
	if c.closed || !at.After(time.Now()) {
		return wait, interrupt
	}
	wait, stop := context.WithDeadlineCause(wait, at, errLook)
	return wait, func(cause error) {
		stop()
		interrupt(cause)
	}
}

// asks reports whether Next may receive from the peer. The caller holds c.mu.
func (c *Conn) asks(now time.Time) bool {
	return c.closed || !now.Before(c.until) && !c.full() && c.peerOver == nil
}

// received maps an error of the peer's connection to the error of next. It returns nil for a valid frame.
func (c *Conn) received(ctx context.Context, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupt = nil
	switch {
	case c.over != nil:
		return c.over
	case err == nil || ctx.Err() != nil || errors.Is(err, errLook):
		return err
	case len(c.waiting) > 0:
		c.peerOver = err
		return errLook
	}
	return err
}

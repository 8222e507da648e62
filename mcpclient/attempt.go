package mcpclient

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/internal/machine"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// runLink is the goroutine of one connection: it opens it, negotiates, reads until it is over, and closes it. It ends
// soon after the client hangs up. No second connection is opened before this one is closed.
func (c *Client) runLink(l *openLink) {
	defer l.hangUp(nil)
	if !c.acquire(l.ctx.Done()) {
		return
	}
	defer c.release()
	ctx, attempt := c.startAttempt(l)
	conn, err := c.transport.Dial(ctx, transport.Config{
		FrameLimit:   c.cfg.FrameLimit,
		SkipOversize: c.cfg.SkipOversize,
		Logger:       c.tel.Logger(),
		QueueWait:    c.tel.QueueWait,
	})
	if err != nil {
		f := c.dialFailure(l, err)
		attempt.End(f)
		c.fail(l, f)
		return
	}
	l.conn = conn
	closed := make(chan struct{})
	stop := context.AfterFunc(l.ctx, func() { c.close(conn); close(closed) })
	defer func() {
		if stop() {
			c.close(conn)
			return
		}
		<-closed
	}()
	c.converse(ctx, l, attempt)
}

// converse negotiates and then reads, with the attempt ending in between.
func (c *Client) converse(ctx context.Context, l *openLink, attempt telemetry.Attempt) {
	if _, ok := c.step(machine.Input{Event: machine.TransportUp, Epoch: l.epoch}, nil); !ok {
		attempt.End(context.Cause(l.ctx))
		return
	}
	in := &reader{c: c, link: &l.link}
	h := &handshake{c: c, link: &l.link, in: in}
	s, err := h.run(ctx)
	if err != nil {
		f := failureOf(err, machine.NegotiationFailed)
		attempt.End(f)
		c.fail(l, f)
		return
	}
	attempt.End(nil)
	c.schemas.forget() // it may be another version of the server
	if _, ok := c.step(machine.Input{Event: machine.Negotiated, Epoch: l.epoch}, &fact{session: s}); !ok {
		return
	}
	in.session = s
	c.tel.Queue(func() int { return l.conn.Info().Queued })
	defer c.tel.Queue(nil)
	c.fail(l, failureOf(in.run(), machine.TransportDown))
}

// startAttempt starts the span of an attempt. The first is a child of the caller's span; each later one is the root of a
// trace of its own with a link to the one before.
func (c *Client) startAttempt(l *openLink) (context.Context, telemetry.Attempt) {
	c.mu.Lock()
	number, previous := c.m.Attempt, c.attempt
	first := l.epoch == 1
	reconnect := c.m.Session > 0
	c.mu.Unlock()
	a := telemetry.AttemptStart{Number: number, Reconnect: reconnect, Previous: previous}
	if first {
		a.Parent, a.Previous = c.parent, telemetry.Ref{}
	}
	ctx, attempt := c.tel.StartAttempt(l.ctx, a)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempt = attempt.Ref()
	return ctx, attempt
}

// close gives the connection its time to close.
func (c *Client) close(conn transport.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.CloseTimeout/10*8)
	defer cancel()
	if err := conn.Close(ctx); err != nil {
		c.tel.CloseFailed(err)
	}
}

// fail tells the machine why a connection is over. An error that comes of the client's own hanging up tells it nothing.
func (c *Client) fail(l *openLink, f *failure) {
	c.step(machine.Input{Event: f.event, Epoch: l.epoch}, &fact{err: f.err})
}

// dialFailure says whether another attempt may help.
func (c *Client) dialFailure(l *openLink, err error) *failure {
	if l.ctx.Err() != nil {
		err = context.Cause(l.ctx)
	}
	err = fmt.Errorf("dial: %w", err)
	if transport.Permanent(err) {
		return &failure{event: machine.Refused, err: err}
	}
	return &failure{event: machine.OpenFailed, err: err}
}

// late returns why it matters that the machine's deadline has passed: an attempt took too long. It is called with mu held.
func (c *Client) late() error {
	if c.m.State != connstate.Starting && c.m.State != connstate.Initializing {
		return nil
	}
	return fmt.Errorf("%w within %v", errSlow, c.cfg.InitTimeout)
}

var errSlow = errors.New("the server was not ready")

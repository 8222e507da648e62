package rpc

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

// Conn is a connection to a client. Send sends one frame, and may wait for the client until ctx ends.
type Conn interface {
	Send(ctx context.Context, frame []byte) error
}

// Pipe is the sink of a connection.
type Pipe struct {
	Conn Conn
	Observer
}

// Notify implements [Sink]. A panic of the connection becomes an error.
func (p *Pipe) Notify(ctx context.Context, frame []byte) (err error) {
	return p.send(ctx, func() error { return p.Conn.Send(ctx, frame) })
}

func (p *Pipe) send(ctx context.Context, send func() error) (err error) {
	usercode.Run(func() { err = send() }, func(f *usercode.Failure) {
		p.Failed(ctx, "Conn.Send")(f)
		err = f
	})
	return err
}

// Answer implements [Sink].
func (p *Pipe) Answer(ctx context.Context, a Answer) error {
	switch {
	case a.Frame == nil:
		return nil
	case a.Rest == nil:
		return p.Notify(ctx, a.Frame)
	}
	if c, ok := p.Conn.(partsSender); ok {
		frame, rest := a.Frame, a.Rest
		return p.send(ctx, func() error { return c.SendParts(ctx, frame, rest, Closing) })
	}
	return p.Notify(ctx, a.Whole())
}

// partsSender is a connection that can send a frame in parts.
type partsSender interface {
	SendParts(ctx context.Context, parts ...[]byte) error
}

// Reach implements [Sink].
func (p *Pipe) Reach() Reach { return Reach{Asks: true, Read: true} }

// Ask implements [Sink].
func (p *Pipe) Ask(ctx context.Context, frame []byte) error { return p.Conn.Send(ctx, frame) }

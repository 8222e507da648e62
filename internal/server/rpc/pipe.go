package rpc

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

// Conn is a connection to a client. Send accepts one frame, and may wait for the client as long as ctx allows.
type Conn interface {
	Send(ctx context.Context, frame []byte) error
}

// Pipe is the sink that a connection is.
type Pipe struct {
	Conn Conn
	Observer
}

// Notify sends a frame. A panic of the connection's is an error of it: there is no caller of the user's to whom it
// could go.
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

func (p *Pipe) Answer(ctx context.Context, a Answer) error {
	switch {
	case a.Frame == nil:
		return nil
	case a.Rest == nil:
		return p.Notify(ctx, a.Frame)
	}
	if c, ok := p.Conn.(apart); ok {
		frame, rest := a.Frame, a.Rest
		return p.send(ctx, func() error { return c.SendParts(ctx, frame, rest, Closing) })
	}
	return p.Notify(ctx, a.Whole())
}

// apart is a connection that sends a frame in parts.
type apart interface {
	SendParts(ctx context.Context, parts ...[]byte) error
}

func (p *Pipe) Reach() Reach { return Reach{Asks: true, Read: true} }

func (p *Pipe) Ask(ctx context.Context, frame []byte) error { return p.Conn.Send(ctx, frame) }

package mcpserver

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

// rpcConn is a connection to a client. Send accepts one frame, and may wait for the client as long as ctx allows.
type rpcConn interface {
	Send(ctx context.Context, frame []byte) error
}

// pipe is the sink that a connection is.
type pipe struct {
	conn rpcConn
	observer
}

// notify sends a frame. A panic of the connection's is an error of it: there is no caller of the user's to whom it
// could go.
func (p *pipe) notify(ctx context.Context, frame []byte) (err error) {
	return p.send(ctx, func() error { return p.conn.Send(ctx, frame) })
}

func (p *pipe) send(ctx context.Context, send func() error) (err error) {
	usercode.Run(func() { err = send() }, func(f *usercode.Failure) {
		p.failed(ctx, "Conn.Send")(f)
		err = f
	})
	return err
}

func (p *pipe) answer(ctx context.Context, a answer) error {
	switch {
	case a.frame == nil:
		return nil
	case a.rest == nil:
		return p.notify(ctx, a.frame)
	}
	if c, ok := p.conn.(apart); ok {
		frame, rest := a.frame, a.rest
		return p.send(ctx, func() error { return c.sendParts(ctx, frame, rest, closing) })
	}
	return p.notify(ctx, a.whole())
}

// apart is a connection that sends a frame in parts.
type apart interface {
	sendParts(ctx context.Context, parts ...[]byte) error
}

func (p *pipe) reach() reach { return reach{asks: true, read: true} }

func (p *pipe) inquire(ctx context.Context, frame []byte) error { return p.conn.Send(ctx, frame) }

package conn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Notice is a notification to the server.
type Notice struct {
	Method  string
	Version mcp.Version // revision for the HTTP header; empty for the session's revision
	// Encode encodes the frame for a session. A nil frame means that nothing is sent in the session.
	Encode func(s *Session, trace *instrument.TraceContext) ([]byte, error)

	Wait        bool      // wait until the client is ready
	By          time.Time // deadline of Wait; zero for none
	WaitForRoom bool      // wait in line for room in the transport
}

// Notify sends a notification. It returns when the transport has accepted the notification.
func (c *Conn) Notify(ctx context.Context, method string, params any) *Fault {
	return c.Send(ctx, notice(method, params))
}

// notice returns a notification with these params and no options.
func notice(method string, params any) *Notice {
	return &Notice{Method: method, Encode: func(s *Session, trace *instrument.TraceContext) ([]byte, error) {
		return encodeNotification(method, params, (&traceContext{*trace}).meta(s.noticeMeta()))
	}}
}

// Send is like [Conn.Notify], with all options of a notification.
func (c *Conn) Send(ctx context.Context, n *Notice) *Fault {
	ctx, op := c.Telemetry.StartRequest(ctx, instrument.Request{Method: n.Method, Notification: true})
	defer op.End(BrokenOff)
	s, err := c.admitted(ctx, n)
	if err == nil {
		err = c.sendNotice(ctx, s, &op, n, s)
	}
	op.End(err.Result())
	return err
}

// admitted returns the session for a notification: the present session, or the next one if the notification may wait.
func (c *Conn) admitted(ctx context.Context, n *Notice) (*Session, *Fault) {
	for {
		s, err := c.Admitted(n.Method)
		switch {
		case err == nil && s.admits():
			return s, nil
		case err == nil && !n.Wait:
			return nil, &Fault{Kind: KindState, Op: n.Method, Unsent: true, Cause: errRestoring}
		case err != nil && (err.Kind != KindState || !n.Wait):
			return nil, err
		}
		if err := c.awaitSession(ctx, n.Method, n.By, false); err != nil {
			return nil, err
		}
	}
}

// lost reports to the machine that the connection of s is closed because of err, and returns the reason. If the session
// has already ended, lost reports the same reason that the reader is about to report.
func (c *Conn) lost(s *Session, err error) error {
	if over := context.Cause(s.Ctx); over != nil {
		err = failureOf(over, machine.TransportDown).err
	}
	c.step(machine.Input{Event: machine.TransportDown, Epoch: s.Epoch}, &fact{err: err})
	if now := c.Status(); now.Epoch == s.Epoch && now.Err != nil {
		err = now.Err
	}
	return fmt.Errorf("%w: %w", ErrConnectionLost, err)
}

// sendNotice sends a notification in session s. If why is s and the connection is closed, sendNotice finds out why. If
// why is nil, the caller does that itself.
func (c *Conn) sendNotice(ctx context.Context, s *Session, op *instrument.Op, n *Notice, why *Session) *Fault {
	trace := traceOf(op)
	frame, err := n.Encode(s, &trace.TraceContext)
	switch {
	case err != nil:
		op.Admit(s.Peer, 0)
		return &Fault{Kind: KindInvalid, Op: n.Method, Unsent: true, Cause: err}
	case frame == nil:
		return nil
	}
	op.Admit(s.Peer, 0)
	o := outgoing{
		Message: transport.Message{
			Data: frame, Kind: transport.KindNotification, Method: n.Method,
			ProtocolVersion: string(cmp.Or(n.Version, s.Version)),
		},
		op: op, session: why,
	}
	trace.tell(&o.Message)
	if n.WaitForRoom {
		o.room = inLine
	}
	return c.noticeFault(ctx, s, n.Method, c.send(ctx, s.Link, &o))
}

// noticeFault returns the fault for a notification that failed with err. It returns nil if err is nil.
func (c *Conn) noticeFault(ctx context.Context, s *Session, method string, err error) *Fault {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, transport.ErrBusy):
		err = busyAfter(1)
	case ctx.Err() != nil:
		return (&Request{Method: method}).left(ctx)
	case s.Ctx.Err() != nil && c.Status().State == connstate.Closing:
		return &Fault{Kind: KindShutdown, Op: method, Unsent: true, Cause: ErrShutdown}
	}
	return notSent(method, err)
}

// notSent returns the fault for a message that the transport did not accept.
func notSent(method string, err error) *Fault {
	return &Fault{Kind: KindTransport, Op: method, Unsent: true, Cause: err}
}

func encodeNotification(method string, params any, meta jsonrpc.Meta) ([]byte, error) {
	var raw []byte
	if params != nil {
		var err error
		if raw, err = mcp.AppendParams(nil, params); err == nil {
			err = given.CheckEncoded(params, raw)
		}
		if err != nil {
			return nil, err
		}
	}
	return jsonrpc.AppendNotification(nil, method, meta, raw)
}

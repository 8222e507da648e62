package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/internal/machine"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// notify is [Client.Notify].
func (c *core) notify(ctx context.Context, method string, params any) *fault {
	ctx, op := c.tel.StartRequest(ctx, instrument.Request{Method: method, Notification: true})
	defer op.End(brokenOff)
	s, err := c.admitted(method)
	if err == nil {
		err = c.sendNotification(ctx, s, &op, method, params)
	}
	if err != nil && errors.Is(err, transport.ErrClosed) {
		err.Cause = c.awaitLoss(ctx, s, err.Cause)
	}
	op.End(err.result())
	return err
}

// awaitLoss is lost, for which the reader of the connection gets a moment to say why: it knows, and mostly is about to.
func (c *core) awaitLoss(ctx context.Context, s *session, err error) error {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-s.ctx.Done():
	case <-ctx.Done():
	case <-t.C:
	}
	return c.lost(s, err)
}

// lost tells the machine that the connection of s takes nothing any more, which is why err came, and returns the
// reason. If the session has ended, the machine is about to hear why from elsewhere, and hears the same here.
func (c *core) lost(s *session, err error) error {
	if over := context.Cause(s.ctx); over != nil {
		err = failureOf(over, machine.TransportDown).err
	}
	c.step(machine.Input{Event: machine.TransportDown, Epoch: s.epoch}, &fact{err: err})
	if now := c.status(); now.Epoch == s.epoch && now.Err != nil {
		err = now.Err
	}
	return fmt.Errorf("%w: %w", errConnectionLost, err)
}

// sendNotification sends a notification in session s.
func (c *core) sendNotification(ctx context.Context, s *session, op *instrument.Op, method string, params any) *fault {
	op.Admit(s.peer, 0)
	trace := traceOf(op)
	frame, err := encodeNotification(method, params, trace.meta(s.noticeMeta()))
	if err != nil {
		return &fault{Kind: kindInvalid, Op: method, Unsent: true, Cause: err}
	}
	m := transport.Message{
		Data: frame, Kind: transport.Notification, Method: method, ProtocolVersion: string(s.version),
	}
	trace.tell(&m)
	err = s.conn.Send(ctx, m)
	switch {
	case err == nil:
		op.Sent(len(frame))
		return nil
	case errors.Is(err, transport.ErrBusy):
		err = busyAfter(1)
	case ctx.Err() != nil:
		return (&request{method: method}).left(ctx)
	case s.ctx.Err() != nil && c.status().State == connstate.Closing:
		return &fault{Kind: kindShutdown, Op: method, Unsent: true, Cause: errShutdown}
	}
	return &fault{Kind: kindTransport, Op: method, Unsent: true, Cause: err}
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

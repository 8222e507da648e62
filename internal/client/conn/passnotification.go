package conn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// PassNotification sends a notification for another peer. It waits for a session until by, and for room in the
// transport. In a session in which the client has sent notifications/initialized for that peer, it sends no other.
func (c *Conn) PassNotification(ctx context.Context, method string, params *PassedParams, by time.Time) *Fault {
	ctx, op := c.Telemetry.StartRequest(ctx, instrument.Request{Method: method, Notification: true})
	defer op.End(BrokenOff)
	s, err := c.admittedBy(ctx, method, by)
	if err == nil {
		err = c.passNotification(ctx, s, &op, method, params)
	}
	if err != nil && errors.Is(err, transport.ErrClosed) {
		err.Cause = c.awaitLoss(ctx, s, err.Cause)
	}
	op.End(err.Result())
	return err
}

func (c *Conn) passNotification(ctx context.Context, s *Session, op *instrument.Op, method string, p *PassedParams,
) *Fault {
	if method == mcp.NotificationInitialized && s.confirmed {
		return nil
	}
	op.Admit(s.Peer, 0)
	trace := traceOf(op)
	frame := append([]byte(nil), `{"jsonrpc":"2.0","method":`...)
	frame = p.append(jsonscan.AppendString(frame, method), &trace.TraceContext)
	m := transport.Message{Data: frame, Kind: transport.Notification, Method: method,
		ProtocolVersion: string(cmp.Or(p.Version(), s.Version))}
	trace.tell(&m)
	return c.notified(ctx, s, op, &m, s.sendInLine(ctx, m))
}

// admittedBy returns the present session, or the next one if there is one before by, zero for whenever.
func (c *Conn) admittedBy(ctx context.Context, op string, by time.Time) (*Session, *Fault) {
	for {
		s, err := c.Admitted(op)
		switch {
		case err == nil && s.admits():
			return s, nil
		case err != nil && err.Kind != KindState:
			return nil, err
		}
		if err := c.AwaitReady(ctx, op, by); err != nil {
			return nil, err
		}
		if err := c.awaitOpen(ctx, op, by); err != nil {
			return nil, err
		}
	}
}

// errRestoring is why a request has to wait that is not the client's own.
var errRestoring = fmt.Errorf("%w, it brings the server back to where the session before was lost", ErrNotReady)

// awaitOpen waits until the present session, if there is one, is open to all.
func (c *Conn) awaitOpen(ctx context.Context, op string, by time.Time) *Fault {
	s := c.Present()
	if s.held == nil {
		return nil
	}
	if !by.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, by, ErrTimeout)
		defer cancel()
	}
	select {
	case <-s.held:
	case <-s.Ctx.Done():
	case <-ctx.Done():
		err := Outlived(ctx, op, true)
		err.Cause = fmt.Errorf("%w: %w", errRestoring, context.Cause(ctx))
		return err
	}
	return nil
}

// admits reports whether others than the client's own requests may be made in s.
func (s *Session) admits() bool {
	if s.held == nil {
		return true
	}
	select {
	case <-s.held:
		return true
	default:
		return false
	}
}

// Open lets all requests be made in s, once.
func (s *Session) Open() {
	if s.held != nil {
		close(s.held)
	}
}

// Open reports whether there is a session that is open to all.
func (c *Conn) Open() bool {
	s := c.Present()
	return s != NoSession && s.admits()
}

// sendInLine sends a message when there is room for it in the transport, behind those that wait for the same.
func (s *Session) sendInLine(ctx context.Context, m transport.Message) error {
	var p *place
	defer func() { s.in.line.leave(p) }()
	for {
		err := transport.ErrBusy
		if p != nil || s.in.line.empty() {
			err = s.Conn.Send(ctx, m)
		}
		if !errors.Is(err, transport.ErrBusy) {
			return err
		}
		if p != nil {
			if !PauseFor(ctx, RoomEvery) {
				return context.Cause(ctx)
			}
		} else {
			p = s.in.line.enter()
		}
		select {
		case <-p.first:
		case <-s.Ctx.Done():
			return fmt.Errorf("%w: %w", transport.ErrClosed, context.Cause(s.Ctx))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

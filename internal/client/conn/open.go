package conn

import (
	"context"
	"fmt"
	"time"
)

// awaitSession waits for a session until by, zero for no end, and, unless it is for a request of the client's own,
// until the session is open to all.
func (c *Conn) awaitSession(ctx context.Context, op string, by time.Time, own bool) *Fault {
	if err := c.AwaitReady(ctx, op, by); err != nil || own {
		return err
	}
	return c.awaitOpen(ctx, op, by)
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

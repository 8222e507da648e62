package conn

import (
	"context"
	"fmt"
	"time"
)

// awaitSession waits for a session until by, zero for no deadline. For a request that is not the client's own, it
// also waits until the session is open to all requests.
func (c *Conn) awaitSession(ctx context.Context, op string, by time.Time, own bool) *Fault {
	if err := c.AwaitReady(ctx, op, by); err != nil || own {
		return err
	}
	return c.awaitOpen(ctx, op, by)
}

// errRestoring is why a request of the user must wait.
var errRestoring = fmt.Errorf("%w, it is restoring the state of the lost session", ErrNotReady)

// awaitOpen waits until the present session, if there is one, is open to all requests.
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

// admits reports whether requests other than the client's own may be made in s.
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

// Open opens s to all requests. It is called once.
func (s *Session) Open() {
	if s.held != nil {
		close(s.held)
	}
}

// Open reports whether there is a session that is open to all requests.
func (c *Conn) Open() bool {
	s := c.Present()
	return s != NoSession && s.admits()
}

package conn

import (
	"context"
	"fmt"
	"time"
)

// awaitSession waits until there is a session. by is the deadline; zero means none. Unless the request is the client's
// own, awaitSession also waits until the session is open to all requests.
func (c *Conn) awaitSession(ctx context.Context, op string, by time.Time, own bool) *Fault {
	if err := c.AwaitReady(ctx, op, by); err != nil || own {
		return err
	}
	return c.awaitOpen(ctx, op, by)
}

// errRestoring is the reason why a request of the user must wait.
var errRestoring = fmt.Errorf("%w: it is still restoring the state of the lost session", ErrNotReady)

// awaitOpen waits until the present session, if there is one, is open to all requests or has ended.
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

// admits reports whether requests other than the client's own are allowed in s.
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

// Open opens s to all requests. It must be called only once.
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

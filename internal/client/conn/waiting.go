package conn

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/health"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Status is the connection state of a core, with the reason and time of its last change.
type Status struct {
	State   connstate.State
	Reason  connstate.Reason // why this state was entered
	Since   time.Time        // when this state was entered
	Epoch   uint64           // number of the connection, counted from 1
	Attempt int              // failed or running attempts to connect since the client was last ready
	Err     error            // why the last attempt or connection failed; nil when ready
}

// Status returns the connection state, with the reason and time of its last change.
func (c *Conn) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Status{
		State: c.m.State, Reason: c.m.Reason, Since: c.m.Since, Epoch: c.m.Epoch, Attempt: c.m.Attempt, Err: c.lastErr,
	}
}

// Health returns the state of the connection for a probe. name is the name of the client.
func (c *Conn) Health(name string) health.Connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return health.Connection{
		Name: name, State: health.StateOf(c.m.State), Reason: c.m.Reason, Since: c.m.Since.UTC(), Attempt: c.m.Attempt,
		Draining: c.draining,
	}
}

// WaitFor waits until the core is in state s. It returns an error as soon as the core can no longer reach s.
func (c *Conn) WaitFor(ctx context.Context, s connstate.State) *Fault {
	c.mu.Lock()
	if c.m.State == s {
		c.mu.Unlock()
		return nil
	}
	if c.m.State == connstate.Closing {
		defer c.mu.Unlock()
		return c.shutdownError(opAwait)
	}
	w := &waiter{want: s, heard: make(chan connstate.State, 1)}
	c.waiters = append(c.waiters, w)
	c.mu.Unlock()

	select {
	case got := <-w.heard:
		return c.awaited(got, s)
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.waiters, w); i >= 0 {
		c.waiters = slices.Delete(c.waiters, i, i+1)
		return c.impatient(ctx)
	}
	return c.awaitedLocked(<-w.heard, s)
}

func (c *Conn) awaited(got, want connstate.State) *Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.awaitedLocked(got, want)
}

func (c *Conn) awaitedLocked(got, want connstate.State) *Fault {
	if got == want {
		return nil
	}
	return c.shutdownError(opAwait)
}

// opAwait is the Op of a wait for a state. Error texts omit it, because users do not know it.
const opAwait = "await"

// impatient returns the error of a wait whose context ended before the state was reached.
func (c *Conn) impatient(ctx context.Context) *Fault {
	why := context.Cause(ctx)
	condition, late := fmt.Errorf("%w: %w", ErrNotReady, why), "in time"
	if why != ErrTimeout { // the caller set this cause
		late = "before the caller's context ended (" + why.Error() + ")"
	}
	err := tell(condition, "client is not ready %s: it is still %s", late, doing(c.m.State))
	if c.lastErr != nil {
		err = tell(condition, "client is not ready %s; the last attempt to connect failed: %w", late, c.lastErr)
	}
	return &Fault{Kind: KindState, Op: opAwait, Unsent: true, Cause: err}
}

// doing describes what the client does in a state other than ready.
func doing(s connstate.State) string {
	switch s {
	case connstate.Starting:
		return "opening a connection"
	case connstate.Initializing:
		return "negotiating the protocol version"
	case connstate.Backoff:
		return "waiting for its next attempt to connect"
	}
	return s.String()
}

// shutdownError returns the error for an operation of a closing client. The caller holds mu.
func (c *Conn) shutdownError(op string) *Fault {
	err := error(ErrShutdown)
	switch {
	case c.refusal != nil && op == opAwait:
		err = tell(ErrShutdown, "%w", c.refusal) // the caller of Connect waited for this reason
	case c.refusal != nil:
		err = &gaveUpError{c.refusal}
	}
	return &Fault{Kind: KindShutdown, Op: op, Unsent: true, Cause: err}
}

// gaveUpError is the [ErrShutdown] of a client that has given up.
type gaveUpError struct{ why error }

func (e *gaveUpError) Error() string   { return e.why.Error() + "; the client has given up" }
func (e *gaveUpError) Unwrap() []error { return []error{ErrShutdown, e.why} }

// waiter waits for a state. The client notifies it with the core's mutex held, so it misses no state.
type waiter struct {
	want  connstate.State
	heard chan connstate.State // receives one state; capacity 1
}

// hear passes the entered state to w, if w waits for it. It reports whether w is done.
func (w *waiter) hear(s connstate.State) bool {
	if s != w.want && s != connstate.Closing {
		return false
	}
	w.heard <- s
	return true
}

var NoSession = &Session{Said: &Said{}}

// Present returns the present session. It returns NoSession if the client is not ready.
func (c *Conn) Present() *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return NoSession
	}
	return c.session
}

package mcpclient

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// coreStatus has the fields of [Status].
type coreStatus struct {
	State   connstate.State
	Reason  connstate.Reason // why this state was entered
	Since   time.Time        // when
	Epoch   uint64           // numbers the connections, from 1
	Attempt int              // attempts to connect since the client was last ready
	Err     error            // why the last attempt or connection failed; nil when ready
}

// status is the core's state with what is known about it.
func (c *core) status() coreStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	return coreStatus{
		State: c.m.State, Reason: c.m.Reason, Since: c.m.Since, Epoch: c.m.Epoch, Attempt: c.m.Attempt, Err: c.lastErr,
	}
}

// waitFor is [Client.WaitForState].
func (c *core) waitFor(ctx context.Context, s connstate.State) *fault {
	c.mu.Lock()
	if c.m.State == s {
		c.mu.Unlock()
		return nil
	}
	if c.m.State == connstate.Closing {
		defer c.mu.Unlock()
		return c.shutdownError("await")
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

func (c *core) awaited(got, want connstate.State) *fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.awaitedLocked(got, want)
}

func (c *core) awaitedLocked(got, want connstate.State) *fault {
	if got == want {
		return nil
	}
	return c.shutdownError("await")
}

// impatient returns the error for a ctx that ended before the state came.
func (c *core) impatient(ctx context.Context) *fault {
	err := fmt.Errorf("%w: still %s: %w", errNotReady, c.m.State, context.Cause(ctx))
	if c.lastErr != nil {
		err = fmt.Errorf("%w; last failure: %w", err, c.lastErr)
	}
	return &fault{Kind: kindState, Op: "await", Unsent: true, Cause: err}
}

// shutdownError returns the error for what a closing client cannot do any more. It is called with mu held.
func (c *core) shutdownError(op string) *fault {
	err := error(errShutdown)
	if c.refusal != nil {
		err = &gaveUpError{c.refusal}
	}
	return &fault{Kind: kindShutdown, Op: op, Unsent: true, Cause: err}
}

// gaveUpError is [ErrShutdown] of a client that nobody has stopped.
type gaveUpError struct{ why error }

func (e *gaveUpError) Error() string   { return "the client gave up: " + e.why.Error() }
func (e *gaveUpError) Unwrap() []error { return []error{errShutdown, e.why} }

// waiter waits for a state. The client hears it under its mutex, so that it misses none.
type waiter struct {
	want  connstate.State
	heard chan connstate.State // of one element, filled once
}

// hear tells w the state that has been entered, and reports whether that was all it waited for.
func (w *waiter) hear(s connstate.State) bool {
	if s != w.want && s != connstate.Closing {
		return false
	}
	w.heard <- s
	return true
}

var noSession = &session{}

// present returns the present session, an empty one if the client is not ready.
func (c *core) present() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return noSession
	}
	return c.session
}

package mcpclient

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Status is a client's state with what is known about it.
type Status struct {
	State   connstate.State
	Reason  connstate.Reason // why this state was entered
	Since   time.Time        // when
	Epoch   uint64           // numbers the connections, from 1
	Attempt int              // attempts to connect since the client was last ready
	Err     error            // why the last attempt or connection failed; nil when ready
}

// State returns the client's state. A client that has ended stays [connstate.Closing].
func (c *Client) State() connstate.State { return c.status().State }

// Status returns the client's state with what is known about it.
func (c *Client) Status() Status { return c.status() }

func (c *core) status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Status{
		State: c.m.State, Reason: c.m.Reason, Since: c.m.Since, Epoch: c.m.Epoch, Attempt: c.m.Attempt, Err: c.lastErr,
	}
}

// Await waits until the client is ready. It returns an error of kind [kindState] if ctx ends first, and of kind
// [kindShutdown] if the client was stopped or gave up; both wrap why the last attempt failed.
func (c *Client) Await(ctx context.Context) error { return c.WaitForState(ctx, connstate.Ready) }

// WaitForState waits until the client is in state s, or passes through it, however briefly. It returns an error of kind
// [kindState] if ctx ends first, and of kind [kindShutdown] if s is not [connstate.Closing] and the client is closing.
func (c *Client) WaitForState(ctx context.Context, s connstate.State) error {
	if err := c.waitFor(ctx, s); err != nil {
		return errorOf(err)
	}
	return nil
}

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

// ServerInfo returns how the server introduced itself; the zero value if the client is not ready. Servers are not
// obliged to tell the truth.
func (c *Client) ServerInfo() mcp.Implementation { return c.present().server }

// ServerCapabilities returns what the server declared; the zero value if the client is not ready.
func (c *Client) ServerCapabilities() mcp.ServerCapabilities { return c.present().capabilities }

// ProtocolVersion returns the version in use, empty if the client is not ready.
func (c *Client) ProtocolVersion() mcp.Version { return c.present().version }

// Instructions returns what the server says to models about its use, empty if it says nothing or the client is not ready.
func (c *Client) Instructions() string { return c.present().instructions }

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

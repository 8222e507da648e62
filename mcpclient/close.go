package mcpclient

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// Shutdown prevents new operations, waits until the operations in flight have ended, and then closes the client as
// [Client.Close] does. New calls fail with [ErrShutdown], unsent. An operation includes everything that a call leads
// to, such as rounds of input, the pages of a list, or the wait for a task. Until the client is closed, it still allows
// requests about an earlier [Task], and [Client.Notify].
//
// If ctx ends first, Shutdown closes the client at once, which ends the operations, and returns the cause of ctx. Any
// goroutine may call Shutdown, also repeatedly, except from inside an operation, which would wait for itself.
func (c *Client) Shutdown(ctx context.Context) error {
	c.core.Drain()
	err := c.operations.wait(ctx)
	_ = c.Close() // Close always returns nil
	return err
}

// Shutdown shuts down the clients of all members concurrently, as [Client.Shutdown] does. The group accepts no further
// members. Each error is a [*MemberError].
func (g *Group) Shutdown(ctx context.Context) error {
	return g.end(func(c *Client) error { return c.Shutdown(ctx) })
}

// Close closes the clients of all members concurrently, as [Client.Close] does. The group accepts no further members.
func (g *Group) Close() error { return g.end((*Client).Close) }

// end ends all members concurrently.
func (g *Group) end(end func(*Client) error) error {
	g.mu.Lock()
	g.closed = true
	members := slices.Clip(g.members)
	g.mu.Unlock()
	failed := make([]error, len(members))
	var ending sync.WaitGroup
	for i, m := range members {
		ending.Go(func() {
			if err := m.close(end); err != nil {
				failed[i] = &MemberError{m.name, err}
			}
		})
	}
	ending.Wait()
	return errors.Join(failed...)
}

// operations counts the users' operations in flight. An operation that is part of another operation is counted in
// addition to it.
type operations struct {
	n       atomic.Int64
	awaited atomic.Pointer[theirEnd] // created by the first goroutine that waits for the operations to end
}

// theirEnd wakes the goroutines that wait until no operation is in flight.
type theirEnd struct {
	mu   sync.Mutex
	none broadcast.Signal // guarded by mu
}

func (o *operations) enter() { o.n.Add(1) }

func (o *operations) leave() {
	if o.n.Add(-1) > 0 {
		return
	}
	if end := o.awaited.Load(); end != nil {
		end.mu.Lock()
		defer end.mu.Unlock()
		end.none.Send()
	}
}

// wait waits until no operation is in flight, or until ctx ends.
func (o *operations) wait(ctx context.Context) error {
	// Set awaited before reading n: so either leave sees awaited, or wait sees the count that leave has lowered.
	o.awaited.CompareAndSwap(nil, new(theirEnd))
	end := o.awaited.Load()
	return end.none.Await(ctx, &end.mu, func() bool { return o.n.Load() == 0 })
}

// goesOn marks a call as part of an operation that has already begun.
func goesOn(a *asked) { a.GoesOn = true }

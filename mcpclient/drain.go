package mcpclient

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// Drain prevents new operations, and waits until those in flight have ended: new calls fail with [ErrShutdown],
// unsent. An operation includes all that a call leads to, such as its rounds of input, the pages of a list, or a
// task that it waits for. Requests about an earlier [Task] are still allowed, and so is [Client.Notify]. The
// connection stays open; after Drain call [Client.Stop], which ends the rest:
//
//	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
//	defer cancel()
//	err := client.Drain(ctx) // of interest to the log
//	client.Stop(ctx)
//
// It returns the cause of ctx if that ends first. A drained client never accepts calls again. Drain may be called
// more than once, and from any goroutine except that of an operation, which would wait for itself.
func (c *Client) Drain(ctx context.Context) error {
	c.core.Drain()
	return c.operations.wait(ctx)
}

// Drain drains the clients of all members concurrently, as [Client.Drain] does. Each error is a [*MemberError].
func (g *Group) Drain(ctx context.Context) error {
	g.mu.Lock()
	members := g.members[:len(g.members):len(g.members)]
	g.mu.Unlock()
	errs := make([]error, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() {
			if err := m.client.Drain(ctx); err != nil {
				errs[i] = &MemberError{m.name, err}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// operations counts the users' operations in flight. One may count twice: by itself, and as a part of another.
type operations struct {
	n       atomic.Int64
	awaited atomic.Pointer[theirEnd] // created by the first goroutine that waits for the end
}

// theirEnd wakes goroutines that wait until no operation is left.
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

// wait waits until no operation is left.
func (o *operations) wait(ctx context.Context) error {
	// This precedes the read of n: either leave sees the value, or wait sees the effect of leave.
	o.awaited.CompareAndSwap(nil, new(theirEnd))
	end := o.awaited.Load()
	return end.none.Await(ctx, &end.mu, func() bool { return o.n.Load() == 0 })
}

// goesOn marks a call that belongs to an operation that has begun.
func goesOn(a *asked) { a.GoesOn = true }

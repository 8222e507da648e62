package web

import (
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
)

// statelessCalls is the table of running stateless requests. Each request runs in the goroutine of its HTTP request.
type statelessCalls struct {
	total *quota.Limiter // limits the requests of all clients

	mu     sync.Mutex
	live   map[*rpc.Call]struct{} // guarded by mu
	moved  broadcast.Signal       // guarded by mu; sent when a request is answered
	closed bool                   // guarded by mu
}

func (t *statelessCalls) Admit(c *rpc.Call) error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return errStopping
	}
	if !t.total.Acquire(0) {
		t.mu.Unlock()
		return rpc.ErrOverloaded
	}
	t.live[c] = struct{}{}
	t.mu.Unlock()
	c.OnReader = true
	return nil
}

func (t *statelessCalls) Release() {
	t.total.Release(1)
	t.total.StartWaiting()
}

// Dismiss cancels the contexts of all stateless requests with the given method.
func (h *Handler) Dismiss(method string, why error) {
	for c := range h.StatelessCalls {
		if m, _ := c.Handler.About(); m == method {
			c.Cancel(why)
		}
	}
}

// StatelessCalls yields the calls of stateless requests. No call ends during the iteration.
func (h *Handler) StatelessCalls(yield func(*rpc.Call) bool) {
	t := &h.stateless
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.live {
		if !yield(c) {
			return
		}
	}
}

// Finish returns an error if c gets no answer because its client has closed the response. Closing the response is how a
// modern client cancels. The context of a legacy request does not end with the connection.
func (t *statelessCalls) Finish(c *rpc.Call) error {
	t.mu.Lock()
	delete(t.live, c)
	t.moved.Send()
	t.mu.Unlock()
	if c.Exchange.Work.Err() == context.Canceled { // after a middleware's deadline, the client still waits
		return rpc.ErrCancelled
	}
	return nil
}

// close rejects new requests and cancels the contexts of the remaining ones.
func (t *statelessCalls) close(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for c := range t.live {
		c.Cancel(why)
	}
}

// wait waits until no request is left or ctx ends. A subscription may run a moment longer than its HTTP request.
func (t *statelessCalls) wait(ctx context.Context) {
	_ = t.moved.Await(ctx, &t.mu, func() bool { return len(t.live) == 0 })
}

// size returns the number of running requests.
func (t *statelessCalls) size() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int64(len(t.live))
}

// Find and Cancel do nothing, because request ids are unique only within one client, and this table serves many
// clients.

func (t *statelessCalls) Find(jsonrpc.ID) *rpc.Call { return nil }
func (t *statelessCalls) Cancel(jsonrpc.ID, error)  {}

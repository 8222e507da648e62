package web

import (
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
)

// statelessCalls admits stateless requests. The goroutine that brings a request serves it.
type statelessCalls struct {
	total *quota.Limiter // over all clients

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

// Dismiss ends the contexts of stateless requests by a method.
func (h *Handler) Dismiss(method string, why error) {
	for c := range h.StatelessCalls {
		if m, _ := c.Handler.About(); m == method {
			c.Cancel(why)
		}
	}
}

// StatelessCalls yields the calls of stateless requests. None of them ends meanwhile.
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

// Finish reports that c gets no answer if its client has closed the response, which is how a modern one cancels. The
// context of any other does not end with the connection.
func (t *statelessCalls) Finish(c *rpc.Call) error {
	t.mu.Lock()
	delete(t.live, c)
	t.moved.Send()
	t.mu.Unlock()
	if c.Exchange.Work.Err() == context.Canceled { // a deadline would be that of a middleware, and the client waits
		return rpc.ErrCancelled
	}
	return nil
}

// close ends the contexts of those who are left.
func (t *statelessCalls) close(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for c := range t.live {
		c.Cancel(why)
	}
}

// wait waits until all are answered or ctx ends. When a client goes, the goroutine that has brought its subscription
// may leave a moment before that is concluded.
func (t *statelessCalls) wait(ctx context.Context) {
	_ = t.moved.Await(ctx, &t.mu, func() bool { return len(t.live) == 0 })
}

// size returns how many there are.
func (t *statelessCalls) size() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int64(len(t.live))
}

// What concerns ids means nothing here: they are the client's, and there are many clients.

func (t *statelessCalls) Find(jsonrpc.ID) *rpc.Call { return nil }
func (t *statelessCalls) Cancel(jsonrpc.ID, error)  {}

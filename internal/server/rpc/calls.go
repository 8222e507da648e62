package rpc

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Admission admits the requests of an exchange, and tracks them until they are answered.
type Admission interface {
	// Admit admits a request, or returns the error that refuses it. Admit starts the request in a goroutine of the
	// group, immediately or later, unless OnReader is set afterwards: then the caller serves the request. Admit clears
	// OnReader if the request has to wait. A request with InOrder never waits.
	Admit(c *Call) error
	// Find returns the admitted request with this id, or nil.
	Find(id jsonrpc.ID) *Call
	// Finish removes a request. It returns the reason why the request gets no answer, or nil if it gets one.
	Finish(c *Call) error
	// Cancel cancels the request with this id. The client gets no answer, and why is the cause of the handler's context.
	Cancel(id jsonrpc.ID, why error)
	// Release releases the place of a request.
	Release()
}

// liveFrames limits the total size of the frames of a client's running and waiting requests, as a multiple of
// FrameLimit. Requests beyond the limit are refused. They cannot stay unread, because cancellations and answers for
// waiting handlers follow them on the same stream.
const liveFrames = 4

// Calls admits the requests of one client. It limits the number of running requests, the number of waiting requests and
// the total size of their frames, and refuses an id that is in use.
type Calls struct {
	limit    int // maximum number of running requests
	queue    int // maximum number of waiting requests
	capacity int // maximum total size of all frames in bytes; a single frame may exceed it
	group    *Group
	total    *quota.Limiter // limits the running requests of all clients

	mu      sync.Mutex
	live    map[jsonrpc.ID]*Call // guarded by mu; running and waiting requests
	running int                  // guarded by mu
	waiting []*Call              // guarded by mu; in order of arrival
	bytes   int                  // guarded by mu; total size of the frames of live
	closed  error                // guarded by mu; the error that refuses requests; nil before Close
	idle    broadcast.Signal     // guarded by mu; sent when no request runs
}

// NewCalls returns an Admission for one client. limit and queue are the maximum numbers of
// running and waiting requests.
func NewCalls(limit, queue, frameLimit int, g *Group, total *quota.Limiter) *Calls {
	return &Calls{
		limit: limit, queue: queue, capacity: liveFrames * frameLimit, group: g, total: total,
		live: map[jsonrpc.ID]*Call{},
	}
}

// Confine limits the number of running and waiting requests together.
func (t *Calls) Confine(n int) {
	t.limit = min(t.limit, n)
	t.queue = min(t.queue, n-t.limit)
}

// Admit implements [Admission].
func (t *Calls) Admit(c *Call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, taken := t.live[c.ID]
	switch {
	case t.closed != nil:
		return t.closed
	case taken:
		return errDuplicateID
	case len(t.live) > 0 && c.Size > t.capacity-t.bytes:
		return ErrBusy
	case len(t.waiting) == 0 && t.running < t.limit && t.total.Acquire(t.running):
		t.running++
		if !c.OnReader {
			t.group.Start(c)
		}
	case t.running == 0: // no running request is left to start this one
		return ErrOverloaded
	case len(t.waiting) < t.queue && !c.InOrder:
		c.OnReader = false
		t.waiting = append(t.waiting, c)
		t.catchUp()
	default:
		return ErrBusy
	}
	t.live[c.ID] = c
	t.bytes += c.Size
	return nil
}

// Each calls the function see for each request. It returns how many requests are running and waiting, and the total
// size of their frames.
func (t *Calls) Each(see func(c *Call, waiting, cancelled bool)) (running, waiting, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	queued := make(map[*Call]bool, len(t.waiting))
	for _, w := range t.waiting {
		queued[w] = true
	}
	for _, c := range t.live {
		see(c, queued[c], c.cancelled != nil)
	}
	return t.running, len(t.waiting), t.bytes
}

// Usage yields the number of running requests, the number of waiting requests and the size of their frames, each with
// its limit.
func (t *Calls) Usage(yield YieldUsage) {
	t.mu.Lock()
	running, waiting, bytes := t.running, len(t.waiting), t.bytes
	t.mu.Unlock()
	yield(names.CapacityRequest, running, t.limit)
	yield(names.CapacityQueue, waiting, t.queue)
	yield(names.MemoryFrame, bytes, t.capacity)
}

// YieldUsage receives how much of a resource is in use, and the limit of the resource.
type YieldUsage = func(kind string, used, limit int)

// Find implements [Admission].
func (t *Calls) Find(id jsonrpc.ID) *Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live[id]
}

// Busy reports whether more requests are running than but, the number of requests to ignore.
func (t *Calls) Busy(but int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running > but
}

// Release implements [Admission]. The next waiting request gets the place.
func (t *Calls) Release() {
	defer t.total.StartWaiting()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case len(t.waiting) == 0:
		t.total.Release(t.running)
		if t.running--; t.running == 0 {
			t.idle.Send()
		}
		return
	case t.total.Keep(t.running):
		t.next()
	default:
		t.running--
	}
	t.catchUp()
}

// Drain waits until no request is running or patience has passed. It reports whether no request is running.
func (t *Calls) Drain(patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return t.idle.Await(ctx, &t.mu, func() bool { return t.running == 0 }) == nil
}

// All returns the running and waiting requests.
func (t *Calls) All() []*Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.live))
}

// catchUp starts waiting requests while there are free places. mu is held.
func (t *Calls) catchUp() {
	for len(t.waiting) > 0 && t.running < t.limit && t.total.AcquireFor(t, t.running) {
		t.running++
		t.next()
	}
}

// StartWaiting starts waiting requests while there are free places.
func (t *Calls) StartWaiting() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
}

// next starts the request that has waited longest. mu is held.
func (t *Calls) next() {
	c := t.waiting[0]
	t.waiting[0] = nil
	t.waiting = t.waiting[1:]
	t.group.Start(c)
}

// Finish implements [Admission]. It releases the id of the request.
func (t *Calls) Finish(c *Call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live[c.ID] == c {
		t.remove(c)
	}
	return c.cancelled
}

// Cancel implements [Admission]. It ends the context of a running handler; a waiting request never starts.
func (t *Calls) Cancel(id jsonrpc.ID, why error) {
	t.mu.Lock()
	c := t.live[id]
	if c == nil || c.cancelled != nil {
		t.mu.Unlock()
		return
	}
	c.cancelled = why
	waited := t.withdraw(c)
	t.mu.Unlock()
	if waited {
		c.leave(why)
	} else {
		c.Cancel(why)
	}
}

// withdraw removes c from the queue, and reports whether c was in the queue. mu is held.
func (t *Calls) withdraw(c *Call) bool {
	i := slices.Index(t.waiting, c)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.remove(c)
	return true
}

// remove removes c from the live requests. mu is held.
func (t *Calls) remove(c *Call) {
	delete(t.live, c.ID)
	t.bytes -= c.Size
}

// Close gives up the waiting requests with the cause why, and refuses all later requests with refusal.
func (t *Calls) Close(why, refusal error) {
	t.mu.Lock()
	left := t.waiting
	t.waiting, t.closed = nil, refusal
	t.mu.Unlock()
	t.total.Forget(t)
	for _, c := range left {
		c.leave(why)
	}
}

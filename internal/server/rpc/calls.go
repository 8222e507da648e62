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

// Admission admits the requests of an exchange, and knows them until they are answered.
type Admission interface {
	// Admit admits a request, or returns the error that refuses it. It starts the request in a goroutine of the group,
	// now or later, unless OnReader is set: then the caller serves the request. Admit clears OnReader of a request that
	// has to wait, and may set it. A request in order never waits.
	Admit(c *Call) error
	// Find returns the admitted request with an id, nil for none.
	Find(id jsonrpc.ID) *Call
	// Finish removes a request, and returns why it gets no answer, nil if it gets one.
	Finish(c *Call) error
	// Cancel cancels the request with an id: the client gets no answer, and why is the cause.
	Cancel(id jsonrpc.ID, why error)
	// Release releases the place of a request.
	Release()
}

// liveFrames bounds the frames of a client's running and waiting requests, in units of the FrameLimit. Further requests
// are refused instead of left unread, because cancellations and answers that handlers wait for follow them on the same
// stream.
const liveFrames = 4

// Calls admits the requests of one client: it bounds the number of running requests, the number of waiting requests and
// the bytes of their frames, and refuses an id that is in use.
type Calls struct {
	limit    int // of running requests
	queue    int // of waiting requests
	capacity int // maximum bytes of all frames together, if there are several
	group    *Group
	total    *quota.Limiter // limits the running requests of all clients

	mu      sync.Mutex
	live    map[jsonrpc.ID]*Call // guarded by mu; running and waiting requests
	running int                  // guarded by mu
	waiting []*Call              // guarded by mu; in the order of their arrival
	bytes   int                  // guarded by mu; size of the frames of live
	closed  error                // guarded by mu; refuses requests; nil before Close
	idle    broadcast.Signal     // guarded by mu; sent when no request runs
}

// NewCalls returns an Admission for one client. limit bounds its running requests, and queue its waiting requests.
func NewCalls(limit, queue, frameLimit int, g *Group, total *quota.Limiter) *Calls {
	return &Calls{
		limit: limit, queue: queue, capacity: liveFrames * frameLimit, group: g, total: total,
		live: map[jsonrpc.ID]*Call{},
	}
}

// Confine bounds the number of running and waiting requests together.
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
	case t.running == 0: // no request would start it
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

// Each calls see for all requests, and returns how many are running and waiting, and the size of their frames.
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

// Usage yields the number of running and waiting requests, the size of their frames, and the bounds of these.
func (t *Calls) Usage(yield YieldUsage) {
	t.mu.Lock()
	running, waiting, bytes := t.running, len(t.waiting), t.bytes
	t.mu.Unlock()
	yield(names.CapacityRequest, running, t.limit)
	yield(names.CapacityQueue, waiting, t.queue)
	yield(names.MemoryFrame, bytes, t.capacity)
}

// YieldUsage gets the used amount and the limit of a resource.
type YieldUsage = func(kind string, used, limit int)

// Find implements [Admission].
func (t *Calls) Find(id jsonrpc.ID) *Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live[id]
}

// Busy reports whether the number of running requests is above but.
func (t *Calls) Busy(but int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running > but
}

// Release implements [Admission]: the next waiting request gets the place.
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

// Drain waits until no request runs or patience has passed, and reports whether none runs.
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

// catchUp starts waiting requests as long as there are places. mu is held.
func (t *Calls) catchUp() {
	for len(t.waiting) > 0 && t.running < t.limit && t.total.AcquireFor(t, t.running) {
		t.running++
		t.next()
	}
}

// StartWaiting starts waiting requests as long as there are places.
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

// Finish implements [Admission]. The id of the request is free again.
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

// withdraw removes c from the queue, and reports whether it was there. mu is held.
func (t *Calls) withdraw(c *Call) bool {
	i := slices.Index(t.waiting, c)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.remove(c)
	return true
}

// remove removes c, which is live. mu is held.
func (t *Calls) remove(c *Call) {
	delete(t.live, c.ID)
	t.bytes -= c.Size
}

// Close gives up the waiting requests with the cause why, and refuses new ones with refusal.
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

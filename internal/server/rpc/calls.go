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

// Admission decides when the requests of an exchange are served, and knows them until they are concluded.
type Admission interface {
	// Admit sees to it that c is served, before it returns or later, or returns the error that refuses it. A request that
	// is to be answered here may begin now, and the caller serves it; if not, that is no longer so.
	Admit(c *Call) error
	// Find returns the request with this id that was admitted and is not concluded, nil for none.
	Find(id jsonrpc.ID) *Call
	// Finish forgets c and returns the reason if it gets no answer.
	Finish(c *Call) error
	// Cancel notes that the client does not want an answer any more.
	Cancel(id jsonrpc.ID, why error)
	// Release is called by a request that was served in a goroutine of its own.
	Release()
}

// liveFrames is how many frames of the FrameLimit the requests may take that a client has running and waiting. Beyond
// that they are refused and not left unread: cancellations, and answers that handlers wait for, come behind them on the
// same stream.
const liveFrames = 4

// Calls are the requests of a client that are being answered: a bounded number runs, a bounded number waits for that,
// all have a budget in bytes, and no id is in use twice.
type Calls struct {
	limit    int // that run
	queue    int // that wait
	capacity int // how many bytes the frames of both may have together, if there is more than one
	group    *Group
	total    *quota.Limiter // over all clients

	mu      sync.Mutex
	live    map[jsonrpc.ID]*Call // guarded by mu; running and waiting
	running int                  // guarded by mu
	waiting []*Call              // guarded by mu; in the order of their arrival
	bytes   int                  // guarded by mu; of the frames of all in live
	closed  error                // guarded by mu
	idle    broadcast.Signal     // guarded by mu; sent when none runs
}

// NewCalls returns the calls of a client of which limit may run and queue may wait.
func NewCalls(limit, queue, frameLimit int, g *Group, total *quota.Limiter) *Calls {
	return &Calls{
		limit: limit, queue: queue, capacity: liveFrames * frameLimit, group: g, total: total,
		live: map[jsonrpc.ID]*Call{},
	}
}

// Confine lets no more than so many requests run and wait together.
func (t *Calls) Confine(n int) {
	t.limit = min(t.limit, n)
	t.queue = min(t.queue, n-t.limit)
}

// Admit sees to it that c is served, now or later, in a goroutine of its own, or returns the error that refuses it. If
// it is to be answered here, and now, that is left to the caller.
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
		if !c.Here {
			t.group.Start(c)
		}
	case t.running == 0: // nothing would ever begin it
		return ErrOverloaded
	case len(t.waiting) < t.queue:
		c.Here = false
		t.waiting = append(t.waiting, c)
		t.catchUp()
	default:
		return ErrBusy
	}
	t.live[c.ID] = c
	t.bytes += c.Size
	return nil
}

// Each shows all requests that are running or waiting to see, and returns how many there are and the bytes of their
// frames.
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

// Usage yields how many requests are running and waiting, the bytes of their frames, and the limits of these.
func (t *Calls) Usage(yield YieldUsage) {
	t.mu.Lock()
	running, waiting, bytes := t.running, len(t.waiting), t.bytes
	t.mu.Unlock()
	yield(names.CapacityRequest, running, t.limit)
	yield(names.CapacityQueue, waiting, t.queue)
	yield(names.MemoryFrame, bytes, t.capacity)
}

// YieldUsage takes how much of a limited resource is in use, and the limit.
type YieldUsage = func(kind string, used, limit int)

// Find returns the request with this id that is running or waiting, nil for none.
func (t *Calls) Find(id jsonrpc.ID) *Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live[id]
}

// Busy reports whether more requests than so many are running, or waiting for that.
func (t *Calls) Busy(but int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running > but
}

// Release gives the place of a request that has been served to the next one.
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

// Drain waits until none runs or so much time has passed, and reports whether none does.
func (t *Calls) Drain(patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return t.idle.Await(ctx, &t.mu, func() bool { return t.running == 0 }) == nil
}

// All returns those that are running or waiting.
func (t *Calls) All() []*Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.live))
}

// catchUp begins requests that wait for places which could not be had before. mu is held.
func (t *Calls) catchUp() {
	for len(t.waiting) > 0 && t.running < t.limit && t.total.AcquireFor(t, t.running) {
		t.running++
		t.next()
	}
}

// StartWaiting starts requests that wait, now that there may be places.
func (t *Calls) StartWaiting() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
}

// next begins the request that has waited longest. mu is held.
func (t *Calls) next() {
	c := t.waiting[0]
	t.waiting[0] = nil
	t.waiting = t.waiting[1:]
	t.group.Start(c)
}

// Finish takes c off the table: its id is free again. It returns the reason if c was cancelled and gets no answer.
func (t *Calls) Finish(c *Call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live[c.ID] == c {
		t.remove(c)
	}
	return c.cancelled
}

// Cancel notes that the client does not want an answer to the request id any more. A handler that runs is told so by
// its context, one that has not begun never does.
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

// withdraw takes c out of the queue and reports whether it was there. mu is held.
func (t *Calls) withdraw(c *Call) bool {
	i := slices.Index(t.waiting, c)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.remove(c)
	return true
}

// remove takes c off the table, which has it. mu is held.
func (t *Calls) remove(c *Call) {
	delete(t.live, c.ID)
	t.bytes -= c.Size
}

// Close gives up the requests that still wait, for a reason, and refuses all others with an error.
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

package mcpserver

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

// admission decides when the requests of an exchange are served, and knows them until they are concluded.
type admission interface {
	// admit sees to it that c is served, before it returns or later, or returns the error that refuses it. A request that
	// is to be answered here may begin now, and the caller serves it; if not, that is no longer so.
	admit(c *rpcCall) error
	// find returns the request with this id that was admitted and is not concluded, nil for none.
	find(id jsonrpc.ID) *rpcCall
	// finish forgets c and returns the reason if it gets no answer.
	finish(c *rpcCall) error
	// cancel notes that the client does not want an answer any more.
	cancel(id jsonrpc.ID, why error)
	// release is called by a request that was served in a goroutine of its own.
	release()
}

// liveFrames is how many frames of the FrameLimit the requests may take that a client has running and waiting. Beyond
// that they are refused and not left unread: cancellations, and answers that handlers wait for, come behind them on the
// same stream.
const liveFrames = 4

// calls are the requests of a client that are being answered: a bounded number runs, a bounded number waits for that,
// all have a budget in bytes, and no id is in use twice.
type calls struct {
	limit    int // that run
	queue    int // that wait
	capacity int // how many bytes the frames of both may have together, if there is more than one
	group    *group
	total    *quota.Limiter // over all clients

	mu      sync.Mutex
	live    map[jsonrpc.ID]*rpcCall // guarded by mu; running and waiting
	running int                     // guarded by mu
	waiting []*rpcCall              // guarded by mu; in the order of their arrival
	bytes   int                     // guarded by mu; of the frames of all in live
	closed  error                   // guarded by mu
	idle    broadcast.Signal        // guarded by mu; sent when none runs
}

// newCalls returns the calls of a client of which limit may run and queue may wait.
func newCalls(limit, queue, frameLimit int, g *group, total *quota.Limiter) *calls {
	return &calls{
		limit: limit, queue: queue, capacity: liveFrames * frameLimit, group: g, total: total,
		live: map[jsonrpc.ID]*rpcCall{},
	}
}

// confine lets no more than so many requests run and wait together.
func (t *calls) confine(n int) {
	t.limit = min(t.limit, n)
	t.queue = min(t.queue, n-t.limit)
}

// admit sees to it that c is served, now or later, in a goroutine of its own, or returns the error that refuses it. If
// it is to be answered here, and now, that is left to the caller.
func (t *calls) admit(c *rpcCall) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, taken := t.live[c.id]
	switch {
	case t.closed != nil:
		return t.closed
	case taken:
		return errDuplicateID
	case len(t.live) > 0 && c.size > t.capacity-t.bytes:
		return errBusy
	case len(t.waiting) == 0 && t.running < t.limit && t.total.Acquire(t.running):
		t.running++
		if !c.here {
			t.group.Start(c)
		}
	case t.running == 0: // nothing would ever begin it
		return errOverloaded
	case len(t.waiting) < t.queue:
		c.here = false
		t.waiting = append(t.waiting, c)
		t.catchUp()
	default:
		return errBusy
	}
	t.live[c.id] = c
	t.bytes += c.size
	return nil
}

// look shows all requests that are running or waiting to see, and returns how many there are and the bytes of their
// frames.
func (t *calls) look(see func(c *rpcCall, waiting, cancelled bool)) (running, waiting, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	queued := make(map[*rpcCall]bool, len(t.waiting))
	for _, w := range t.waiting {
		queued[w] = true
	}
	for _, c := range t.live {
		see(c, queued[c], c.cancelled != nil)
	}
	return t.running, len(t.waiting), t.bytes
}

// usage yields how many requests are running and waiting, the bytes of their frames, and the limits of these.
func (t *calls) usage(yield yieldUsage) {
	t.mu.Lock()
	running, waiting, bytes := t.running, len(t.waiting), t.bytes
	t.mu.Unlock()
	yield(names.CapacityRequest, running, t.limit)
	yield(names.CapacityQueue, waiting, t.queue)
	yield(names.MemoryFrame, bytes, t.capacity)
}

// yieldUsage takes how much of a limited resource is in use, and the limit.
type yieldUsage = func(kind string, used, limit int)

// find returns the request with this id that is running or waiting, nil for none.
func (t *calls) find(id jsonrpc.ID) *rpcCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live[id]
}

// busy reports whether more requests than so many are running, or waiting for that.
func (t *calls) busy(but int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running > but
}

// release gives the place of a request that has been served to the next one.
func (t *calls) release() {
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

// drain waits until none runs or so much time has passed, and reports whether none does.
func (t *calls) drain(patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return t.idle.Await(ctx, &t.mu, func() bool { return t.running == 0 }) == nil
}

// all returns those that are running or waiting.
func (t *calls) all() []*rpcCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.live))
}

// catchUp begins requests that wait for places which could not be had before. mu is held.
func (t *calls) catchUp() {
	for len(t.waiting) > 0 && t.running < t.limit && t.total.AcquireFor(t, t.running) {
		t.running++
		t.next()
	}
}

// StartWaiting starts requests that wait, now that there may be places.
func (t *calls) StartWaiting() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
}

// next begins the request that has waited longest. mu is held.
func (t *calls) next() {
	c := t.waiting[0]
	t.waiting[0] = nil
	t.waiting = t.waiting[1:]
	t.group.Start(c)
}

// finish takes c off the table: its id is free again. It returns the reason if c was cancelled and gets no answer.
func (t *calls) finish(c *rpcCall) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live[c.id] == c {
		t.remove(c)
	}
	return c.cancelled
}

// cancel notes that the client does not want an answer to the request id any more. A handler that runs is told so by
// its context, one that has not begun never does.
func (t *calls) cancel(id jsonrpc.ID, why error) {
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
		c.cancel(why)
	}
}

// withdraw takes c out of the queue and reports whether it was there. mu is held.
func (t *calls) withdraw(c *rpcCall) bool {
	i := slices.Index(t.waiting, c)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.remove(c)
	return true
}

// remove takes c off the table, which has it. mu is held.
func (t *calls) remove(c *rpcCall) {
	delete(t.live, c.id)
	t.bytes -= c.size
}

// close gives up the requests that still wait, for a reason, and refuses all others with an error.
func (t *calls) close(why, refusal error) {
	t.mu.Lock()
	left := t.waiting
	t.waiting, t.closed = nil, refusal
	t.mu.Unlock()
	t.total.Forget(t)
	for _, c := range left {
		c.leave(why)
	}
}

package transport

import (
	"math"

	"github.com/mcpotel/mcpotel/internal/grow"
	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/internal/workers"
)

// pool is a set of goroutines that do one exchange after the other, of all connections that share the client for an
// origin, or of one that has a client of its own.
type pool struct {
	*workers.Pool[*exchange, worker]
	origin *originClient // nil for that of one connection
	users  int           // guarded by origins.mu; connections
}

// worker has the buffers of one goroutine of a pool, used for one exchange after the other.
type worker struct {
	body   []byte      // for bodies of unknown length
	lately grow.Lately // of those
	events *sse.Reader // see eventsOf
	bound  frameBound  // of events
}

func newPool(o *originClient) *pool {
	return &pool{Pool: workers.New(0, math.MaxInt, (*exchange).run), origin: o}
}

// joinPool returns the pool of the connections that share o, or a new one if that is nil. The caller has to leave it.
func joinPool(o *originClient) *pool {
	if o == nil {
		p := newPool(nil)
		p.users = 1
		return p
	}
	origins.mu.Lock()
	defer origins.mu.Unlock()
	if o.workers == nil {
		o.workers = newPool(o)
	}
	o.workers.users++
	return o.workers
}

// leave says that a connection has no exchanges any more. The last one waits until the goroutines have ended.
func (p *pool) leave() {
	if p.part() {
		p.Close()
		p.Join()
	}
}

// part takes one connection off, and reports whether it was the last. The next to join begins another pool.
func (p *pool) part() bool {
	origins.mu.Lock()
	defer origins.mu.Unlock()
	if p.users--; p.users > 0 {
		return false
	}
	if p.origin != nil {
		p.origin.workers = nil
	}
	return true
}

// eventsOf returns a reader of the events of a stream, which has none yet.
func (w *worker) eventsOf(b frameBound) *sse.Reader {
	if w.events == nil || w.bound != b {
		w.events, w.bound = b.events(nil), b
	}
	return w.events
}

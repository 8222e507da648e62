package transport

import (
	"math"

	"github.com/mcpotel/mcpotel/internal/grow"
	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/internal/workers"
)

// pool is a set of goroutines that run exchanges. All connections that share an originClient share its pool; a
// connection with a client of its own has a pool of its own.
type pool struct {
	*workers.Pool[*exchange, worker]
	origin *originClient // nil for the pool of a single connection
	users  int           // number of connections; guarded by origins.mu
}

// worker holds the buffers of one goroutine of a pool. The goroutine uses them for one exchange after the other.
type worker struct {
	body   []byte      // buffer for bodies of unknown length
	lately grow.Lately // sizes of the latest such bodies
	events *sse.Reader // reused by eventsOf; nil before the first stream
	bound  frameBound  // settings of events
}

func newPool(o *originClient) *pool {
	return &pool{Pool: workers.New(0, math.MaxInt, (*exchange).run), origin: o}
}

// joinPool returns the pool of the connections that share o, or a new one if o is nil. The caller must call leave.
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

// leave removes a connection whose exchanges have ended. The last connection waits until all goroutines have
// ended.
func (p *pool) leave() {
	if p.part() {
		p.Close()
		p.Join()
	}
}

// part removes one connection, and reports whether it was the last. A later joinPool creates another pool.
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

// eventsOf returns a reader of events that has no stream yet.
func (w *worker) eventsOf(b frameBound) *sse.Reader {
	if w.events == nil || w.bound != b {
		w.events, w.bound = b.events(nil), b
	}
	return w.events
}

package transport

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/grow"
	"github.com/mcpotel/mcpotel/internal/sse"
)

// spareTime is how long a goroutine waits for work, twice that at most. It is long beside the time between two calls of
// a caller that makes one after the other, and short beside what a client may wait.
const spareTime = 10 * time.Millisecond

// pool is a set of goroutines that do one exchange after the other, of all connections that share the client for an
// origin, or of one that has a client of its own. The stack one needs for a request is large and grows by copying, so
// it pays to use it again: with a new goroutine for each, a tiny call of one caller takes 20 % more CPU. A goroutine
// ends when it has had nothing to do for a while, or with the last connection.
type pool struct {
	origin *originClient // nil for that of one connection
	users  int           // guarded by origins.mu; connections

	workers sync.WaitGroup

	mu     sync.Mutex
	idle   []*worker   // guarded by mu; the one that has waited longest first
	spare  int         // guarded by mu; so many have been idle since the last sweep
	sweeps *time.Timer // guarded by mu; nil before the first
	set    bool        // guarded by mu; there will be a sweep
	closed bool        // guarded by mu
}

// worker is one goroutine of a pool, with what it uses again and again.
type worker struct {
	jobs   chan *exchange // holds one, so that giving a job to an idle worker never waits
	body   []byte         // for bodies of unknown length
	lately grow.Lately    // of those
	header http.Header    // see exchange.twin
	events *sse.Reader    // see eventsOf
	bound  frameBound     // of events
}

// joinPool returns the pool of the connections that share o, or a new one if that is nil. The caller has to leave it.
func joinPool(o *originClient) *pool {
	if o == nil {
		return &pool{users: 1}
	}
	origins.mu.Lock()
	defer origins.mu.Unlock()
	if o.workers == nil {
		o.workers = &pool{origin: o}
	}
	o.workers.users++
	return o.workers
}

// leave says that a connection has no exchanges any more. The last one waits until the goroutines have ended.
func (p *pool) leave() {
	if p.part() {
		p.close()
		p.workers.Wait()
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

// run has ex done. Its connection has not left the pool.
func (p *pool) run(ex *exchange) {
	w := p.take()
	if w == nil {
		w = &worker{jobs: make(chan *exchange, 1)}
		p.workers.Go(func() { p.work(w) })
	}
	w.jobs <- ex
}

func (p *pool) work(w *worker) {
	for ex := range w.jobs {
		ex.run(w)
		if !p.park(w) {
			return
		}
	}
}

// eventsOf returns a reader of the events of a stream, which has none yet.
func (w *worker) eventsOf(b frameBound) *sse.Reader {
	if w.events == nil || w.bound != b {
		w.events, w.bound = b.events(nil), b
	}
	return w.events
}

// take returns an idle worker, nil if there is none.
func (p *pool) take() *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	w := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	p.spare = min(p.spare, last)
	return w
}

// park makes w idle. It reports false if w is to end instead.
func (p *pool) park(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.idle = append(p.idle, w)
	if !p.set {
		p.setSweep()
	}
	return true
}

// setSweep has the next sweep come. mu is held.
func (p *pool) setSweep() {
	p.set = true
	if p.sweeps == nil {
		p.sweeps = time.AfterFunc(spareTime, p.sweep)
		return
	}
	p.sweeps.Reset(spareTime)
}

// sweep ends the workers that have been idle since the last sweep.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	for _, w := range p.idle[:p.spare] {
		close(w.jobs)
	}
	p.idle = slices.Delete(p.idle, 0, p.spare)
	p.spare = len(p.idle)
	if p.set = p.spare > 0; p.set {
		p.setSweep()
	} else {
		p.idle = nil // it may have been long
	}
}

// close ends the idle workers now and the others when they have done their work.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.sweeps != nil {
		p.sweeps.Stop()
	}
	for _, w := range p.idle {
		close(w.jobs)
	}
	p.idle, p.spare = nil, 0
}

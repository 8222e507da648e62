package transport

import (
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/sse"
)

// spareTime is how long a goroutine waits for work, twice that at most.
const spareTime = time.Second

// pool is a set of goroutines that do one exchange after the other. The stack one needs for a request is large and
// grows by copying, so it pays to use it again. A goroutine ends when it has had nothing to do for a while, or with the
// pool.
type pool struct {
	tasks *sync.WaitGroup // counts the goroutines

	mu     sync.Mutex
	idle   []*worker // the one that has waited longest first
	spare  int       // so many have been idle since the last sweep
	sweeps *time.Timer
	closed bool
}

// worker is one goroutine of a pool, with what it uses again and again.
type worker struct {
	jobs   chan *exchange // holds one, so that giving a job to an idle worker never waits
	body   []byte         // for bodies of unknown length
	events *sse.Reader
}

// run has ex done. The count of tasks is not zero meanwhile.
func (p *pool) run(ex *exchange) {
	w := p.take()
	if w == nil {
		w = &worker{jobs: make(chan *exchange, 1)}
		p.tasks.Go(func() { p.work(w) })
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
	if len(p.idle) == 0 && p.sweeps == nil {
		p.sweeps = time.AfterFunc(spareTime, p.sweep)
	}
	p.idle = append(p.idle, w)
	return true
}

// sweep ends the workers that have been idle since the last sweep.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.idle[:p.spare] {
		close(w.jobs)
	}
	p.idle = append([]*worker(nil), p.idle[p.spare:]...)
	p.spare = len(p.idle)
	if p.sweeps = nil; p.spare > 0 {
		p.sweeps = time.AfterFunc(spareTime, p.sweep)
	}
}

// close ends the idle workers now and the others when they have done their work.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.sweeps != nil {
		p.sweeps.Stop()
		p.sweeps = nil
	}
	for _, w := range p.idle {
		close(w.jobs)
	}
	p.idle, p.spare = nil, 0
}

// Package workers runs tasks in goroutines that run one task after the other.
//
// A new goroutine has a small stack, which grows by copying. To answer a request, or to make one over HTTP, takes a
// large one: a goroutine that is used again saves a third of the CPU of a server on a pipe with 64 callers, and 20 % of
// a tiny call over HTTP.
package workers

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// Linger is the time after which a goroutine without a task ends; the goroutine may wait for twice as long. It is long
// beside the time between two calls of one caller, and short beside the time of a person.
const Linger = 10 * time.Millisecond

// Pool runs tasks of type T. Each of its goroutines has a value of type M to use for one task after the other. A Pool
// is safe for concurrent use.
type Pool[T, M any] struct {
	run        func(T, *M)
	keep, most int // goroutines that may wait for a task: for good, and for Linger

	alive sync.WaitGroup // goroutines, and a sweep that is due

	mu     sync.Mutex
	busy   int              // guarded by mu; tasks that run
	idle   []*worker[T]     // guarded by mu; goroutines that wait, the one that has waited longest first
	least  int              // guarded by mu; the smallest len(idle) since the last sweep
	sweeps *time.Timer      // guarded by mu; nil if no sweep is due
	closed bool             // guarded by mu
	done   broadcast.Signal // guarded by mu; sent when no task runs
}

// worker is a goroutine that waits. A closed channel ends it.
type worker[T any] struct{ next chan T }

// New returns a pool that calls run for each task. Of the goroutines without a task, it keeps some for good, and some
// more, keep and these being most together, for [Linger].
func New[T, M any](keep, most int, run func(T, *M)) *Pool[T, M] {
	return &Pool[T, M]{run: run, keep: keep, most: most}
}

// Start runs t in a goroutine of the pool, which run may end. Start reports false if the pool is closed.
func (p *Pool[T, M]) Start(t T) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.busy++
	if last := len(p.idle) - 1; last >= 0 {
		p.idle[last].next <- t // there is room for one
		p.idle[last] = nil
		p.idle = p.idle[:last]
		p.least = min(p.least, last)
		return true
	}
	p.alive.Add(1)
	go p.work(t)
	return true
}

// work runs t and all tasks that follow.
func (p *Pool[T, M]) work(t T) {
	defer p.alive.Done()
	running := true
	defer func() {
		if running { // run has ended the goroutine
			p.mu.Lock()
			defer p.mu.Unlock()
			p.taskDone()
		}
	}()
	var own M
	var w worker[T]
	for more := true; more; {
		p.run(t, &own)
		running = false
		if !p.park(&w) {
			return
		}
		t, more = <-w.next
		running = more
	}
}

// taskDone counts a task that has ended. The caller holds mu.
func (p *Pool[T, M]) taskDone() {
	if p.busy--; p.busy == 0 {
		p.done.Send()
	}
}

// park counts a task that has ended, and makes its goroutine idle. It reports false if the goroutine is to end.
func (p *Pool[T, M]) park(w *worker[T]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taskDone()
	if p.closed || len(p.idle) >= p.most {
		return false
	}
	if w.next == nil {
		w.next = make(chan T, 1)
	}
	p.idle = append(p.idle, w)
	if len(p.idle) > p.keep && p.sweeps == nil {
		p.least = p.keep // none of the others has waited yet
		p.setSweep()
	}
	return true
}

// setSweep starts the timer of the next sweep. The caller holds mu.
func (p *Pool[T, M]) setSweep() {
	p.alive.Add(1)
	p.sweeps = time.AfterFunc(Linger, p.sweep)
}

// sweep ends the goroutines that have waited since the last sweep, but for those that the pool keeps.
func (p *Pool[T, M]) sweep() {
	defer p.alive.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sweeps = nil; p.closed {
		return
	}
	n := max(0, p.least-p.keep)
	for _, w := range p.idle[:n] {
		close(w.next)
	}
	p.idle = slices.Delete(p.idle, 0, n)
	if p.least = len(p.idle); p.least > p.keep {
		p.setSweep()
	} else {
		p.idle = slices.Clone(p.idle) // the array may be long
	}
}

// Wait waits until no task runs or ctx ends, and returns the number of tasks that run.
func (p *Pool[T, M]) Wait(ctx context.Context) (running int) {
	_ = p.done.Await(ctx, &p.mu, func() bool {
		running = p.busy
		return running == 0
	})
	return running
}

// Close refuses further tasks and ends the goroutines without one. The others end with their tasks: Close returns the
// number of them.
func (p *Pool[T, M]) Close() (running int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return p.busy
	}
	p.closed = true
	for _, w := range p.idle {
		close(w.next)
	}
	p.idle = nil
	if p.sweeps != nil && p.sweeps.Stop() {
		p.alive.Done()
	}
	return p.busy
}

// Join waits until all goroutines have ended. The pool is closed.
func (p *Pool[T, M]) Join() { p.alive.Wait() }

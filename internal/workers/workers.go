// Package workers runs tasks in goroutines that are reused for many tasks.
//
// A new goroutine has a small stack, which grows by copying. Answering a request, or making one over HTTP, needs a
// large stack: reusing goroutines saves a third of the CPU of a server on a pipe with 64 callers, and 20 % of a tiny
// call over HTTP.
package workers

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// Linger is the time after which an idle goroutine ends; it may live up to twice as long. Linger is long compared with
// the time between two calls of one caller, and short compared with the reaction time of a person.
const Linger = 10 * time.Millisecond

// Pool runs tasks of type T. Each of its goroutines has a value of type M to use for one task after the other. A Pool
// is safe for concurrent use.
type Pool[T, M any] struct {
	run        func(T, *M)
	keep, most int // maximum number of idle goroutines: permanently, and for Linger

	alive sync.WaitGroup // goroutines, and the pending sweep

	mu     sync.Mutex
	busy   int              // guarded by mu; number of running tasks
	idle   []*worker[T]     // guarded by mu; idle goroutines, longest idle first
	least  int              // guarded by mu; smallest len(idle) since the last sweep
	sweeps *time.Timer      // guarded by mu; nil if no sweep is pending
	closed bool             // guarded by mu
	done   broadcast.Signal // guarded by mu; sent when no task runs
}

// worker is an idle goroutine. Closing the channel ends it.
type worker[T any] struct{ next chan T }

// New returns a pool that calls run for each task. keep bounds the goroutines that stay idle permanently, and most
// bounds the goroutines that stay idle for [Linger].
func New[T, M any](keep, most int, run func(T, *M)) *Pool[T, M] {
	return &Pool[T, M]{run: run, keep: keep, most: most}
}

// Start runs t in a goroutine of the pool; the function run may end the goroutine. Start reports false if the pool is
// closed.
func (p *Pool[T, M]) Start(t T) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.busy++
	if last := len(p.idle) - 1; last >= 0 {
		p.idle[last].next <- t // does not block: the channel has a buffer
		p.idle[last] = nil
		p.idle = p.idle[:last]
		p.least = min(p.least, last)
		return true
	}
	p.alive.Add(1)
	go p.work(t)
	return true
}

// work runs t and then the following tasks of the goroutine.
func (p *Pool[T, M]) work(t T) {
	defer p.alive.Done()
	running := true
	defer func() {
		if running { // run has called runtime.Goexit or panicked
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

// taskDone records the end of a task. The caller holds mu.
func (p *Pool[T, M]) taskDone() {
	if p.busy--; p.busy == 0 {
		p.done.Send()
	}
}

// park records the end of a task and makes its goroutine idle. It reports false if the goroutine must end.
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
		p.least = p.keep // the goroutines beyond keep became idle just now
		p.setSweep()
	}
	return true
}

// setSweep starts the timer of the next sweep. The caller holds mu.
func (p *Pool[T, M]) setSweep() {
	p.alive.Add(1)
	p.sweeps = time.AfterFunc(Linger, p.sweep)
}

// sweep ends the goroutines that were idle since the last sweep, except those to keep.
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
		p.idle = slices.Clone(p.idle) // releases a long array
	}
}

// Wait waits until no task runs or ctx ends, and returns the number of running tasks.
func (p *Pool[T, M]) Wait(ctx context.Context) (running int) {
	_ = p.done.Await(ctx, &p.mu, func() bool {
		running = p.busy
		return running == 0
	})
	return running
}

// Close refuses further tasks and ends the idle goroutines. The other goroutines end with their tasks; Close returns
// the number of running tasks.
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

// Join waits until all goroutines have ended. The pool must be closed.
func (p *Pool[T, M]) Join() { p.alive.Wait() }

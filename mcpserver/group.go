package mcpserver

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// group runs the tasks of a connection, each in a goroutine, and lets its end wait for them, up to a point. A goroutine
// that is done waits for another task as long as few others do: it has the stack that answering a request takes. Where
// many call at once, more wait, and only for a moment: to grow a new stack for each call was a third of what 64 callers
// on a pipe cost.
type group struct {
	alive sync.WaitGroup // goroutines, and a sweep that is to come

	keep, most int // goroutines that may wait, for good and for a moment

	mu     sync.Mutex
	busy   int              // guarded by mu; tasks that run
	spare  []chan task      // guarded by mu; of the goroutines that wait, the one that has waited longest first
	least  int              // guarded by mu; so many have waited since the last sweep
	sweeps *time.Timer      // guarded by mu; nil if none is to come
	closed bool             // guarded by mu; no more tasks are taken
	idle   broadcast.Signal // guarded by mu; sent when no task is left
}

// task is something to do in a goroutine of its own, which it may even end by [runtime.Goexit].
type task interface{ run() }

const (
	// maxSpare is how many goroutines of a connection wait for tasks.
	maxSpare = 4
	// maxBurst is how many times as many do behind a burst of requests, for a spareTime or two.
	maxBurst  = 16
	spareTime = 10 * time.Millisecond
)

// newGroup returns a group in which up to spare goroutines wait for tasks.
func newGroup(spare int) *group { return &group{keep: spare, most: spare * maxBurst} }

// start runs t, and reports false if the group is closed.
func (g *group) start(t task) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.busy++
	if last := len(g.spare) - 1; last >= 0 {
		g.spare[last] <- t // there is room for one
		g.spare = g.spare[:last]
		g.least = min(g.least, last)
		return true
	}
	g.alive.Add(1)
	go g.work(t)
	return true
}

// work runs t and whatever it is given then. It ends when there are spare goroutines enough, or with the group.
func (g *group) work(t task) {
	defer g.alive.Done()
	returned := false
	defer func() {
		if !returned {
			g.done()
		}
	}()
	var next chan task
	for t != nil {
		t.run()
		t = nil
		if next = g.rest(next); next != nil {
			t = <-next
		}
	}
	returned = true
}

// done notes that a task is done.
func (g *group) done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.doneLocked()
}

func (g *group) doneLocked() {
	if g.busy--; g.busy == 0 {
		g.idle.Send()
	}
}

// rest notes that a task is done, and returns where its goroutine is to wait for another, nil if it is to end. It is
// next if that is not nil.
func (g *group) rest(next chan task) chan task {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.doneLocked()
	if g.closed || len(g.spare) == g.most {
		return nil
	}
	if next == nil {
		next = make(chan task, 1)
	}
	g.spare = append(g.spare, next)
	if len(g.spare) > g.keep && g.sweeps == nil {
		g.least = g.keep // of those beyond, all are new
		g.setSweep()
	}
	return next
}

// setSweep has a sweep come. mu is held.
func (g *group) setSweep() {
	g.alive.Add(1)
	g.sweeps = time.AfterFunc(spareTime, g.sweep)
}

// sweep ends the goroutines that have waited since the last sweep, but for those that are kept.
func (g *group) sweep() {
	defer g.alive.Done()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sweeps = nil; g.closed {
		return
	}
	n := max(0, g.least-g.keep)
	for _, next := range g.spare[:n] {
		close(next)
	}
	g.spare = slices.Delete(g.spare, 0, n)
	if g.least = len(g.spare); g.least > g.keep {
		g.setSweep()
	} else {
		g.spare = slices.Clone(g.spare) // it was long
	}
}

// wait waits until no task is left, at most for the given time, and returns how many are.
func (g *group) wait(patience time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return g.drain(ctx)
}

// drain waits until no task is left or ctx ends, and returns how many are.
func (g *group) drain(ctx context.Context) (left int) {
	_ = g.idle.Await(ctx, &g.mu, func() bool {
		left = g.busy
		return left == 0
	})
	return left
}

// close lets no more tasks in and, if none is left, waits for the goroutines to end.
func (g *group) close() {
	g.mu.Lock()
	if !g.closed {
		g.shut()
	}
	left := g.busy
	g.mu.Unlock()
	if left == 0 {
		g.alive.Wait()
	}
}

// shut ends the goroutines that wait. mu is held.
func (g *group) shut() {
	g.closed = true
	for _, next := range g.spare {
		close(next)
	}
	g.spare = nil
	if g.sweeps != nil && g.sweeps.Stop() {
		g.alive.Done()
	}
}

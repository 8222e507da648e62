package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// group runs the tasks of a connection, each in a goroutine, and lets its end wait for them, up to a point. A goroutine
// that is done waits for another task as long as few others do: it has the stack that answering a request takes.
type group struct {
	alive sync.WaitGroup // goroutines
	tasks chan task      // for those that wait; there is room for one each, and for no more

	mu     sync.Mutex
	busy   int              // guarded by mu; tasks that run
	spare  int              // guarded by mu; goroutines that wait, less those that a task is on the way to
	closed bool             // guarded by mu; no more tasks are taken
	idle   broadcast.Signal // guarded by mu; sent when no task is left
}

// task is something to do in a goroutine of its own, which it may even end by [runtime.Goexit].
type task interface{ run() }

// maxSpare is how many goroutines of a connection wait for tasks.
const maxSpare = 4

// newGroup returns a group in which up to spare goroutines wait for tasks.
func newGroup(spare int) *group { return &group{tasks: make(chan task, spare)} }

// start runs t, and reports false if the group is closed.
func (g *group) start(t task) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.busy++
	if g.spare > 0 {
		g.spare--
		g.tasks <- t
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
			g.rest(false)
		}
	}()
	for t != nil {
		t.run()
		t = nil
		if g.rest(true) {
			t = <-g.tasks
		}
	}
	returned = true
}

// rest notes that a task is done, and reports whether its goroutine, if it lives on, is to wait for another.
func (g *group) rest(alive bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy--; g.busy == 0 {
		g.idle.Send()
	}
	if g.closed || !alive || g.spare == cap(g.tasks) {
		return false
	}
	g.spare++
	return true
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
		g.closed = true
		close(g.tasks)
	}
	left := g.busy
	g.mu.Unlock()
	if left == 0 {
		g.alive.Wait()
	}
}

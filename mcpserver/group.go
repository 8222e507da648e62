package mcpserver

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/internal/workers"
)

// group runs the tasks of a connection, and lets its end wait for them, up to a point.
type group = workers.Pool[task, struct{}]

// task is something to do in a goroutine of its own, which it may even end by [runtime.Goexit].
type task interface{ run() }

const (
	// maxSpare is how many goroutines of a connection wait for tasks.
	maxSpare = 4
	// maxBurst is how many times as many do for a moment, behind a burst of requests.
	maxBurst = 16
)

// newGroup returns a group in which up to spare goroutines wait for tasks.
func newGroup(spare int) *group {
	return workers.New(spare, spare*maxBurst, func(t task, _ *struct{}) { t.run() })
}

// waitAtMost waits until no task is left, at most for the given time, and returns how many are.
func waitAtMost(g *group, patience time.Duration) (left int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return g.Wait(ctx)
}

// closeGroup lets no more tasks in and, if none is left, waits for the goroutines to end.
func closeGroup(g *group) {
	if g.Close() == 0 {
		g.Join()
	}
}

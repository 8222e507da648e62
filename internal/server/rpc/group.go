package rpc

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/internal/workers"
)

// Group runs the tasks of a connection, and lets its end wait for them, up to a point.
type Group = workers.Pool[Task, struct{}]

// Task is something to do in a goroutine of its own, which it may even end by [runtime.Goexit].
type Task interface{ Run() }

const (
	// MaxSpare is how many goroutines of a connection wait for tasks.
	MaxSpare = 4
	// maxBurst is how many times as many do for a moment, behind a burst of requests.
	maxBurst = 16
)

// NewGroup returns a group in which up to spare goroutines wait for tasks.
func NewGroup(spare int) *Group {
	return workers.New(spare, spare*maxBurst, func(t Task, _ *struct{}) { t.Run() })
}

// Wait waits until no task is left, at most for the given time, and returns how many are.
func Wait(g *Group, patience time.Duration) (left int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return g.Wait(ctx)
}

// CloseGroup lets no more tasks in and, if none is left, waits for the goroutines to end.
func CloseGroup(g *Group) {
	if g.Close() == 0 {
		g.Join()
	}
}

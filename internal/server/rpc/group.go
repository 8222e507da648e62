package rpc

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/internal/workers"
)

// Group runs the tasks of a connection in goroutines, and waits for them.
type Group = workers.Pool[Task, struct{}]

// Task is something to run in a goroutine. Run may end the goroutine with [runtime.Goexit].
type Task interface{ Run() }

const (
	// MaxSpare limits the goroutines of a connection that wait for tasks.
	MaxSpare = 4
	// After a burst of requests, maxBurst times as many goroutines may wait for a moment.
	maxBurst = 16
)

// NewGroup returns a group with up to spare goroutines that wait for tasks.
func NewGroup(spare int) *Group {
	return workers.New(spare, spare*maxBurst, func(t Task, _ *struct{}) { t.Run() })
}

// Wait waits until no task is left or patience has passed. It returns the number of tasks that are left.
func Wait(g *Group, patience time.Duration) (left int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return g.Wait(ctx)
}

// CloseGroup refuses new tasks. If no task is left, it waits for the end of the goroutines.
func CloseGroup(g *Group) {
	if g.Close() == 0 {
		g.Join()
	}
}

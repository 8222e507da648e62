package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// TaskOptions configure tasks, see [AddTaskTool]. The zero value of every field means the default stated here.
type TaskOptions struct {
	// Store keeps the tasks. Nil means [store.NewMemoryTasks] with its defaults, until [Server.Shutdown].
	// Servers that share a store, such as copies of one behind a load balancer, answer for each other's tasks.
	Store store.Tasks

	// TTL is how long a task and its outcome are kept, from its creation; then the task is forgotten, and the context of a
	// handler that still runs ends. Zero means 1 h, negative for ever. Clients of 2025-11-25 may ask for less.
	TTL time.Duration

	// PollInterval is how often clients are asked to look at a task. Zero means 1 s.
	PollInterval time.Duration

	// MaxRunning is how many tasks run at once in this server, those that wait for input included; more are refused, over
	// HTTP with 429. One [HTTPOptions.Account] gets half of them, two a third each, and so on. Zero means 1,024.
	MaxRunning int

	// MaxKept is how many tasks of this server there may be at once, in whatever store: a task counts from its creation
	// until its time is up, and for ever if its TTL is. More are refused, over HTTP with 429. One account gets half of
	// them, as above. Zero means 10,000.
	MaxKept int

	// MaxKeptBytes is how many bytes the results of these tasks may have together, with what they ask and are told. A task
	// whose result finds no room fails; a response that finds none is refused. One account gets half of it, as above. Zero
	// means 256 MiB.
	MaxKeptBytes int

	// MaxResult is how many bytes of JSON the result of a task may have; a task with a larger one fails. Zero means the
	// [Options.FrameLimit].
	MaxResult int

	// Lease is how long after the last sign of life of the server that runs a task the others, which share its store,
	// take it for gone and the task for failed. The sign is given three times as often. The clocks of the servers must
	// agree much better than that. A server never takes itself for gone. Zero means 30 s.
	Lease time.Duration
}

// newTaskOptions returns the options with every default filled in, but for the store.
func newTaskOptions(o *TaskOptions, frameLimit int) (TaskOptions, error) {
	var c TaskOptions
	if o != nil {
		c = *o
	}
	for field, v := range map[string]int64{
		"PollInterval": int64(c.PollInterval), "MaxRunning": int64(c.MaxRunning),
		"MaxResult": int64(c.MaxResult), "Lease": int64(c.Lease),
		"MaxKept": int64(c.MaxKept), "MaxKeptBytes": int64(c.MaxKeptBytes),
	} {
		if v < 0 {
			return c, fmt.Errorf("options: Tasks.%s is negative", field)
		}
	}
	c.TTL = cmp.Or(c.TTL, time.Hour)
	c.PollInterval = cmp.Or(c.PollInterval, time.Second)
	c.MaxRunning = cmp.Or(c.MaxRunning, 1024)
	c.MaxKept = cmp.Or(c.MaxKept, 10_000)
	c.MaxKeptBytes = cmp.Or(c.MaxKeptBytes, 256<<20)
	c.MaxResult = cmp.Or(c.MaxResult, frameLimit)
	c.Lease = cmp.Or(c.Lease, 30*time.Second)
	return c, nil
}

// Shutdown ends the tasks that run in this server, after whatever serves its clients has ended: it lets no more begin,
// and waits for those that run. When ctx ends before they do, the contexts of their handlers end, which fails the
// tasks, and the cause of ctx is returned; a handler that ignores that for a second is left behind, its task failed all
// the same, and the error says how many there are. A server that never had tasks need not be shut down.
//
// The server forgets the tasks in a store of its own, one that [TaskOptions] do not name.
//
// A task whose process dies without that fails when its lease is over, if others share its store. See [TaskOptions].
func (s *Server) Shutdown(ctx context.Context) error { return s.tasks.keeper.Shutdown(ctx) }

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
	// Store stores the tasks. Nil means [store.NewMemoryTasks] with its defaults, until [Server.Shutdown]. Servers that
	// share a store, such as replicas behind a load balancer, answer requests about each other's tasks.
	Store store.Tasks

	// TTL is how long a task and its outcome are kept after its creation. Then the task is deleted, and the context of a
	// handler that still runs ends. Zero means 1 h, negative means for ever. Clients of 2025-11-25 may request a shorter
	// time.
	TTL time.Duration

	// PollInterval is how often clients should poll a task. Zero means 1 s.
	PollInterval time.Duration

	// MaxRunning is the maximum number of tasks that run in this server at once, including tasks that wait for input. The
	// server refuses more tasks, over HTTP with 429. One [HTTPOptions.Account] may use half of the places, two may use a
	// third each, and so on. Zero means 1,024.
	MaxRunning int

	// MaxKept is the maximum number of tasks of this server in the store at once. A task counts from its creation until
	// its TTL has passed, and always if the TTL is unlimited. The server refuses more tasks, over HTTP with 429. One
	// account may use half of the places, as above. Zero means 10,000.
	MaxKept int

	// MaxKeptBytes bounds the bytes of the results of these tasks, of their questions and of the client's responses, in
	// all. A task fails if there is no room for its result; the server refuses a response if there is no room for it. One
	// account may use half of the bytes, as above. Zero means 256 MiB.
	MaxKeptBytes int

	// MaxResult is the maximum size of a task's result in bytes of JSON; a task with a larger result fails. Zero means the
	// [Options.FrameLimit].
	MaxResult int

	// Lease is the time after the last heartbeat of a server when the other servers that share its store consider it dead
	// and its tasks failed. A server sends three heartbeats in each Lease. The clocks of the servers must differ by much
	// less than that. A server never considers itself dead. Zero means 30 s.
	Lease time.Duration
}

// newTaskOptions returns the options with every default filled in, except for Store.
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

// Shutdown ends the tasks that run in this server. Call it after everything that serves clients has ended. Shutdown
// refuses new tasks, and waits for the running ones. If ctx ends first, Shutdown ends the contexts of their handlers,
// which fails the tasks, and returns the cause of ctx. It waits another second for these handlers; the error has the
// number of handlers that still run then, whose tasks have failed all the same. A server without tasks need not be shut
// down.
//
// Shutdown deletes the tasks in the server's own store, which the server has if [TaskOptions] name none.
//
// If a process dies without Shutdown, its tasks fail at the end of their lease, provided that other servers share the
// store. See [TaskOptions].
func (s *Server) Shutdown(ctx context.Context) error { return s.tasks.keeper.Shutdown(ctx) }

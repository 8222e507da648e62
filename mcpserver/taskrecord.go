package mcpserver

import (
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// lapsed reports whether the lease of a running task is over. A task without a lease belongs to the only server that
// uses its store.
func lapsed(r *store.Task, now time.Time) bool {
	return !r.Status.Terminal() && !r.Lease.IsZero() && now.After(r.Lease)
}

// endTask makes the status a final one.
func endTask(r *store.Task, status mcp.TaskStatus, message string, now time.Time) {
	r.Requests, r.Responses, r.Lease = nil, nil, time.Time{}
	changeTask(r, status, now)
	r.Message = message
}

// changeTask changes the status, or what belongs to it.
func changeTask(r *store.Task, status mcp.TaskStatus, now time.Time) {
	r.Status, r.Updated = status, now
	r.Change++
}

// failTask ends a task whose request has failed.
// (tasks extension, "Task Execution Errors")
func failTask(r *store.Task, e *mcp.Error, now time.Time) {
	endTask(r, mcp.TaskFailed, e.Message, now)
	r.Error = e
}

// abandonTask ends a task that no handler works on any more.
func abandonTask(r *store.Task, e *mcp.Error, now time.Time) {
	if r.CancelRequested {
		endTask(r, mcp.TaskCancelled, "", now)
		return
	}
	failTask(r, e, now)
}

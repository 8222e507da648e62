package tasks

import (
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// The functions of this file change a task that is about to be saved. They replace maps instead of changing them,
// because revisions share maps.

// now returns the current time in whole milliseconds, so that JSON preserves it in a record.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// lapsed reports whether the lease of a running task has expired. A task without a lease belongs to the only server of
// its store.
func lapsed(t *store.Task, at time.Time) bool {
	return !t.Status.Terminal() && !t.Lease.IsZero() && at.After(t.Lease)
}

// change sets the status and marks the task as changed for its client.
func change(t *store.Task, status mcp.TaskStatus, at time.Time) {
	t.Status, t.Updated = status, at
	t.Change++
}

// end sets a final status.
func end(t *store.Task, status mcp.TaskStatus, message string, at time.Time) {
	t.Requests, t.Responses, t.Lease = nil, nil, time.Time{}
	change(t, status, at)
	t.Message = message
}

// fail ends a task with an error. (tasks extension, "Task Execution Errors")
func fail(t *store.Task, e *mcp.Error, at time.Time) {
	end(t, mcp.TaskFailed, e.Message, at)
	t.Error = e
}

// abandon ends a task that has lost its handler.
func abandon(t *store.Task, e *mcp.Error, at time.Time) {
	if t.CancelRequested {
		end(t, mcp.TaskCancelled, "", at)
		return
	}
	fail(t, e, at)
}

// statusFor returns the status of a running task with these open requests.
func statusFor(open mcp.InputRequests) mcp.TaskStatus {
	if len(open) > 0 {
		return mcp.TaskInputRequired
	}
	return mcp.TaskWorking
}

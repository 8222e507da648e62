package tasks

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// Get answers tasks/get. (tasks extension, "Task Polling")
func (k *Keeper) Get(ctx context.Context, c Client, id string) (any, error) {
	t, err := k.find(ctx, c, id)
	switch {
	case err != nil:
		return nil, err
	case !c.modern():
		return k.legacyResult(t), nil
	}
	return &mcp.GetTaskResult{DetailedTask: k.show(t)}, nil
}

// Update answers tasks/update. It passes the responses to open requests to the handler and ignores all other responses.
// (tasks extension, "Task Update Requests")
func (k *Keeper) Update(ctx context.Context, c Client, id string, responses mcp.InputResponses) error {
	t, err := k.find(ctx, c, id)
	if err != nil {
		return err
	}
	_, err = k.change(ctx, id, t, func(t *store.Task) bool { return respond(t, responses) })
	return clientError(err)
}

// Cancel answers tasks/cancel. It ends the context of the handler, and the handler decides how the task ends. A
// finished task does not change. (tasks extension, "Task Cancellation")
func (k *Keeper) Cancel(ctx context.Context, c Client, id string) (any, error) {
	t, err := k.find(ctx, c, id)
	switch {
	case err != nil:
		return nil, err
	case !c.modern():
		return k.cancelLegacy(ctx, t)
	}
	_, err = k.change(ctx, id, t, func(t *store.Task) bool {
		if t.CancelRequested || t.Status.Terminal() {
			return false
		}
		t.CancelRequested = true
		return true
	})
	return nil, clientError(err)
}

// List answers tasks/list with one page of the tasks that are visible to the client, oldest first. It examines at most
// size tasks after place, so a page may have fewer tasks. next is the place for the next page, or nil after the last
// page. (specification 2025-11-25, basic/utilities/tasks, "Task Listing")
func (k *Keeper) List(ctx context.Context, c Client, place store.TaskPlace, size int) (page []*mcp.LegacyTask,
	next *store.TaskPlace, err error) {
	found, err := k.Options.Store.List(ctx, c.Principal, place, size+1)
	if err != nil {
		return nil, nil, err
	}
	if len(found) > size {
		found = found[:size]
		next = new(found[size-1].Place())
	}
	page = make([]*mcp.LegacyTask, 0, len(found))
	for _, t := range found {
		if k.orphaned(t, now()) {
			if t, err = k.load(ctx, t.ID); errors.Is(err, store.ErrNoTask) {
				continue
			} else if err != nil {
				return nil, nil, err
			}
		}
		if c.sees(t) {
			page = append(page, new(k.showLegacy(t)))
		}
	}
	return page, next, nil
}

// find returns a task that is visible to the client. For all other tasks it returns the error for an unknown task.
func (k *Keeper) find(ctx context.Context, c Client, id string) (*store.Task, error) {
	t, err := k.load(ctx, id)
	switch {
	case err != nil:
		return nil, clientError(err)
	case !c.sees(t):
		return nil, errUnknown
	}
	return t, nil
}

// sees reports whether the client may see a task.
func (c Client) sees(t *store.Task) bool {
	return t.Principal == c.Principal && t.Version.Era() == c.Version.Era()
}

var errUnknown = &mcp.Error{Code: mcp.CodeInvalidParams,
	Message: "unknown task: no task has this id, or the task has expired"}

// clientError converts an error of the store into the error for the client.
func clientError(err error) error {
	switch {
	case errors.Is(err, store.ErrNoTask):
		return errUnknown
	case errors.Is(err, store.ErrFull):
		return rpc.Fail(rpc.ErrBusy, err)
	}
	return err
}

// respond adds responses to a task. It ignores responses to requests that are not open, and reports whether it has
// added any.
func respond(t *store.Task, responses mcp.InputResponses) bool {
	open, taken := maps.Clone(t.Requests), maps.Clone(t.Responses)
	for key, response := range responses {
		if _, asked := open[key]; !asked {
			continue
		}
		delete(open, key)
		if taken == nil {
			taken = mcp.InputResponses{}
		}
		taken[key] = response
	}
	if len(open) == len(t.Requests) {
		return false
	}
	t.Requests, t.Responses = open, taken
	change(t, statusFor(open), now())
	return true
}

// show converts a task for a client of the extension. (tasks extension, "Tasks")
func (k *Keeper) show(r *store.Task) mcp.DetailedTask {
	t := mcp.DetailedTask{Task: mcp.Task{
		TaskID: r.ID, Status: r.Status, StatusMessage: r.Message, CreatedAt: r.Created.UTC().Format(timeFormat),
		LastUpdatedAt:  r.Updated.UTC().Format(timeFormat),
		PollIntervalMs: new(max(1, k.Options.PollInterval.Milliseconds())),
	}}
	if !r.Expires.IsZero() {
		t.TTLMs = new(r.Expires.Sub(r.Created).Milliseconds())
	}
	switch r.Status {
	case mcp.TaskInputRequired:
		t.InputRequests = r.Requests
	case mcp.TaskCompleted:
		t.Payload = r.Result
	case mcp.TaskFailed:
		t.Error = r.Error
	}
	return t
}

// timeFormat is the ISO 8601 format of the times in messages.
const timeFormat = "2006-01-02T15:04:05.000Z"

// showLegacy converts a task for a client of 2025-11-25.
func (k *Keeper) showLegacy(r *store.Task) mcp.LegacyTask {
	t := k.show(r).Task
	return mcp.LegacyTask{
		TaskID: t.TaskID, Status: t.Status, StatusMessage: t.StatusMessage, CreatedAt: t.CreatedAt,
		LastUpdatedAt: t.LastUpdatedAt,
		TTL:           t.TTLMs, PollInterval: t.PollIntervalMs,
	}
}

// legacyResult returns the result of tasks/get and tasks/cancel for clients of 2025-11-25.
func (k *Keeper) legacyResult(t *store.Task) any {
	return &mcp.LegacyTaskResult{LegacyTask: k.showLegacy(t)}
}

// cancelLegacy answers tasks/cancel. It cancels the task immediately and ignores the later result of the handler.
// (specification 2025-11-25, basic/utilities/tasks, "Task Cancellation")
func (k *Keeper) cancelLegacy(ctx context.Context, t *store.Task) (any, error) {
	over := false
	t, err := k.change(ctx, t.ID, t, func(t *store.Task) bool {
		if over = t.Status.Terminal(); over {
			return false
		}
		t.CancelRequested = true
		end(t, mcp.TaskCancelled, "cancelled by the client", now())
		return true
	})
	switch {
	case err != nil:
		return nil, clientError(err)
	case over:
		err = fmt.Errorf("the task cannot be cancelled: it is %s", t.Status)
		return nil, rpc.Fail(&mcp.Error{Code: mcp.CodeInvalidParams, Message: err.Error()}, err)
	}
	return k.legacyResult(t), nil
}

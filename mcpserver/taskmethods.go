package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// taskMethods are the methods that belong to tasks, once there may be some.
func (k *taskKeeper) methods() []*method {
	return []*method{
		{name: mcp.MethodGetTask, handle: k.get, rate: rateTasks},
		{name: mcp.MethodUpdateTask, handle: k.update, rate: rateTasks},
		{name: mcp.MethodCancelTask, handle: k.stop, rate: rateTasks},
		{name: mcp.MethodTaskResult, handle: k.result, rate: rateTasks},
		{name: mcp.MethodListTasks, handle: k.list, rate: rateTasks},
	}
}

// get answers tasks/get. (tasks extension, "Task Polling")
func (k *taskKeeper) get(ctx context.Context, c *call) (any, error) {
	t, err := k.asked(ctx, c, new(mcp.TaskParams))
	if err != nil {
		return nil, err
	}
	if !c.modern() {
		return k.legacyResult(t), nil
	}
	return &mcp.GetTaskResult{DetailedTask: k.shown(t)}, nil
}

// update answers tasks/update: responses to requests that are open go to the handler, all others mean nothing.
// (tasks extension, "Task Update Requests")
func (k *taskKeeper) update(ctx context.Context, c *call) (any, error) {
	var p mcp.UpdateTaskParams
	t, err := k.asked(ctx, c, &p)
	if err != nil {
		return nil, err
	}
	_, err = k.change(ctx, t.ID, t, func(t *store.Task) bool { return respondTask(t, p.InputResponses, stamp()) })
	return nil, gone(err)
}

// stop answers tasks/cancel: it tells the handler, which decides what becomes of the task. One that is over stays as it
// is. (tasks extension, "Task Cancellation")
func (k *taskKeeper) stop(ctx context.Context, c *call) (any, error) {
	t, err := k.asked(ctx, c, new(mcp.TaskParams))
	switch {
	case err != nil:
		return nil, err
	case !c.modern():
		return k.stopLegacy(ctx, t)
	}
	_, err = k.change(ctx, t.ID, t, func(t *store.Task) bool {
		if t.CancelRequested || t.Status.Terminal() {
			return false
		}
		t.CancelRequested = true
		return true
	})
	return nil, gone(err)
}

// asked decodes the params of a method of tasks and returns the task that they name.
func (k *taskKeeper) asked(ctx context.Context, c *call, params any) (*store.Task, error) {
	if err := c.readTask(params); err != nil {
		return nil, err
	}
	id := mcp.TargetOf(params)
	if id == "" {
		return nil, invalidParams("params.taskId is missing or empty")
	}
	return k.find(ctx, c, id)
}

// readTask decodes the params of a method of tasks, if the client knows that there are such.
func (c *call) readTask(params any) error {
	switch {
	case !c.modern() && !c.legacyTasks():
		return refusal(mcp.CodeMethodNotFound, "%s: the session began before there were tasks", c.info.Method)
	case c.modern() && !c.declares(mcp.ExtensionTasks):
		return missingExtension(mcp.ExtensionTasks)
	}
	if err := decodeCopy(c.params, params); err != nil {
		return invalidParams("params: %w", err)
	}
	return nil
}

// find returns a task that the client may see: to all but its own principal it does not exist, and neither to clients
// that know tasks of another kind.
func (k *taskKeeper) find(ctx context.Context, c *call, id string) (*store.Task, error) {
	t, err := k.load(ctx, id)
	switch {
	case err != nil:
		return nil, gone(err)
	case !c.mayTake(t):
		return nil, errUnknownTask
	}
	return t, nil
}

// mayTake reports whether a task is one of the client's.
func (c *call) mayTake(t *store.Task) bool {
	return t.Principal == c.x.client.principal && t.Version.Era() == c.info.Version.Era()
}

var errUnknownTask = &mcp.Error{Code: mcp.CodeInvalidParams,
	Message: "unknown task: there is none with this id, or it has expired"}

// gone tells the client of a task that is not there any more, or for which there is no room.
func gone(err error) error {
	switch {
	case errors.Is(err, store.ErrNoTask):
		return errUnknownTask
	case errors.Is(err, store.ErrFull):
		return rpc.Fail(rpc.ErrBusy, err)
	}
	return err
}

// respondTask takes the responses to requests that are open, and reports whether there were any.
func respondTask(r *store.Task, responses mcp.InputResponses, now time.Time) bool {
	open, taken := maps.Clone(r.Requests), maps.Clone(r.Responses)
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
	if len(open) == len(r.Requests) {
		return false
	}
	r.Requests, r.Responses = open, taken
	changeTask(r, statusFor(open), now)
	return true
}

// statusFor is the status of a task that is not over.
func statusFor(open mcp.InputRequests) mcp.TaskStatus {
	if len(open) > 0 {
		return mcp.TaskInputRequired
	}
	return mcp.TaskWorking
}

// shown is a task as its client sees it.
// (tasks extension, "Tasks")
func (k *taskKeeper) shown(r *store.Task) mcp.DetailedTask {
	t := mcp.DetailedTask{Task: mcp.Task{
		TaskID: r.ID, Status: r.Status, StatusMessage: r.Message, CreatedAt: timestamp(r.Created),
		LastUpdatedAt:  timestamp(r.Updated),
		PollIntervalMs: new(max(1, k.cfg.PollInterval.Milliseconds())),
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

// timestamp writes a time in the way of ISO 8601.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// declares reports whether the client has declared an extension, with this request.
func (c *call) declares(extension string) bool {
	if c.info.Version.Era() != mcp.Modern {
		return false
	}
	declared := c.info.from.declared()
	return declared.Extensions[extension] != nil
}

// missingExtension refuses a request that needs an extension of the client.
func missingExtension(name string) error {
	need := mcp.ClientCapabilities{Extensions: map[string]mcp.Object{name: mcp.Object("{}")}}
	return missingCapability(need, fmt.Errorf("the client has not declared the extension %s", name))
}

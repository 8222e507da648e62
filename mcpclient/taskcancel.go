package mcpclient

import (
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// cancelTaskTimeout bounds the wait for the acknowledgement of a task's cancellation.
const cancelTaskTimeout = 5 * time.Second

// abandon asks the server once to cancel the task, because its caller no longer waits. err is the reason (nil for
// a reason outside of the client); if it means that there is no task to cancel, abandon does nothing. The request
// has been sent when abandon returns, and abandon does not wait for the answer. (extension
// io.modelcontextprotocol/tasks, "Task Cancellation")
func (t *Task) abandon(ctx context.Context, err *Error) {
	if _, over := t.outcome(); over || err != nil && (errors.Is(err, ErrTaskUnknown) || errors.Is(err, ErrUnsupported)) {
		return
	}
	c := t.c
	if c.tasks.require(mcp.MethodCancelTask, true, t.isLegacy()) != nil {
		return
	}
	t.mu.Lock()
	origin := t.origin
	t.made = false
	t.mu.Unlock()
	c.tasks.cancel(ctx, t.ID(), t.meta, origin)
}

// cancel asks the server once to cancel a task of origin. The request has been sent when cancel returns.
func (t *tasking) cancel(ctx context.Context, id string, meta mcp.Meta, origin lead) {
	c := t.c
	cl := c.newCall(mcp.MethodCancelTask, &mcp.TaskParams{TaskID: id})
	cl.Timeout, cl.asked.meta = cancelTaskTimeout, meta
	cl.Corr, cl.Ref = origin.corr, origin.ref
	cl.Post(context.WithoutCancel(ctx)) // the request may still use cl after Post, so cl is not freed
}

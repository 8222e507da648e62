package mcpclient

import (
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// cancelTaskTimeout is how long the server may take to acknowledge the cancellation of a task.
const cancelTaskTimeout = 5 * time.Second

// abandon asks the server, in one try, to cancel the task whose caller does not wait to the end, because of err (nil if
// it was none of the client's), unless that means that there is no task to cancel. The request is on its way when
// abandon returns, and abandon does not wait for the answer. (extension io.modelcontextprotocol/tasks, "Task
// Cancellation")
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

// cancel asks the server, in one try, to cancel a task that origin has made. The request is on its way when cancel
// returns.
func (t *tasking) cancel(ctx context.Context, id string, meta mcp.Meta, origin lead) {
	c := t.c
	cl := c.newCall(mcp.MethodCancelTask, &mcp.TaskParams{TaskID: id})
	cl.Timeout, cl.asked.meta = cancelTaskTimeout, meta
	cl.Corr, cl.Ref = origin.corr, origin.ref
	cl.Post(context.WithoutCancel(ctx)) // which may still use the call when it is over, so it is not freed
}

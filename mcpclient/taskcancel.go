package mcpclient

import (
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
)

// cancelTaskTimeout is how long the server may take to acknowledge that nobody wants a task any more.
const cancelTaskTimeout = 5 * time.Second

// abandon asks the server, in one try, to cancel the task whose caller does not wait to the end, because of err (nil if it
// was none of the client's), unless that means that there is no task to cancel. The request is on its way when abandon
// returns; for the answer nobody waits. (extension io.modelcontextprotocol/tasks, "Task Cancellation")
func (t *Task) abandon(ctx context.Context, err *Error) {
	if _, over := t.outcome(); over || err != nil && (errors.Is(err, ErrTaskUnknown) || errors.Is(err, ErrUnsupported)) {
		return
	}
	c := t.c
	if c.requireTasks(mcp.MethodCancelTask, true, t.isLegacy()) != nil {
		return
	}
	t.mu.Lock()
	origin := t.origin
	t.made = false
	t.mu.Unlock()
	c.cancelTask(ctx, t.ID(), t.meta, origin)
}

// cancelTask asks the server, in one try, to cancel a task that origin has made. The request is on its way when cancelTask
// returns.
func (c *Client) cancelTask(ctx context.Context, id string, meta mcp.Meta, origin lead) {
	cl := c.newCall(mcp.MethodCancelTask, &mcp.TaskParams{TaskID: id})
	cl.deadline, cl.meta = time.Now().Add(cancelTaskTimeout), meta
	cl.corr, cl.ref = origin.corr, origin.ref
	ctx = cl.begin(context.WithoutCancel(ctx), cl.about())
	var o outcome
	var err *Error
	usercode.Pass(func() {
		if err = cl.take(ctx); err == nil {
			o, err = cl.launchAttended(ctx)
		}
	}, func() { cl.op.End(brokenOff) })
	if err != nil || o.decided() {
		c.endCancel(cl, o, err)
		return
	}
	c.mu.Lock()
	alive := c.session == cl.session
	if alive { // else the request has failed with the connection
		c.goroutines.Go(func() { c.endCancel(cl, <-cl.outcome, nil) }) // ends with the answer, the connection or the time
	}
	c.mu.Unlock()
	if !alive {
		c.endCancel(cl, <-cl.outcome, nil)
	}
}

// endCancel ends the operation of cl, with o or err.
func (c *Client) endCancel(cl *call, o outcome, err *Error) {
	if err == nil {
		err = cl.answered(o)
	}
	cl.op.End(resultOf(err, nil))
	c.free(cl)
}

package mcpclient

import (
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
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
	ctx, op := c.tel.StartRequest(context.WithoutCancel(ctx), cl.telemetry())
	cl.ref = op.Ref()
	s, o, err := c.sendCancel(ctx, cl, &op)
	if err == nil && !o.decided() {
		c.mu.Lock()
		alive := c.session == s
		if alive { // else the call has failed with the connection
			c.goroutines.Go(func() { c.endCancel(s, cl, &op, <-cl.outcome, nil) }) // ends with the answer, the connection or the time
		}
		c.mu.Unlock()
		if alive {
			return
		}
		o = <-cl.outcome
	}
	c.endCancel(s, cl, &op, o, err)
}

// sendCancel sends cl, if the client is ready.
func (c *Client) sendCancel(ctx context.Context, cl *call, op *telemetry.Op) (s *session, o outcome, err *Error) {
	usercode.Pass(func() { s, o, err = c.trySendCancel(ctx, cl, op) }, func() { op.End(brokenOff) })
	return s, o, err
}

func (c *Client) trySendCancel(ctx context.Context, cl *call, op *telemetry.Op) (*session, outcome, *Error) {
	s, err := c.tryTake(cl)
	if err != nil {
		return nil, outcome{}, err
	}
	op.Admit(s.peer, cl.id)
	if err := cl.encode(s, op); err != nil {
		o, err := c.settled(cl, &Error{Kind: KindInvalid, Op: cl.method, cause: err})
		return s, o, err
	}
	o, err := c.sendAttended(ctx, s, cl, op)
	return s, o, err
}

// endCancel tells the telemetry how cl has ended, with o or err.
func (c *Client) endCancel(s *session, cl *call, op *telemetry.Op, o outcome, err *Error) {
	switch {
	case err == nil && o.cause != 0:
		err = cl.failed(o)
	case err == nil:
		op.Received(o.message.Size())
		err = c.decode(s, cl, op, &o.message, nil)
	}
	op.End(resultOf(err, nil))
	c.free(cl)
}

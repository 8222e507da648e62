package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
)

// An operation is a user's call. It may need several requests, for example to list the tools before a tool call. The
// timeout of the operation covers all of them until the server requests input, because a person may take time.

// operate runs the function do as one operation. The operation consists of a call of method with these params and of
// the steps before that call: waiting for a connection, listing the tools, checks, middleware. The operation's span
// begins here and ends with the error of do. do must make the call with the context and the options that it gets. A
// call of operate inside do belongs to the outer operation.
func (c *Client) operate(ctx context.Context, method string, params any, options []CallOption,
	do func(ctx context.Context, options []CallOption) error) error {
	o := c.newCall(method, params)
	o.apply(options)
	if o.asked.whole != nil {
		c.free(o)
		return do(ctx, options)
	}
	inside := ctx
	if o.asked.ifSent {
		o.Keep()
	} else {
		inside = o.Open(ctx)
	}
	returned := false
	defer func() {
		if !returned && o.Recall() {
			o.Close(ctx, &conn.BrokenOff)
		}
	}()
	err := do(inside, append(options[:len(options):len(options)], func(a *asked) { a.whole = o }))
	returned = true
	if !o.Recall() { // a middleware has left a call running, which still uses o
		return err
	}
	o.Close(ctx, endedBy(err))
	c.free(o)
	return err
}

// lend lends the operation of o to cl. It returns false if another call already has the operation, because middleware
// may make several calls at once. It also returns false for calls of other methods or targets.
func (o *call) lend(cl *call) bool {
	return o.Method == cl.Method && mcp.TargetOf(o.params) == mcp.TargetOf(cl.params) && o.Lend(&cl.Request)
}

// enter begins the operation of the call, or joins the operation that the call belongs to. It returns the context for
// code that runs before the request.
func (cl *call) enter(ctx context.Context) context.Context {
	switch whole := cl.asked.whole; {
	case whole != nil && whole.lend(cl):
		return ctx
	case cl.asked.ifSent:
		cl.Keep()
	default:
		ctx = cl.Open(ctx)
	}
	cl.asked.whole = nil
	return ctx
}

// leave ends the operation of the call, or returns a borrowed operation to its owner.
func (cl *call) leave(ctx context.Context, failed *instrument.Result) {
	if whole := cl.asked.whole; whole == nil || !cl.Return(&whole.Request) {
		cl.Close(ctx, failed)
	}
}

// ifSent marks an operation that may need no request, for example because the result is in the cache. The operation has
// a span only if it sends a request or fails.
func ifSent(a *asked) { a.ifSent = true }

// failed records an operation that failed with err before a request was sent, and returns err.
func (c *Client) failed(ctx context.Context, method string, params any, options []CallOption, err error) error {
	return c.operate(ctx, method, params, options, func(context.Context, []CallOption) error { return err })
}

// endedBy describes the end of an operation for the telemetry. err is the error that the caller gets. The result is nil
// if err is nil, or if the last request has already recorded this outcome.
func endedBy(err error) *instrument.Result {
	if _, asked := errors.AsType[*InputRequiredError](err); asked || err == nil {
		return nil
	}
	if _, reported := errors.AsType[*mcp.ToolError](err); reported {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return new(e.fault().Result())
	}
	return &instrument.Result{Err: err}
}

// until sets the deadline for the first request of a call and for all steps before that request.
func until(by time.Time) CallOption { return func(a *asked) { a.By = by } }

// timed adds the deadline of the operation to the options. begun is the start of the operation.
func (cfg *config) timed(options []CallOption, begun time.Time) []CallOption {
	a := cfg.asked(options)
	by := cfg.endOf(a, begun)
	if by.IsZero() {
		return options
	}
	return append(options[:len(options):len(options)], until(by))
}

// endOf returns the deadline of an operation, or zero for none. A nested operation has the deadline of the outer one.
func (cfg *config) endOf(a *asked, begun time.Time) time.Time {
	if timeout := cmp.Or(a.Timeout, cfg.RequestTimeout); a.By.IsZero() && timeout > 0 {
		return begun.Add(timeout)
	}
	return a.By
}

// within applies the deadline of an operation to a step other than a request.
func (cfg *config) within(ctx context.Context, options []CallOption) (context.Context, context.CancelFunc) {
	a := cfg.asked(options)
	if by := cfg.endOf(a, time.Now()); !by.IsZero() {
		return context.WithDeadlineCause(ctx, by, ErrTimeout)
	}
	return context.WithCancel(ctx)
}

// toList returns the options for a listing that is part of an operation with these options. The listing has the same
// deadline, and waits for readiness and for room if the operation does.
func (cfg *config) toList(options []CallOption) []CallOption {
	a := cfg.asked(options)
	ask := []CallOption{WithTimeout(a.Timeout), until(a.By)}
	if a.Wait {
		ask = append(ask, WaitForReady())
	}
	if a.WaitForRoom {
		ask = append(ask, WaitForRoom())
	}
	if a.GoesOn {
		ask = append(ask, goesOn)
	}
	return ask
}

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

// An operation is a user's call. It may take several requests, such as listing the tools before a tool call. Its
// timeout covers all of them, until the server requests input: a person may take time.

// operate runs do as one operation: a call of method with these params, and the steps before the call, such as
// waiting for a connection, listing the tools, a check, or middleware. The operation's span begins here and ends
// with the error of do. do must make the call with the context and the options that it gets. A nested operate
// belongs to the outer operation.
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
	if !o.Recall() { // a middleware has left a call behind, which keeps it
		return err
	}
	o.Close(ctx, endedBy(err))
	c.free(o)
	return err
}

// lend lends the operation of o to cl. It reports false if another call has it or cl is a different call: middleware
// may make several calls at once, or calls of other methods.
func (o *call) lend(cl *call) bool {
	return o.Method == cl.Method && mcp.TargetOf(o.params) == mcp.TargetOf(cl.params) && o.Lend(&cl.Request)
}

// enter begins the operation of the call, or joins the operation that the call is a part of. It returns the context for
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

// leave ends the operation of the call, or gives it back.
func (cl *call) leave(ctx context.Context, failed *instrument.Result) {
	if whole := cl.asked.whole; whole == nil || !cl.Return(&whole.Request) {
		cl.Close(ctx, failed)
	}
}

// ifSent marks an operation that may need no request of its method, for example because the result is in the cache. It
// has a span only if a request is sent or the operation fails.
func ifSent(a *asked) { a.ifSent = true }

// failed records an operation that failed with err before a request was made, and returns err.
func (c *Client) failed(ctx context.Context, method string, params any, options []CallOption, err error) error {
	return c.operate(ctx, method, params, options, func(context.Context, []CallOption) error { return err })
}

// endedBy describes to the telemetry the error that a caller gets. It returns nil if the last request has ended with
// that error.
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

// until sets the deadline of the first request of a call, and of the steps before it.
func until(by time.Time) CallOption { return func(a *asked) { a.By = by } }

// timed adds the deadline of an operation with these options.
func (cfg *config) timed(options []CallOption, begun time.Time) []CallOption {
	a := cfg.asked(options)
	by := cfg.endOf(a, begun)
	if by.IsZero() {
		return options
	}
	return append(options[:len(options):len(options)], until(by))
}

// endOf returns the deadline of an operation, zero for none. A part of another operation has that operation's deadline.
func (cfg *config) endOf(a *asked, begun time.Time) time.Time {
	if timeout := cmp.Or(a.Timeout, cfg.RequestTimeout); a.By.IsZero() && timeout > 0 {
		return begun.Add(timeout)
	}
	return a.By
}

// within bounds a step of an operation, other than a request, by the deadline.
func (cfg *config) within(ctx context.Context, options []CallOption) (context.Context, context.CancelFunc) {
	a := cfg.asked(options)
	if by := cfg.endOf(a, time.Now()); !by.IsZero() {
		return context.WithDeadlineCause(ctx, by, ErrTimeout)
	}
	return context.WithCancel(ctx)
}

// toList returns the options for listing as a part of an operation with these options: the same deadline and waits.
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

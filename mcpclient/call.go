package mcpclient

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/client/conn"
)

// Call sends a request and waits for its result, which it decodes into result, a pointer; nil ignores the result and a
// *json.RawMessage takes it as it is. params is anything that encodes as a JSON object, nil for none. What a tool's
// schema wants repeated in HTTP headers, [Client.CallTool] repeats and Call does not.
//
// A modern server that needs something of the client first is answered by the handlers that the client has for that,
// and the request is sent again, as often as [Options.MaxInputRounds] says; each of these requests has the timeout
// anew. (specification 2026-07-28, basic/patterns/mrtr) So it is with a call of a tool that the server makes a task, if
// the client has declared them: see [UseTasks]. It is waited for as long as ctx allows; when that ends, the server is
// asked once to cancel the task.
//
// Strings and raw JSON in the result may share the memory of the whole answer: a caller that keeps a small part of
// a large result for long should clone it.
//
// The error is an [*Error]. A result that reports a failure of a tool is no error. When ctx ends or the timeout passes,
// the server is told, once, and a late answer is dropped; Call returns at once.
func (c *Client) Call(ctx context.Context, method string, params, result any, options ...CallOption) error {
	if c.intercepted != nil {
		return c.intercept(ctx, method, params, result, options)
	}
	return c.call(ctx, method, params, result, options...)
}

// Notify sends a notification. params is anything that encodes as a JSON object, nil for none. It returns as soon as
// the transport has accepted the notification; the client does not learn whether the server gets it. A client that is
// not ready returns [ErrNotReady], a busy transport [ErrBackpressure]: a notification is not sent again.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	if err := c.core.Notify(ctx, method, params); err != nil {
		return errorOf(err)
	}
	return nil
}

// roundTrip makes a call, or a part of it: what is asked for is answered, or the error says why not.
type roundTrip func(ctx context.Context, cl *call) *Error

// trip is the way of a call through its layers, the outermost first, to the request and its answer.
var trip roundTrip

func init() { // calls that a layer makes go the same way
	trip = watched(untilItWorks(asTask(afterVisits(inRounds(fromCache(func(ctx context.Context, cl *call) *Error {
		return errorOf(cl.Do(ctx))
	}))))))
}

// call is Call without the middleware.
func (c *Client) call(ctx context.Context, method string, params, result any, options ...CallOption) error {
	cl := c.newCall(method, params)
	cl.result, cl.asked.logLevel = result, c.logLevel.level()
	cl.apply(options)
	if cl.OnProgress != nil || cl.Resets {
		cl.Progressed = make(chan struct{}, 1)
	}
	c.operations.enter()
	defer c.operations.leave()
	inside, left := cl.enter(ctx), false
	defer func() {
		if !left {
			cl.leave(ctx, &conn.BrokenOff)
		}
	}()
	err := c.drift.admit(inside, method, params, options)
	if err == nil {
		err = cl.travel(ctx)
	}
	left = true
	cl.leave(ctx, endedBy(err))
	c.free(cl)
	return err
}

// travel makes the call.
func (cl *call) travel(ctx context.Context) error {
	err := trip(ctx, cl)
	if cl.asked.afterNotifications {
		cl.c.dispatcher.settle(ctx)
	}
	if err == nil {
		return nil
	}
	if cl.again() || cl.tasks.made != nil || cl.Seen {
		err.Unsent = false // the server has had the requests of the rounds, or the tries, before
	}
	return err
}

// again reports whether the call has had an answer that was not its result.
func (cl *call) again() bool { return cl.input.rounds+cl.visits > 0 }

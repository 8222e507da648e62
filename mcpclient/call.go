package mcpclient

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/client/conn"
)

// Call sends a request, waits for its result, and decodes the result into result, a pointer; nil ignores the
// result and a *json.RawMessage takes its JSON text. params is any value that encodes as a JSON object, nil for
// none. Unlike [Client.CallTool], Call does not repeat parameters in HTTP headers.
//
// If a modern server requests input first, the client's handlers answer, and the request is sent again, up to
// [Options.MaxInputRounds] times; each request has the timeout anew. (specification 2026-07-28,
// basic/patterns/mrtr) If the server makes a task of a tool call, Call waits for the task as long as ctx allows;
// when ctx ends, it asks the server once to cancel the task. The client must declare tasks: see [UseTasks].
//
// Strings and raw JSON in the result may share the memory of the whole answer: a caller that keeps a small part of
// a large result for long should clone it.
//
// The error is an [*Error]. A result that reports a failure of a tool is not an error. When ctx ends or the
// timeout passes, the client notifies the server once and drops a late answer; Call returns at once.
func (c *Client) Call(ctx context.Context, method string, params, result any, options ...CallOption) error {
	if c.intercepted != nil {
		return c.intercept(ctx, method, params, result, options)
	}
	return c.call(ctx, method, params, result, options...)
}

// Notify sends a notification. params is any value that encodes as a JSON object, nil for none. It returns when
// the transport has accepted the notification, which the server may never receive. If the client is not ready, the
// error is [ErrNotReady]; if the transport is busy, it is [ErrBackpressure]: a notification is not retried.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	if err := c.core.Notify(ctx, method, params); err != nil {
		return errorOf(err)
	}
	return nil
}

// roundTrip makes a call, or a part of it, and returns its error.
type roundTrip func(ctx context.Context, cl *call) *Error

// trip is the sequence of layers of a call, from the outermost to the request.
var trip roundTrip

func init() { // in init, because layers make calls through trip
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

// travel sends the call through its layers.
func (cl *call) travel(ctx context.Context) error {
	err := trip(ctx, cl)
	if cl.asked.afterNotifications {
		cl.c.dispatcher.settle(ctx)
	}
	if err == nil {
		return nil
	}
	if cl.again() || cl.tasks.made != nil || cl.Seen {
		err.Unsent = false // the server has received earlier requests of the call
	}
	return err
}

// again reports whether the call was answered before with something other than its result.
func (cl *call) again() bool { return cl.input.rounds+cl.visits > 0 }

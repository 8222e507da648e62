package mcpclient

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Call sends a request, waits for its result, and decodes the result into result, which must be a pointer. If result is
// nil, Call ignores the result; a *json.RawMessage gets the JSON text. params is any value that encodes as a JSON
// object, or nil. Unlike [Client.CallTool], Call does not repeat parameters in HTTP headers.
//
// If a modern server requests input first, the client's handlers answer, and the client sends the request again. It
// sends the request at most [Limits.InputRounds] times in all. Each request has the full timeout. (specification
// 2026-07-28, basic/patterns/mrtr) If the server makes a task of a tool call, Call waits for the task. If ctx ends
// first, the client asks the server once to cancel the task. The client must declare tasks: see [UseTasks].
//
// Strings and raw JSON in the result may share the memory of the whole answer. A caller that keeps a small part of a
// large result for long should clone that part.
//
// The error is an [*Error]. A result that reports the failure of a tool is not an error. When ctx ends or the timeout
// passes, Call returns at once. The client then notifies the server once, and drops a late answer.
func (c *Client) Call(ctx context.Context, method string, params, result any, options ...CallOption) error {
	if c.intercepted != nil {
		return c.intercept(ctx, method, params, result, options)
	}
	return c.call(ctx, method, params, result, options...)
}

// Notify sends a notification. params is any value that encodes as a JSON object, or nil. Notify returns when the
// transport has accepted the notification; the server may still never receive it. The error is [ErrNotReady] if the
// client is not ready, and [ErrBackpressure] if the transport is busy: the client does not retry notifications.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	if err := c.core.Notify(ctx, method, params); err != nil {
		return errorOf(err)
	}
	return nil
}

// roundTrip makes a call, or a part of a call, and returns its error.
type roundTrip func(ctx context.Context, cl *call) *Error

// trip runs a call through its layers, from the outermost layer to the request.
var trip roundTrip

func init() { // set in init, because the layers themselves make calls through trip
	trip = watched(untilItWorks(asTask(afterVisits(inRounds(fromCache(func(ctx context.Context, cl *call) *Error {
		return errorOf(cl.Do(ctx))
	}))))))
}

// call is like Call, but without the middleware.
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

// travel runs the call through its layers.
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

// again reports whether the server has already answered the call with something other than the final result.
func (cl *call) again() bool { return cl.input.rounds+cl.visits > 0 }

// call is a user's call. It sends requests until there is a result. Each layer keeps its state in a separate part of
// the call. A call belongs to its caller and returns to a pool: no code may keep a pointer to it after its end.
type call struct {
	conn.Request
	c       *Client
	params  any
	result  any // destination of the result; nil if the caller ignores the result
	asked   asked
	scratch []byte // encoded params during the request; the memory is kept for the next call

	keeping keeping
	input   inputRounds
	visits  int  // how often the server required the user to visit URLs
	anew    bool // the next request is a retry
	tasks   taskCall
	loop    loopCall
}

// newCall returns a call from the client's pool. Clients do not share a pool, because a channel that was created in one
// synctest bubble cannot be used in another.
func (c *Client) newCall(method string, params any) *call {
	cl, _ := c.pool.Get().(*call)
	if cl == nil {
		cl = &call{c: c, Request: conn.NewRequest(&c.core)}
		cl.Content = cl
	}
	cl.Method, cl.params = method, params
	return cl
}

// keptFrame bounds the memory that a pooled call keeps for the next request, in bytes. Reusing the buffers of the
// arguments and their encoder saves a quarter of the CPU time of a call with 112 KiB on stdio.
const keptFrame = 512 << 10

// free returns a call to the pool. The outcome of the call must have been received, or must no longer be able to
// arrive.
func (c *Client) free(cl *call) {
	*cl = call{c: c, Request: cl.Request.Cleared(), scratch: cl.scratch[:0]}
	if cap(cl.Frame)+cap(cl.scratch) > keptFrame {
		cl.Frame, cl.scratch = nil, nil
	}
	c.pool.Put(cl)
}

// apply applies the options to cl.
func (cl *call) apply(options []CallOption) {
	cl.c.cfg.apply(&cl.asked, options)
	cl.Sending = cl.asked.Sending
}

// Encode encodes the request for session s.
func (cl *call) Encode(s *conn.Session) *conn.Fault {
	if cl.asked.lead != nil {
		cl.asked.lead.id = cl.ID
	}
	if cl.input.rounds > 0 && !s.Era.Asks() {
		return &conn.Fault{Kind: conn.KindProtocol, Op: cl.Method,
			Cause: errors.New("the server requested input, but after a reconnect it supports only legacy revisions, which " +
				"cannot get the input")}
	}
	cl.beginKeeping(s)
	if err := cl.encodeFor(s); err != nil {
		return &conn.Fault{Kind: conn.KindInvalid, Op: cl.Method, Unsent: true, Cause: err}
	}
	cl.Name = cl.nameFor(s.Version)
	if cl.loop.watched && cl.input.rounds == 0 {
		return cl.c.cfg.loops.admit(cl)
	}
	return nil
}

func (cl *call) encodeFor(s *conn.Session) error {
	var err error
	cl.scratch = cl.scratch[:0]
	appendRequest := jsonrpc.AppendRequest
	if params := cl.paramsFor(s); params != nil {
		if cl.scratch, err = mcp.AppendParams(cl.scratch, params); err != nil {
			return err
		}
		if err = given.CheckEncoded(params, cl.scratch); err != nil {
			return err
		}
		if _, own := params.(*mcp.CallToolParams); own {
			appendRequest = jsonrpc.AppendOwnRequest
		}
	}
	if cl.Op.Captures() {
		arguments, _ := mcp.Object(cl.scratch).Lookup("arguments")
		cl.Op.Arguments(arguments)
	}
	if cl.input.rounds > 0 {
		appendRequest = jsonrpc.AppendRequest
		if cl.scratch, err = withInput(cl.scratch, cl.input.given); err != nil {
			return err
		}
	}
	if err = given.CheckMeta(cl.asked.meta); err != nil {
		return err
	}
	meta, err := cl.withLogLevel(s, cl.asked.meta)
	if err != nil {
		return err
	}
	return cl.Write(appendRequest, s, meta, cl.scratch)
}

// nameFor returns the value of the HTTP header Mcp-Name. If params has none of the types of package mcp, nameFor reads
// the name from the encoded params.
func (cl *call) nameFor(v mcp.Version) string {
	if name := mcp.TargetOf(cl.params); name != "" || len(cl.scratch) == 0 {
		return name
	}
	m, ok := mcp.Lookup(cl.Method, v)
	if !ok || m.Target.Member() == "" {
		return ""
	}
	for o := jsonscan.ObjectAt(cl.scratch, 0); o.Next(); {
		if string(o.Key()) == m.Target.Member() {
			name, _ := jsonrpc.Text(o.Raw())
			return name
		}
	}
	return ""
}

// About describes the request for the telemetry.
func (cl *call) About() instrument.Request {
	r := instrument.Request{Method: cl.Method, Corr: cl.Corr, Link: cl.Ref, Round: cl.input.rounds, Reissue: cl.anew,
		Continues: cl.GoesOn, Attributes: cl.asked.spanAttributes}
	if cl.Method == mcp.MethodCallTool && cl.c.core.Telemetry.Audits() {
		r.Params, _ = mcp.AppendParams(nil, cl.params) // a call with invalid params fails later
	}
	switch p := cl.params.(type) {
	case *mcp.CallToolParams:
		r.TargetKind, r.Target = instrument.Tool, p.Name
		r.Stranger = cl.c.core.Telemetry != nil && cl.c.tools.stranger(p.Name)
	case *mcp.GetPromptParams:
		r.TargetKind, r.Target = instrument.Prompt, p.Name
	case *mcp.CompleteParams:
		if p.Ref.Type == mcp.RefPrompt {
			r.TargetKind, r.Target = instrument.Prompt, p.Ref.Name
		}
	case *mcp.ReadResourceParams:
		r.URI = p.URI
	case *mcp.SubscribeParams:
		r.URI = p.URI
	case *mcp.UnsubscribeParams:
		r.URI = p.URI
	}
	return r
}

// saysError reports whether isError is set in the JSON text of a tool's result.
func saysError(result json.RawMessage) bool {
	failed, _ := mcp.Object(result).Lookup("isError")
	return string(failed) == "true"
}

// Started records that the operation of the request has begun.
func (cl *call) Started() {
	cl.anew = false
	if cl.asked.mismatch {
		cl.asked.mismatch = false
		cl.Op.Retry(names.RetryHeaderMismatch)
	}
	if cl.asked.lead != nil {
		*cl.asked.lead = lead{corr: cl.Corr, ref: cl.Ref}
	}
}

// Ended returns the outcome of the request for the telemetry.
func (cl *call) Ended(err *conn.Fault) instrument.Result {
	if cl.loop.watched {
		cl.c.cfg.loops.observe(cl, err)
	}
	switch {
	case err == nil && cl.input.required != nil:
		return instrument.Result{ResultType: string(mcp.ResultInputRequired)}
	case err == nil && cl.tasks.made != nil:
		return instrument.Result{ResultType: string(mcp.ResultTask)}
	}
	if err != nil {
		return err.Result()
	}
	r := instrument.Result{ResultType: conn.ResultTypeOf(cl.result)}
	switch result := cl.result.(type) {
	case *mcp.CallToolResult:
		r.ToolError = result.IsError
	case *json.RawMessage:
		r.ToolError = cl.Method == mcp.MethodCallTool && saysError(*result)
	}
	return r
}

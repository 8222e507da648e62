package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/internal/machine"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Call sends a request and waits for its result, which it decodes into result, a pointer; nil ignores the result and a
// *json.RawMessage takes it as it is. params is anything that encodes as a JSON object, nil for none. What a tool's schema
// wants repeated in HTTP headers, [Client.CallTool] repeats and Call does not.
//
// A modern server that needs something of the client first is answered by the handlers that the client has for that, and
// the request is sent again, as often as [Options.MaxInputRounds] says; each of these requests has the timeout anew.
// (specification 2026-07-28, basic/patterns/mrtr) So it is with a call of a tool that the server makes a task, if the client
// has declared them: see [UseTasks]. It is waited for as long as ctx allows; when that ends, the server is asked once to
// cancel the task.
//
// Strings and raw JSON in the result may share the memory of the whole answer: whoever keeps a small part of a large
// result for long should clone it.
//
// The error is an [*Error]. A result that reports a failure of a tool is no error. When ctx ends or the timeout passes,
// the server is told, once, and a late answer is dropped; Call returns at once.
func (c *Client) Call(ctx context.Context, method string, params, result any, options ...CallOption) error {
	if c.intercepted != nil {
		return c.intercept(ctx, method, params, result, options)
	}
	return c.call(ctx, method, params, result, options...)
}

// call is Call without the middleware.
func (c *Client) call(ctx context.Context, method string, params, result any, options ...CallOption) error {
	cl := c.newCall(method, params)
	cl.logLevel = c.logLevel.level()
	cl.apply(options)
	if cl.onProgress != nil || cl.resets {
		cl.progressed = make(chan struct{}, 1)
	}
	hit, err := c.recall(cl, result)
	for again := !hit; again; {
		err = c.request(ctx, cl, result)
		again, err = c.satisfy(ctx, cl, result, err)
	}
	if err == nil && cl.task != nil {
		err = c.taskCreated(ctx, cl, result)
	}
	if err != nil && (cl.rounds+cl.visits > 0 || cl.task != nil || cl.seen) {
		err.Unsent = false // the server has had the requests of the rounds, or the tries, before
	}
	if err != nil && err.Server != nil {
		c.cache.doubt(method, err.Server)
	}
	c.free(cl)
	if err != nil {
		return err
	}
	return nil
}

// satisfy gets the server what it wants before it answers, if it wants anything, and reports whether to send the request
// again.
func (c *Client) satisfy(ctx context.Context, cl *call, result any, err *Error) (again bool, _ *Error) {
	switch {
	case err == nil && cl.input != nil:
		err = c.provide(ctx, cl, result)
		return err == nil, err
	case err != nil && err.Server != nil && err.Server.Code == mcp.CodeURLElicitationRequired:
		return c.visitURLs(ctx, cl, err)
	}
	return false, err
}

// request is one request of a call and its answer. The server's need for input is in cl.input when it returns.
func (c *Client) request(ctx context.Context, cl *call, result any) *Error {
	cl.allow(cmp.Or(cl.timeout, c.cfg.RequestTimeout))
	cl.settlePutOff()
	about := cl.telemetry()
	cl.target, cl.shownURI = about.Target, about.URI
	about.Beside = cl.own
	about.Stranger = about.TargetKind == telemetry.Tool && c.tel != nil && c.schemas.stranger(about.Target)
	ctx, op := c.tel.StartRequest(ctx, about)
	cl.ref, cl.corr, cl.accepted, cl.attempts, cl.session = op.Ref(), op.Corr(), false, 0, nil
	if cl.lead != nil {
		if cl.lead.mismatch {
			op.Retry(telemetry.RetryHeaderMismatch)
		}
		*cl.lead = lead{corr: cl.corr, ref: cl.ref}
	}
	returned := false
	defer func() {
		if !returned { // code of the user's panics: a callback, an encoder, a decoder
			defer op.End(telemetry.Result{ErrorType: telemetry.ErrorPanic})
			if cl.session != nil {
				c.abandon(ctx, cl.session, cl)
			}
		}
	}()
	err := c.roundTrip(ctx, cl, &op, result)
	returned = true
	if err == nil && cl.input != nil {
		op.End(telemetry.Result{ResultType: string(mcp.ResultInputRequired)})
		return nil
	}
	if err == nil && cl.task != nil {
		op.End(telemetry.Result{ResultType: string(mcp.ResultTask)})
		return nil
	}
	op.End(resultOf(err, result))
	return err
}

// roundTrip is a request between the start and the end of its operation.
func (c *Client) roundTrip(ctx context.Context, cl *call, op *telemetry.Op, result any) *Error {
	switch {
	case ctx.Err() != nil:
		return cl.left(ctx)
	case !cl.deadline.IsZero() && !cl.begun.Before(cl.deadline): // what came before the call has taken its time
		return cl.failed(outcome{cause: inflight.Timeout})
	}
	s, err := c.take(ctx, cl)
	if err != nil {
		return err
	}
	cl.session = s
	op.Admit(s.peer, cl.id)
	if cl.lead != nil {
		cl.lead.id = cl.id
	}
	c.beginKeeping(s, cl)
	o, err := c.exchange(ctx, s, cl, op)
	if err != nil {
		return err
	}
	if o.cause != 0 {
		if o.cause == inflight.Timeout {
			c.cancelUpstream(ctx, s, cl, "timeout")
		} else if _, cancelled := o.err.(*cancelledByServer); cancelled && s.overHTTP {
			s.conn.Cancel(cl.id, transport.Message{})
		}
		return cl.failed(o)
	}
	op.Received(o.message.Size())
	if cl.received != nil {
		cl.received.Add(int64(o.message.Size()))
	}
	kept := c.cache.worthKeeping(cl, &o.message)
	err = c.decode(s, cl, op, &o.message, result)
	if err == nil && kept != nil {
		c.cache.keep(cl.version, kept)
	}
	return err
}

// take takes the call into flight, as soon as the client is ready if the caller wants to wait.
func (c *Client) take(ctx context.Context, cl *call) (*session, *Error) {
	for {
		s, err := c.tryTake(cl)
		if err == nil || err.Kind != KindState || !cl.wait {
			return s, err
		}
		if err := c.awaitReady(ctx, cl); err != nil {
			return nil, err
		}
	}
}

// nextID gives out the id of a request that is not in the in-flight table.
func (c *Client) nextID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	return c.lastID
}

// tryTake asks the machine. Being ready, the new id and the session the call belongs to are one moment, and so are not
// being ready and why.
func (c *Client) tryTake(cl *call) (*session, *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.admission(cl.method); err != nil {
		return nil, err
	}
	c.lastID++
	cl.id = c.lastID
	c.calls.Add(cl.id, cl.deadline, cl)
	c.arm()
	return c.session, nil
}

// admission asks the machine whether the user may send something now. It is called with mu held.
func (c *Client) admission(op string) *Error {
	switch effects, _ := c.stepLocked(machine.Input{Event: machine.UserCall}, nil); effects[0] {
	case machine.Admit:
		return nil
	case machine.RefuseShutdown:
		return c.shutdownError(op)
	}
	err := fmt.Errorf("%w: %s", ErrNotReady, c.m.State)
	if c.lastErr != nil {
		err = fmt.Errorf("%w: %w", err, c.lastErr)
	}
	return &Error{Kind: KindState, Op: op, Unsent: true, cause: err}
}

// awaitReady waits for the client on the call's own time.
func (c *Client) awaitReady(ctx context.Context, cl *call) *Error {
	limited := ctx
	if !cl.deadline.IsZero() {
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadlineCause(ctx, cl.deadline, ErrTimeout)
		defer cancel()
	}
	err := c.Await(limited)
	if err == nil {
		return nil
	}
	e, _ := errors.AsType[*Error](err)
	e.Op = cl.method
	if limited.Err() != nil {
		e.Kind = cl.left(limited).Kind
	}
	return e
}

package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/internal/machine"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Call sends a request and waits for its result, which it decodes into result, a pointer; nil ignores the result and a
// *json.RawMessage takes it as it is. params is anything that encodes as a JSON object, nil for none.
//
// Strings and raw JSON in the result may share the memory of the whole answer: whoever keeps a small part of a large
// result for long should clone it.
//
// The error is an [*Error]. A result that reports a failure of a tool is no error. When ctx ends or the timeout passes,
// the server is told, once, and a late answer is dropped; Call returns at once.
func (c *Client) Call(ctx context.Context, method string, params, result any, options ...CallOption) error {
	cl := c.newCall(method, params)
	for _, o := range options {
		o(cl)
	}
	timeout := cl.timeout
	if timeout == 0 {
		timeout = c.cfg.RequestTimeout
	}
	if timeout > 0 {
		cl.deadline = time.Now().Add(timeout)
	}
	ctx, op := c.tel.StartRequest(ctx, cl.telemetry())
	cl.ref = op.Ref()
	err := c.roundTrip(ctx, cl, &op, result)
	op.End(resultOf(err, result))
	c.free(cl)
	if err != nil {
		return err
	}
	return nil
}

// roundTrip is a call between the start and the end of its operation.
func (c *Client) roundTrip(ctx context.Context, cl *call, op *telemetry.Op, result any) *Error {
	if ctx.Err() != nil {
		return cl.left(ctx)
	}
	s, err := c.take(ctx, cl)
	if err != nil {
		return err
	}
	op.Admit(s.peer, cl.id)
	o, err := c.exchange(ctx, s, cl, op)
	if err != nil {
		return err
	}
	if o.cause != 0 {
		if o.cause == inflight.Timeout {
			c.cancelUpstream(ctx, s, cl, "timeout")
		}
		return cl.failed(o)
	}
	op.Received(len(o.message.Frame))
	return c.decode(s, cl, op, &o.message, result)
}

// take takes the call into flight, as soon as the client is ready if the caller wants to wait.
func (c *Client) take(ctx context.Context, cl *call) (*session, *Error) {
	for {
		s, effect := c.tryTake(cl)
		switch {
		case s != nil:
			return s, nil
		case effect == machine.RefuseShutdown:
			c.mu.Lock()
			defer c.mu.Unlock()
			return nil, c.shutdownError(cl.method)
		case !cl.wait:
			return nil, c.notReady(cl.method)
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

// tryTake asks the machine. Being ready, the new id and the session the call belongs to are one moment.
func (c *Client) tryTake(cl *call) (*session, machine.Effect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	effects, _ := c.stepLocked(machine.Input{Event: machine.UserCall}, nil)
	if effects[0] != machine.Admit {
		return nil, effects[0]
	}
	c.lastID++
	cl.id = c.lastID
	c.calls.Add(cl.id, cl.deadline, cl)
	c.arm()
	return c.session, machine.Admit
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
	if ctx.Err() != nil {
		return cl.left(ctx)
	}
	e, _ := errors.AsType[*Error](err)
	e.Op = cl.method
	return e
}

func (c *Client) notReady(op string) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := fmt.Errorf("%w: %s", ErrNotReady, c.m.State)
	if c.lastErr != nil {
		err = fmt.Errorf("%w: %w", err, c.lastErr)
	}
	return &Error{Kind: KindState, Op: op, Unsent: true, cause: err}
}

// exchange sends the request and waits for the outcome. The error means that the call is no longer in flight.
func (c *Client) exchange(ctx context.Context, s *session, cl *call, op *telemetry.Op) (outcome, *Error) {
	if err := cl.encode(s, op); err != nil {
		return c.settled(cl, &Error{Kind: KindInvalid, Op: cl.method, Unsent: true, cause: err})
	}
	if o, err := c.send(ctx, s, cl, op); err != nil || o.decided() {
		return o, err
	}
	for {
		select {
		case o := <-cl.outcome:
			c.deliverProgress(cl)
			return o, nil
		case <-cl.progressed:
			c.deliverProgress(cl)
		case <-ctx.Done():
			return c.leave(ctx, s, cl)
		}
	}
}

// send hands the request to the transport, again if that is busy. It returns an outcome if the call has one before the
// request is accepted.
func (c *Client) send(ctx context.Context, s *session, cl *call, op *telemetry.Op) (outcome, *Error) {
	m := transport.Message{
		Data: cl.frame, Kind: transport.Request, ID: cl.id, Method: cl.method, Name: cl.name(),
		ProtocolVersion: string(s.version),
	}
	for {
		select {
		case o := <-cl.outcome: // failed while it was being encoded, or waiting for room
			return o, nil
		default:
		}
		op.Sending()
		err := s.conn.Send(ctx, m)
		switch {
		case err == nil:
			cl.accepted = true
			op.Sent(len(cl.frame))
			return outcome{}, nil
		case ctx.Err() != nil:
			return c.leave(ctx, s, cl)
		case !errors.Is(err, transport.ErrBusy):
			return c.unsendable(ctx, s, cl, err)
		}
		delay, again := c.busy(cl)
		if !again {
			return c.settled(cl, cl.backpressure())
		}
		op.Retry(telemetry.RetryBusy)
		if o, err, done := c.pause(ctx, s, cl, delay); done {
			return o, err
		}
	}
}

// busy asks whether the call may try again, and when.
func (c *Client) busy(cl *call) (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if effects, ok := c.stepLocked(machine.Input{Event: machine.SendBusy}, nil); !ok || len(effects) == 0 {
		return 0, true // the call has its outcome already, and finds it before it sends again
	}
	delay, again, ok := c.calls.Busy(cl.id, rand.Float64())
	return delay, again || !ok
}

// pause waits until it is time to try again, unless the call gets its outcome first.
func (c *Client) pause(ctx context.Context, s *session, cl *call, d time.Duration) (outcome, *Error, bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return outcome{}, nil, false
	case o := <-cl.outcome:
		return o, nil, true
	case <-ctx.Done():
		o, err := c.leave(ctx, s, cl)
		return o, err, true
	}
}

// unsendable deals with a transport that takes nothing any more: the connection is down. Its reader knows why, and mostly is
// about to fail all calls for that reason.
func (c *Client) unsendable(ctx context.Context, s *session, cl *call, err error) (outcome, *Error) {
	if o, err, done := c.pause(ctx, s, cl, patience); done {
		return o, err
	}
	c.step(machine.Input{Event: machine.TransportDown, Epoch: s.epoch}, &fact{err: err})
	return c.settled(cl, &Error{
		Kind: KindTransport, Op: cl.method, Unsent: true, cause: fmt.Errorf("%w: %w", ErrConnectionLost, err),
	})
}

// settled takes the call out of flight because of err, unless it has its outcome already; then that is taken, with what
// err knows about whether the request was sent.
func (c *Client) settled(cl *call, err *Error) (outcome, *Error) {
	c.mu.Lock()
	_, mine := c.calls.Settle(cl.id)
	c.mu.Unlock()
	if !mine {
		return <-cl.outcome, nil
	}
	return outcome{}, err
}

// leave takes the call out of flight because its caller's context ended, and tells the server. An outcome that is already
// there is better than none.
func (c *Client) leave(ctx context.Context, s *session, cl *call) (outcome, *Error) {
	c.mu.Lock()
	c.stepLocked(machine.Input{Event: machine.CallerLeft}, nil)
	_, mine := c.calls.Abandon(cl.id, time.Now(), inflight.Cancelled)
	c.settleUp()
	c.mu.Unlock()
	if !mine {
		return <-cl.outcome, nil
	}
	c.cancelUpstream(ctx, s, cl, "cancelled by the caller")
	return outcome{}, cl.left(ctx)
}

// cancelUpstream tells the server, in one try, that nobody waits for the answer any more. A request that the transport
// has not accepted needs no cancelling.
func (c *Client) cancelUpstream(ctx context.Context, s *session, cl *call, reason string) {
	if !cl.accepted {
		return
	}
	_, op := c.tel.StartRequest(ctx, telemetry.Request{Method: mcp.NotificationCancelled, Notification: true, Parent: cl.ref})
	notice := s.cancelNotice(cl.id, reason, traceMeta(&op, nil))
	s.conn.Cancel(cl.id, notice)
	op.Sent(len(notice.Data))
	op.End(telemetry.Result{})
}

// decode decodes the answer in the caller's goroutine. The decoder sees the part of the frame that nobody has validated
// yet, so an answer that is not valid JSON is found here; it fails this call and nothing else.
func (c *Client) decode(s *session, cl *call, op *telemetry.Op, m *jsonrpc.Message, result any) *Error {
	if m.Kind == jsonrpc.Error {
		server, err := decodeError(m)
		if err != nil {
			return c.unusable(cl, m, err)
		}
		return &Error{Kind: KindJSONRPC, Op: cl.method, Server: server}
	}
	var begun time.Time
	if op.Timed() {
		begun = time.Now()
	}
	kind, err := decodeResult(m, result)
	if op.Timed() {
		op.Decoded(time.Since(begun), err)
	}
	if err != nil {
		return c.unusable(cl, m, err)
	}
	if err := s.era.checkResult(kind); err != nil {
		return &Error{Kind: KindProtocol, Op: cl.method, cause: err}
	}
	return nil
}

// unusable counts an answer that breaks the protocol and returns the error for the call.
func (c *Client) unusable(cl *call, m *jsonrpc.Message, err error) *Error {
	v, ok := errors.AsType[*jsonrpc.Violation](err)
	if !ok {
		v = m.Invalid(err)
	}
	c.violation(v, len(m.Frame), 0)
	return &Error{Kind: KindProtocol, Op: cl.method, cause: v}
}

// decodeResult decodes the result of m and returns its type. Every byte has been validated when it returns nil.
func decodeResult(m *jsonrpc.Message, result any) (mcp.ResultType, error) {
	n, err := mcp.Decode(m.Middle(), result)
	if err != nil {
		return "", err
	}
	if err := m.Settle(n); err != nil {
		return "", err
	}
	if r, ok := result.(interface{ Base() *mcp.Result }); ok {
		return r.Base().ResultType, nil
	}
	return mcp.ResultTypeOf(m.Middle()[:n])
}

// decodeError decodes the error of m.
func decodeError(m *jsonrpc.Message) (*mcp.Error, error) {
	e, err := m.Failure()
	if err != nil {
		return nil, err
	}
	return &mcp.Error{Code: e.Code, Message: e.Message, Data: e.Data}, nil
}

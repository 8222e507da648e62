package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
)

// rpcCall is one request from its arrival to its answer. Its handler knows what the request is about. It is owned by
// the goroutine that serves it, except for what belongs to calls and to asks.
type rpcCall struct {
	handler rpcHandler
	x       *rpcExchange
	id      jsonrpc.ID
	out     sink
	size    int   // of the frame
	refused error // why the request is not handled at all
	ended   error // why the context of a handler that failed had ended before; nil if it had not

	inline   bool // quick, so that the goroutine that reads answers it: before it reads on, whatever is running
	inOrder  bool // the goroutine that reads handles it, and it keeps its place until it is concluded
	here     bool // the goroutine that reads answers it
	deferred bool // its handler has seen to it that it is concluded later
	foreign  bool // its result is another server's: telemetry captures nothing of it

	arrived time.Time
	pace    *pace   // of its handler; nil where the goroutine that reads never runs it
	ends    endable // context of the handler
	op      instrument.Op

	cancelled error // guarded by calls.mu; why there is no answer
	asking    int   // guarded by asks.mu; goroutines that wait for answers of the client
}

// rpcHandler is what a request is about.
type rpcHandler interface {
	// begin decides how a request of a method is answered, or why it is refused, and calls [rpcCall.start], once. raw are
	// the params, nil for none, and p has parts of them: by value, for a pointer would be one more allocation.
	begin(method string, raw json.RawMessage, p jsonrpc.Params)
	// handle answers the request. Its panic is an internal error.
	handle(ctx context.Context) (result any, err error)
	// answers hears that nothing but the answer may follow, or nothing at all if the request was given up for a reason.
	answers(left error)
	// encode appends the frame that answers the request to dst, and returns the error that is in it, nil for a result.
	// rest is what follows the frame, before a closing brace; nil for a frame in one piece.
	encode(dst []byte, result any, err error) (frame, rest []byte, wrong error)
	// outcome describes the end of the operation: with a result or with err, and why the answer was lost, if it was.
	outcome(result any, err, lost error) instrument.Result
	// left describes the end of an operation without an answer.
	left(why error) instrument.Result
	// about returns the method, and the revision by which the request is answered.
	about() (method string, v mcp.Version)
	// value returns the value of [infoKey] in the context of the handler.
	value() any
}

// newCall makes c of a request. Its handler begins it.
func (x *rpcExchange) newCall(c *rpcCall, m *jsonrpc.Message, p *jsonrpc.Params, out sink) {
	if x.place != nil {
		x.place.retain()
	}
	c.x, c.id, c.out, c.size = x, m.ID, out, m.Size()
	c.handler.begin(m.Method, m.Middle(), *p)
}

// abandon answers a request that could not even be begun: code of the user's that telemetry calls has ended the
// goroutine.
func (c *rpcCall) abandon(m *jsonrpc.Message, out sink) {
	defer c.op.End(brokenOff)
	c.leavePlace()
	_ = out.answer(c.x.work, answer{frame: appendError(nil, m.ID, errInternal), err: errInternal, refused: true, id: m.ID})
}

// start starts the operation in telemetry and makes the context of the handler.
func (c *rpcCall) start(in *instrument.Incoming) {
	ctx := context.Context((*informed)(c))
	if c.x.tel != nil {
		ctx, c.op = c.x.tel.StartHandler(ctx, *in)
	}
	if c.arrived = c.op.Started(); c.arrived.IsZero() {
		c.arrived = time.Now()
	}
	c.ends.parent = ctx
}

// ctx returns the context of the handler.
func (c *rpcCall) ctx() context.Context { return &c.ends }

// cancel ends the context of the handler, unless it has ended.
func (c *rpcCall) cancel(why error) { c.ends.end(why) }

// leavePlace gives up what the request occupies.
func (c *rpcCall) leavePlace() {
	if c.x.place != nil {
		c.x.place.drop()
	}
}

// admitted serves a request that was admitted, if it is to be answered here.
func (c *rpcCall) admitted() {
	switch {
	case !c.here:
	case c.inOrder:
		c.serve()
	case c.x.reading != nil:
		c.x.reading.answer(c)
	default:
		c.run()
	}
}

// run serves a request that was admitted.
func (c *rpcCall) run() {
	defer c.x.calls.release()
	c.serve()
}

// serve handles the request and answers it, whatever becomes of the handler: it may even end its goroutine.
func (c *rpcCall) serve() { c.op.Labelled(c.ctx(), c.serveIn) }

// serveIn serves the request, whose handler gets ctx.
func (c *rpcCall) serveIn(ctx context.Context) {
	var result any
	err := error(errPanicked)
	defer func() {
		if !c.deferred {
			c.conclude(result, err)
		}
	}()
	if c.pace != nil && c.refused == nil {
		begun := c.arrived
		if !c.here {
			begun = time.Now() // it may have waited
		}
		defer c.timed(begun)
	}
	result, err = c.callHandler(ctx)
}

// timed notes how long the handler has run.
func (c *rpcCall) timed(since time.Time) { c.pace.ran(time.Since(since)) }

// callHandler calls the handler, and turns a panic into an error.
func (c *rpcCall) callHandler(ctx context.Context) (result any, err error) {
	switch {
	case c.refused != nil:
		return nil, c.refused
	case c.x.work.Err() != nil:
		// It has ended while the call waited, and c.ctx, which is derived from it, may end a moment later.
		return nil, context.Cause(c.x.work)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	err = errPanicked
	usercode.Run(func() { result, err = c.handler.handle(ctx) }, func(f *usercode.Failure) {
		method, _ := c.handler.about()
		c.x.failed(ctx, method)(f)
	})
	return result, err
}

// conclude answers the request, unless the client has cancelled it.
func (c *rpcCall) conclude(result any, err error) {
	if c.inOrder {
		defer c.x.calls.release()
	}
	cancelled := c.x.calls.finish(c)
	c.handler.answers(cancelled)
	if cancelled != nil {
		c.leave(cancelled)
		return
	}
	buf := takeBuffer()
	frame, rest, wrong := []byte(nil), []byte(nil), error(errInternal)
	defer func() { // even if the encoder of the user's ends the goroutine
		if frame == nil {
			frame = appendError((*buf)[:0], c.id, errInternal)
		}
		c.reply(buf, frame, rest, result, wrong)
	}()
	frame, rest, wrong = c.handler.encode((*buf)[:0], result, err)
}

// giveUp ends a request without an answer, for a reason. withdraw tells the client so, unless the client has cancelled
// the request: then that is the reason. A nil withdraw gives the request up for the reason in any case.
func (c *rpcCall) giveUp(why error, withdraw func()) {
	defer c.x.calls.release()
	cancelled := c.x.calls.finish(c)
	switch {
	case withdraw == nil:
	case cancelled != nil:
		why = cancelled
	default:
		withdraw()
	}
	c.leave(why)
}

// reply sends the answer, in a frame that carries err unless that is nil, and ends the operation. What it needs for
// either is in functions of its own: below them is the deepest point of a call, where the stack of each goroutine that
// waits had to grow again after each collection, for 4 % of a tiny call on a pipe with 64 callers.
func (c *rpcCall) reply(buf *[]byte, frame, rest []byte, result any, err error) {
	defer c.cancel(nil)
	defer c.breakOff()
	c.leavePlace() // before the client sees the answer, and sends its next request
	lost := c.send(frame, rest, err)
	if instead, ok := errors.AsType[*answeredInstead](lost); ok {
		result, err, lost, c.refused = nil, instead.err, nil, instead.err
	}
	if c.op.Captures() && err == nil && !c.foreign {
		sent, _ := mcp.Object(frame).Lookup("result")
		c.op.Answer(sent)
	}
	if c.pace != nil && len(frame) > maxKept {
		c.pace.ran(patience) // so may writing it take
	}
	releaseBuffer(buf, frame)
	c.end(result, err, lost)
}

// send sends the answer.
func (c *rpcCall) send(frame, rest []byte, err error) (lost error) {
	c.op.Sending()
	a := answer{frame: frame, rest: rest, err: err, refused: c.refused != nil, id: c.id}
	lost = c.out.answer(c.sending(), a)
	c.op.Sent(a.size())
	return lost
}

// end ends the operation of a request whose answer was sent, or lost.
func (c *rpcCall) end(result any, err, lost error) { c.op.End(c.handler.outcome(result, err, lost)) }

// breakOff ends the operation of a request whose answer the user's code has broken off, unless it has ended.
func (c *rpcCall) breakOff() { c.op.End(brokenOff) }

// sending is the context to send the answer with. The read loop, which serves what it does not leave to others, must
// not be kept by a client that takes no answers when the connection is to end.
func (c *rpcCall) sending() context.Context {
	if c.refused != nil || c.inline {
		return c.x.work
	}
	return c.x.life
}

// leave ends a request that gets no answer, for one of the endings.
func (c *rpcCall) leave(why error) {
	defer c.cancel(why)
	defer c.op.End(c.handler.left(why))
	c.leavePlace()
	_ = c.out.answer(c.x.life, answer{})
}

// tellTrace gives telemetry what the sender of a message says about its trace.
func tellTrace(in *instrument.Incoming, p *jsonrpc.Params) {
	in.Traceparent, in.Tracestate, in.Baggage = text(p.Traceparent), text(p.Tracestate), text(p.Baggage)
	in.Meta = p.Meta
}

// traced returns the _meta of a message of the server's with the trace context of op.
func traced(op *instrument.Op, user mcp.Meta) jsonrpc.Meta {
	t := op.TraceContext()
	return jsonrpc.Meta{Traceparent: t.Traceparent, Tracestate: t.Tracestate, Baggage: t.Baggage,
		Propagated: t.Others, Declared: t.Declared(), User: user}
}

// text returns what raw, a JSON string, says, empty for nil and anything else.
func text(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	s, _ := jsonrpc.Text(raw)
	return s
}

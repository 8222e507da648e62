package rpc

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

// Call is one request from its arrival to its answer. Its handler knows what the request is about. It is owned by
// the goroutine that serves it, except for what belongs to calls and to asks.
type Call struct {
	Handler  Handler
	Exchange *Exchange
	ID       jsonrpc.ID
	Out      Sink
	Size     int   // of the frame
	Refused  error // why the request is not handled at all
	Ended    error // why the context of a handler that failed had ended before; nil if it had not

	Inline   bool // quick, so that the goroutine that reads answers it: before it reads on, whatever is running
	InOrder  bool // the goroutine that reads handles it, and it keeps its place until it is concluded
	Here     bool // the goroutine that reads answers it
	Deferred bool // its handler has seen to it that it is concluded later
	Foreign  bool // its result is another server's: telemetry captures nothing of it

	Arrived time.Time
	Pace    *Pace   // of its handler; nil where the goroutine that reads never runs it
	ends    endable // context of the handler
	Op      instrument.Op

	keepsPlace bool // it was admitted in order, and releases its place when it is concluded

	cancelled error // guarded by calls.mu; why there is no answer
	asking    int   // guarded by asks.mu; goroutines that wait for answers of the client
}

// Handler is what a request is about.
type Handler interface {
	// Begin decides how a request of a method is answered, or why it is refused, and calls [rpcCall.start], once. raw are
	// the params, nil for none, and p has parts of them: by value, for a pointer would be one more allocation.
	Begin(method string, raw json.RawMessage, p jsonrpc.Params)
	// Handle answers the request. Its panic is an internal error.
	Handle(ctx context.Context) (result any, err error)
	// Close hears that nothing but the answer may follow, or nothing at all if the request was given up for a reason.
	Close(left error)
	// Encode appends the frame that answers the request to dst, and returns the error that is in it, nil for a result.
	// rest is what follows the frame, before a closing brace; nil for a frame in one piece.
	Encode(dst []byte, result any, err error) (frame, rest []byte, wrong error)
	// Outcome describes the end of the operation: with a result or with err, and why the answer was lost, if it was.
	Outcome(result any, err, lost error) instrument.Result
	// Left describes the end of an operation without an answer.
	Left(why error) instrument.Result
	// About returns the method, and the revision by which the request is answered.
	About() (method string, v mcp.Version)
	// Value returns the value of [infoKey] in the context of the handler.
	Value() any
}

// newCall makes c of a request. Its handler begins it.
func (x *Exchange) newCall(c *Call, m *jsonrpc.Message, p *jsonrpc.Params, out Sink) {
	if x.Place != nil {
		x.Place.Retain()
	}
	c.Exchange, c.ID, c.Out, c.Size = x, m.ID, out, m.Size()
	c.Handler.Begin(m.Method, m.Middle(), *p)
}

// abandon answers a request that could not even be begun: code of the user's that telemetry calls has ended the
// goroutine.
func (c *Call) abandon(m *jsonrpc.Message, out Sink) {
	defer c.Op.End(BrokenOff)
	c.leavePlace()
	frame := AppendError(nil, m.ID, ErrInternal)
	_ = out.Answer(c.Exchange.Work, Answer{Frame: frame, Err: ErrInternal, Refused: true, ID: m.ID})
}

// Start starts the operation in telemetry and makes the context of the handler.
func (c *Call) Start(in *instrument.Incoming) {
	ctx := context.Context((*informed)(c))
	if c.Exchange.Tel != nil {
		ctx, c.Op = c.Exchange.Tel.StartHandler(ctx, *in)
	}
	if c.Arrived = c.Op.Started(); c.Arrived.IsZero() {
		c.Arrived = time.Now()
	}
	c.ends.parent = ctx
}

// Context returns the context of the handler.
func (c *Call) Context() context.Context { return &c.ends }

// Cancel ends the context of the handler, unless it has ended.
func (c *Call) Cancel(why error) { c.ends.end(why) }

// leavePlace gives up what the request occupies.
func (c *Call) leavePlace() {
	if c.Exchange.Place != nil {
		c.Exchange.Place.Release()
	}
}

// admitted serves a request that was admitted, if it is to be answered here.
func (c *Call) admitted() {
	switch {
	case !c.Here:
	case c.InOrder:
		c.serve()
	case c.Exchange.Reader != nil:
		c.Exchange.Reader.answer(c)
	default:
		c.Run()
	}
}

// Run serves a request that was admitted.
func (c *Call) Run() {
	defer c.Exchange.Calls.Release()
	c.serve()
}

// serve handles the request and answers it, whatever becomes of the handler: it may even end its goroutine.
func (c *Call) serve() { c.Op.Labelled(c.Context(), c.serveIn) }

// serveIn serves the request, whose handler gets ctx.
func (c *Call) serveIn(ctx context.Context) {
	var result any
	err := error(ErrPanicked)
	defer func() {
		if !c.Deferred {
			c.Conclude(result, err)
		}
	}()
	if c.Pace != nil && c.Refused == nil {
		begun := c.Arrived
		if !c.Here {
			begun = time.Now() // it may have waited
		}
		defer c.timed(begun)
	}
	result, err = c.callHandler(ctx)
}

// timed notes how long the handler has run.
func (c *Call) timed(since time.Time) { c.Pace.ran(time.Since(since)) }

// callHandler calls the handler, and turns a panic into an error.
func (c *Call) callHandler(ctx context.Context) (result any, err error) {
	switch {
	case c.Refused != nil:
		return nil, c.Refused
	case c.Exchange.Work.Err() != nil:
		// It has ended while the call waited, and c.ctx, which is derived from it, may end a moment later.
		return nil, context.Cause(c.Exchange.Work)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	err = ErrPanicked
	usercode.Run(func() { result, err = c.Handler.Handle(ctx) }, func(f *usercode.Failure) {
		method, _ := c.Handler.About()
		c.Exchange.Failed(ctx, method)(f)
	})
	return result, err
}

// Conclude answers the request, unless the client has cancelled it.
func (c *Call) Conclude(result any, err error) {
	if c.keepsPlace {
		defer c.Exchange.Calls.Release()
	}
	cancelled := c.Exchange.Calls.Finish(c)
	c.Handler.Close(cancelled)
	if cancelled != nil {
		c.leave(cancelled)
		return
	}
	buf := GetBuffer()
	frame, rest, wrong := []byte(nil), []byte(nil), error(ErrInternal)
	defer func() { // even if the encoder of the user's ends the goroutine
		if frame == nil {
			frame = AppendError((*buf)[:0], c.ID, ErrInternal)
		}
		c.reply(buf, frame, rest, result, wrong)
	}()
	frame, rest, wrong = c.Handler.Encode((*buf)[:0], result, err)
}

// GiveUp ends a request without an answer, for a reason. withdraw tells the client so, unless the client has cancelled
// the request: then that is the reason. A nil withdraw gives the request up for the reason in any case.
func (c *Call) GiveUp(why error, withdraw func()) {
	defer c.Exchange.Calls.Release()
	cancelled := c.Exchange.Calls.Finish(c)
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
func (c *Call) reply(buf *[]byte, frame, rest []byte, result any, err error) {
	defer c.Cancel(nil)
	defer c.breakOff()
	c.leavePlace() // before the client sees the answer, and sends its next request
	lost := c.send(frame, rest, err)
	if instead, ok := errors.AsType[*AnsweredInstead](lost); ok {
		result, err, lost, c.Refused = nil, instead.Err, nil, instead.Err
	}
	if c.Op.Captures() && err == nil && !c.Foreign {
		sent, _ := mcp.Object(frame).Lookup("result")
		c.Op.Answer(sent)
	}
	if c.Pace != nil && len(frame) > MaxKept {
		c.Pace.ran(Patience) // so may writing it take
	}
	PutBuffer(buf, frame)
	c.end(result, err, lost)
}

// send sends the answer.
func (c *Call) send(frame, rest []byte, err error) (lost error) {
	c.Op.Sending()
	a := Answer{Frame: frame, Rest: rest, Err: err, Refused: c.Refused != nil, ID: c.ID}
	lost = c.Out.Answer(c.sending(), a)
	c.Op.Sent(a.Size())
	return lost
}

// end ends the operation of a request whose answer was sent, or lost.
func (c *Call) end(result any, err, lost error) { c.Op.End(c.Handler.Outcome(result, err, lost)) }

// breakOff ends the operation of a request whose answer the user's code has broken off, unless it has ended.
func (c *Call) breakOff() { c.Op.End(BrokenOff) }

// sending is the context to send the answer with. The read loop, which serves what it does not leave to others, must
// not be kept by a client that takes no answers when the connection is to end.
func (c *Call) sending() context.Context {
	if c.Refused != nil || c.Inline {
		return c.Exchange.Work
	}
	return c.Exchange.Life
}

// leave ends a request that gets no answer, for one of the endings.
func (c *Call) leave(why error) {
	defer c.Cancel(why)
	defer c.Op.End(c.Handler.Left(why))
	c.leavePlace()
	_ = c.Out.Answer(c.Exchange.Life, Answer{})
}

// DescribeTrace gives telemetry what the sender of a message says about its trace.
func DescribeTrace(in *instrument.Incoming, p *jsonrpc.Params) {
	in.Traceparent, in.Tracestate, in.Baggage = Text(p.Traceparent), Text(p.Tracestate), Text(p.Baggage)
	in.Meta = p.Meta
}

// Traced returns the _meta of a message of the server's with the trace context of op.
func Traced(op *instrument.Op, user mcp.Meta) jsonrpc.Meta {
	t := op.TraceContext()
	return jsonrpc.Meta{Traceparent: t.Traceparent, Tracestate: t.Tracestate, Baggage: t.Baggage,
		Propagated: t.Others, Declared: t.Declared(), User: user}
}

// Text returns what raw, a JSON string, says, empty for nil and anything else.
func Text(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	s, _ := jsonrpc.Text(raw)
	return s
}

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

// Call is one request from its arrival to its answer. The goroutine that serves the call owns it.
type Call struct {
	Handler  Handler
	Exchange *Exchange
	ID       jsonrpc.ID
	Out      Sink
	Size     int   // size of the frame, in bytes
	Refused  error // why no handler handles the request; nil if a handler does
	Ended    error // the cause of the handler's context, if the context ended before the handler failed; nil otherwise

	// How the call is served. By default, the group serves it in a goroutine after admission. The calling goroutine is the
	// one that has passed the request to the exchange.

	Inline   bool // served immediately by the calling goroutine, without admission
	InOrder  bool // served by the calling goroutine, after admission; the call keeps its place until Conclude or GiveUp
	OnReader bool // served by the calling goroutine; set at admission
	Deferred bool // the handler calls Conclude or GiveUp later
	Foreign  bool // another server made the result, so telemetry captures nothing of it

	Arrived time.Time
	Pace    *Pace         // running time of the handler; nil if the reading goroutine never runs the handler
	ends    endable       // the context of the handler
	Op      instrument.Op // the operation in telemetry

	keepsPlace bool // the call was admitted in order, and Conclude releases its place

	cancelled error // guarded by Calls.mu; why the client gets no answer
	asking    int   // guarded by Asks.mu; number of goroutines that wait for the client
}

// Handler handles a request according to its method.
type Handler interface {
	// Begin decides how the server answers a request, or sets Refused. It calls [Call.Start] once. raw holds the
	// params, nil for none. p holds parts of the params; p is a value because a pointer would cost an allocation.
	Begin(method string, raw json.RawMessage, p jsonrpc.Params)
	// Handle handles the request. A panic becomes an internal error.
	Handle(ctx context.Context) (result any, err error)
	// Close stops everything that the handler sends in addition to the answer. cancelled is the reason why no answer
	// follows; it is nil if an answer follows.
	Close(cancelled error)
	// Encode appends the frame of the answer to dst. wrong is the error in the frame, nil for a result. If the frame has
	// two parts, rest is the second part, and a closing brace follows it. rest is nil for a frame in one piece.
	Encode(dst []byte, result any, err error) (frame, rest []byte, wrong error)
	// Outcome describes the end of the operation with a result or an error. lost is the reason why the answer could not be
	// sent, nil if it was sent.
	Outcome(result any, err, lost error) instrument.Result
	// Left describes the end of an operation without an answer.
	Left(why error) instrument.Result
	// About returns the method and the revision of the answer.
	About() (method string, v mcp.Version)
	// Value returns the value for [InfoKey] in the context of the handler.
	Value() any
}

// newCall prepares c as the call for a request.
func (x *Exchange) newCall(c *Call, m *jsonrpc.Message, p *jsonrpc.Params, out Sink) {
	if x.Place != nil {
		x.Place.Retain()
	}
	c.Exchange, c.ID, c.Out, c.Size = x, m.ID, out, m.Size()
	c.Handler.Begin(m.Method, m.Middle(), *p)
}

// abandon answers a request that could not start, because user code that telemetry calls has ended the goroutine.
func (c *Call) abandon(m *jsonrpc.Message, out Sink) {
	defer c.Op.End(BrokenOff)
	c.leavePlace()
	frame := AppendError(nil, m.ID, ErrInternal)
	_ = out.Answer(c.Exchange.Work, Answer{Frame: frame, Err: ErrInternal, Refused: true, ID: m.ID})
}

// Start starts the telemetry operation that in describes, and creates the context of the handler.
func (c *Call) Start(in *instrument.Incoming) {
	ctx := context.Context((*informed)(c))
	if c.Exchange.Peer.Tel != nil {
		ctx, c.Op = c.Exchange.Peer.Tel.StartHandler(ctx, *in)
	}
	if c.Arrived = c.Op.Started(); c.Arrived.IsZero() {
		c.Arrived = time.Now()
	}
	c.ends.parent = ctx
}

// Context returns the context of the handler.
func (c *Call) Context() context.Context { return &c.ends }

// Cancel ends the context of the handler with a cause.
func (c *Call) Cancel(why error) { c.ends.end(why) }

// leavePlace releases the request's part of the place that the exchange occupies.
func (c *Call) leavePlace() {
	if c.Exchange.Place != nil {
		c.Exchange.Place.Release()
	}
}

// serveOnReader serves an admitted call in the calling goroutine if OnReader is set.
func (c *Call) serveOnReader() {
	switch {
	case !c.OnReader:
	case c.InOrder:
		c.serve()
	case c.Exchange.Reader != nil:
		c.Exchange.Reader.answer(c)
	default:
		c.Run()
	}
}

// Run serves an admitted call.
func (c *Call) Run() {
	defer c.Exchange.Calls.Release()
	c.serve()
}

// serve handles and answers the request, even if the handler panics or ends the goroutine.
func (c *Call) serve() { c.Op.Labelled(c.Context(), c.serveIn) }

// serveIn does the work of serve in the context of the handler.
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
		if !c.OnReader {
			begun = time.Now() // the call may have waited in the queue
		}
		defer c.timed(begun)
	}
	result, err = c.callHandler(ctx)
}

// timed adds the running time of the handler to its pace.
func (c *Call) timed(since time.Time) { c.Pace.add(time.Since(since)) }

// callHandler calls the handler, and returns ErrPanicked if it panics.
func (c *Call) callHandler(ctx context.Context) (result any, err error) {
	switch {
	case c.Refused != nil:
		return nil, c.Refused
	case c.keepsPlace: // the handler concludes the call, or has given it up
	case c.Exchange.Work.Err() != nil:
		// The handler's context is derived from Work, but may end a moment after Work.
		return nil, context.Cause(c.Exchange.Work)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	err = ErrPanicked
	usercode.Run(func() { result, err = c.Handler.Handle(ctx) }, func(f *usercode.Failure) {
		method, _ := c.Handler.About()
		c.Exchange.Peer.Failed(ctx, method)(f)
	})
	return result, err
}

// Conclude answers the request with a result or an error, unless the client has cancelled the request.
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
	defer func() { // deferred, because user code in Encode may end the goroutine
		if frame == nil {
			frame = AppendError((*buf)[:0], c.ID, ErrInternal)
		}
		c.reply(buf, frame, rest, result, wrong)
	}()
	frame, rest, wrong = c.Handler.Encode((*buf)[:0], result, err)
}

// GiveUp ends a request without an answer because of why. If the client has cancelled the request, the cancellation
// replaces why; otherwise withdraw informs the client. If withdraw is nil, GiveUp uses why and informs nobody.
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

// reply sends the answer and ends the operation. err is the error in the frame; nil for a result. send and end are
// separate functions, so that stack frames stay small at the deepest point of a call. With one larger frame, the stacks
// of waiting goroutines had to grow after each garbage collection, which cost 4 % of a tiny call on a pipe with 64
// callers.
func (c *Call) reply(buf *[]byte, frame, rest []byte, result any, err error) {
	defer c.Cancel(nil)
	defer c.breakOff()
	c.leavePlace() // before the client sees the answer and sends its next request
	lost := c.send(frame, rest, err)
	if instead, ok := errors.AsType[*AnsweredInstead](lost); ok {
		result, err, lost, c.Refused = nil, instead.Err, nil, instead.Err
	}
	if c.Op.Captures() && err == nil && !c.Foreign {
		sent, _ := mcp.Object(frame).Lookup("result")
		c.Op.Answer(sent)
	}
	if c.Pace != nil && len(frame) > MaxKept {
		c.Pace.add(Patience) // writing may take that long
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

// end ends the operation of a request after its answer was sent or lost.
func (c *Call) end(result any, err, lost error) { c.Op.End(c.Handler.Outcome(result, err, lost)) }

// breakOff ends the operation of a request in which user code has failed, unless the operation has ended.
func (c *Call) breakOff() { c.Op.End(BrokenOff) }

// sending returns the context for sending the answer. For a refused or inline call it is Work, because the reading
// goroutine sends such an answer, and must stop when the connection ends, even if the client reads nothing.
func (c *Call) sending() context.Context {
	if c.Refused != nil || c.Inline {
		return c.Exchange.Work
	}
	return c.Exchange.Life
}

// leave ends a request without an answer.
func (c *Call) leave(why error) {
	defer c.Cancel(why)
	defer c.Op.End(c.Handler.Left(why))
	c.leavePlace()
	_ = c.Out.Answer(c.Exchange.Life, Answer{})
}

// DescribeTrace adds the trace context in the params of a message to in, the message's description for telemetry.
func DescribeTrace(in *instrument.Incoming, p *jsonrpc.Params) {
	in.Traceparent, in.Tracestate, in.Baggage = Text(p.Traceparent), Text(p.Tracestate), Text(p.Baggage)
	in.Meta = p.Meta
}

// Traced returns the _meta for a message of the server, with the trace context of op.
func Traced(op *instrument.Op, user mcp.Meta) jsonrpc.Meta {
	t := op.TraceContext()
	return jsonrpc.Meta{Traceparent: t.Traceparent, Tracestate: t.Tracestate, Baggage: t.Baggage,
		Propagated: t.Others, Declared: t.Declared(), User: user}
}

// Text returns the text of a JSON string, empty for nil and for any other value.
func Text(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	s, _ := jsonrpc.Text(raw)
	return s
}

package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// call is one request from its arrival to its answer. It is owned by the goroutine that serves it, except for what
// belongs to calls, to asks, to progress and to rounds.
type call struct {
	x         *exchange
	info      RequestInfo
	method    *method // nil if there is none
	target    string  // what the method is about, under its registered name if it has one
	uri       string  // of the resource that the method is about
	params    json.RawMessage
	arguments json.RawMessage
	task      json.RawMessage // what the client asks for that wants a task of 2025-11-25, nil if it does not
	out       sink
	size      int          // of the frame
	refused   error        // why the request is not handled at all
	ended     error        // why the context of a handler that failed had ended before; nil if it had not
	stands    bool         // its handler has seen to it that it is concluded later
	relayed   *relayedCall // nil for a request that the server answers by itself
	arrived   time.Time
	pace      *pace // of its handler; nil where the goroutine that reads never runs it
	here      bool  // the goroutine that reads answers it

	asked    toolRequest     // what the handler of a tool gets
	told     informed        // what telemetry begins with
	ends     endable         // what ctx is
	ctx      context.Context // of the handler
	op       instrument.Op
	progress *progress // nil if the client wants no progress
	rounds   rounds    // in which the client is asked for something

	logLevel mcp.LoggingLevel      // that a modern client wants, empty for none
	voice    atomic.Pointer[voice] // of log messages; nil before the first

	cancelled error // guarded by calls.mu; why there is no answer
	asking    int   // guarded by asks.mu; goroutines that wait for answers of the client
}

// newCall makes c of a request: it decides by which revision that is answered and by what, or why it is refused, and
// begins its telemetry.
func (x *exchange) newCall(c *call, m *jsonrpc.Message, p *jsonrpc.Params, out sink) {
	x.visit.retain()
	c.x, c.params, c.arguments, c.task, c.out, c.size = x, m.Middle(), p.Arguments, p.Task, out, m.Size()
	c.info = RequestInfo{Method: m.Method, ID: m.ID, Meta: p.Meta, call: c}
	if x.s.receiver != nil {
		c.readRelayed(p)
		c.begin(p)
		return
	}
	c.info.Version, c.info.from, c.refused = x.revision(m.Method, p)
	c.method, _ = x.s.methods.lookup(m.Method)
	if c.refused == nil {
		c.refused = c.check(p)
	}
	c.begin(p)
	c.op.Arguments(c.arguments)
	c.arrive(p)
}

// abandon answers a request that could not even be begun: code of the user's that telemetry calls has ended the
// goroutine.
func (c *call) abandon(m *jsonrpc.Message, out sink) {
	defer c.op.End(brokenOff)
	c.x.visit.drop()
	_ = out.answer(c.x.work, answer{frame: appendError(nil, m.ID, errInternal), err: errInternal, refused: true, id: m.ID})
}

// revision returns the revision by which a request is answered, and who asks. initialize is legacy whatever it carries,
// unless the headers of HTTP say otherwise.
func (x *exchange) revision(method string, p *jsonrpc.Params) (mcp.Version, client, error) {
	switch {
	case x.headers != nil:
		return x.headers.terms(x.s, method, p)
	case len(x.s.cfg.modern) > 0 && method != mcp.MethodInitialize && modern(p):
		return x.s.modernTerms(p)
	}
	return x.legacyTerms(method)
}

// check says whether the request can be handled under its terms.
func (c *call) check(p *jsonrpc.Params) error {
	if c.method == nil {
		return refusal(mcp.CodeMethodNotFound, "unknown method %q", c.info.Method)
	}
	if v := c.info.Version; v != "" && !c.method.in(v) {
		return refusal(mcp.CodeMethodNotFound, "unknown method %q in revision %s", c.info.Method, v)
	}
	if c.info.from.agreed == nil && c.out.reach().batched {
		return invalidRequest("revision %s has no batches", c.info.Version)
	}
	if !c.x.allows(c.method.rate) {
		return errTooOften
	}
	if err := c.x.headers.check(c, p); err != nil {
		return err
	}
	if err := c.readLogLevel(p); err != nil {
		return err
	}
	if p.ProgressToken == nil {
		return nil
	}
	token, ok := jsonrpc.ParseID(p.ProgressToken)
	if !ok {
		return invalidParams("params._meta.progressToken is no string and no integer")
	}
	c.progress = newProgress(token)
	return nil
}

// begin starts the operation in telemetry and makes the context of the handler.
func (c *call) begin(p *jsonrpc.Params) {
	c.told = informed{c.x.work, &c.info}
	ctx := context.Context(&c.told)
	known := false
	if c.method != nil && c.method.find != nil {
		name := p.Name
		if c.method.name == mcp.MethodComplete {
			name = jsonrpc.CompletedPrompt(c.params)
		}
		c.target, known = c.method.named(name)
	}
	if c.method != nil && c.method.byURI {
		c.uri = text(p.URI)
	}
	if c.x.tel != nil {
		ctx, c.op = c.x.tel.StartHandler(ctx, c.incoming(p, known))
	}
	if c.arrived = c.op.Started(); c.arrived.IsZero() {
		c.arrived = time.Now()
	}
	c.ends.parent = ctx
	c.ctx = &c.ends
	if c.x.reading != nil && c.method != nil && c.method.pace != nil {
		c.pace = c.method.pace(c.target)
	}
}

// cancel ends the context of the handler, unless it has ended.
func (c *call) cancel(why error) { c.ends.end(why) }

// incoming describes the request for telemetry.
func (c *call) incoming(p *jsonrpc.Params, targetKnown bool) instrument.Incoming {
	in := instrument.Incoming{
		Method: c.info.Method, Target: c.target, Known: c.known(), TargetKnown: targetKnown,
		URI: c.uri, Size: c.size, Peer: c.x.seen(c.info.Version), Untrusted: c.x.untrusted,
	}
	in.ID, _ = c.info.ID.Text()
	in.IntID, in.HasIntID = c.info.ID.Int()
	if c.method != nil {
		in.TargetKind = c.method.kind
	}
	c.x.tellHTTP(&in)
	in.ClientName, in.ClientVersion = c.introduced()
	tellTrace(&in, p)
	return in
}

// known reports whether the server has chosen to answer the method.
func (c *call) known() bool { return c.method != nil && c.relayed == nil }

// introduced returns the name and the version that the client gives itself, empty if it has not said so.
func (c *call) introduced() (name, version string) {
	from := c.info.from
	switch {
	case from.agreed != nil:
		return from.agreed.client.Name, from.agreed.client.Version
	case c.info.Method == mcp.MethodInitialize:
		from.info, _ = mcp.Object(c.params).Lookup("clientInfo")
	}
	return c.x.s.introductions.read(from.info)
}

// tellHTTP gives telemetry what the HTTP request says that brought a message, if one did.
func (x *exchange) tellHTTP(in *instrument.Incoming) {
	if r := x.httpRequest; r != nil {
		in.RemoteAddr, in.Header = r.RemoteAddr, r.Header
	}
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
func text(raw []byte) string {
	if raw == nil {
		return ""
	}
	s, _ := jsonrpc.Text(raw)
	return s
}

// named returns what a request is about, from a raw member of its params: the registered name and true, or the name as
// it came and false. It is empty if that is no name.
func (m *method) named(raw []byte) (string, bool) {
	if len(raw) == 0 {
		return "", false
	}
	if end, escaped, err := jsonscan.String(raw, 0); err == nil && !escaped && end == len(raw) {
		if name, ok := m.find(raw[1 : end-1]); ok {
			return name, true
		}
	}
	name, _ := jsonrpc.Text(raw)
	if registered, ok := m.find([]byte(name)); ok {
		return registered, true
	}
	return name, false
}

// run serves a request that was admitted.
func (c *call) run() {
	defer c.x.calls.release()
	c.serve()
}

// standing is the result of a handler that has seen to it that the request is concluded later.
type standing struct{}

// serve handles the request and answers it, whatever becomes of the handler: it may even end its goroutine.
func (c *call) serve() { c.op.Labelled(c.ctx, c.serveIn) }

// serveIn serves the request, whose handler gets ctx.
func (c *call) serveIn(ctx context.Context) {
	var result any
	err := error(errPanicked)
	defer func() {
		if _, later := result.(standing); !later && !c.stands {
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
	result, err = c.handle(ctx)
}

// timed notes how long the handler has run.
func (c *call) timed(since time.Time) { c.pace.ran(time.Since(since)) }

// handle does what outcome does, and turns a panic into an error.
func (c *call) handle(ctx context.Context) (result any, err error) {
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
	usercode.Run(func() { result, err = c.outcome(ctx) }, c.x.failed(ctx, c.info.Method))
	return result, err
}

// outcome calls the handler, or the middleware around it.
func (c *call) outcome(ctx context.Context) (result any, err error) {
	if limit := c.x.s.cfg.RequestTimeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w within %v", errTimeLimit, limit))
		defer cancel()
	}
	if !c.method.own {
		if err := c.resume(); err != nil {
			return nil, err
		}
	}
	if c.x.s.middleware != nil {
		result, err = c.throughMiddleware(ctx)
	} else {
		result, err = c.handleRounds(ctx)
	}
	c.ended = interruption(ctx, result, err)
	if err != nil {
		return nil, ended(ctx, err)
	}
	return result, nil
}

// conclude answers the request, unless the client has cancelled it.
func (c *call) conclude(result any, err error) {
	cancelled := c.x.calls.finish(c)
	c.progress.end()
	c.hush()
	if cancelled != nil {
		c.leave(cancelled)
		return
	}
	buf := takeBuffer()
	frame, wrong := []byte(nil), error(errInternal)
	defer func() { // even if the encoder of the user's ends the goroutine
		if frame == nil {
			frame = appendError((*buf)[:0], c.info.ID, errInternal)
		}
		c.reply(buf, frame, result, wrong)
	}()
	frame, wrong = c.x.s.appendAnswer((*buf)[:0], &c.info, result, err)
}

// reply sends the answer, in a frame that carries err unless that is nil, and ends the operation. What it needs for
// either is in functions of its own: below them is the deepest point of a call, where the stack of each goroutine that
// waits had to grow again after each collection, for 4 % of a tiny call on a pipe with 64 callers.
func (c *call) reply(buf *[]byte, frame []byte, result any, err error) {
	defer c.cancel(nil)
	defer c.breakOff()
	c.x.visit.drop() // before the client sees the answer, and sends its next request
	lost := c.send(frame, result, err)
	if instead, ok := errors.AsType[*answeredInstead](lost); ok {
		result, err, lost, c.refused = nil, instead.err, nil, instead.err
	}
	if c.op.Captures() && err == nil && c.relayed == nil {
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
func (c *call) send(frame []byte, result any, err error) (lost error) {
	c.op.Sending()
	a := answer{frame: frame, err: err, refused: c.refused != nil, id: c.info.ID}
	if v, ok := result.(verbatim); ok && v.apart {
		a.rest = v.raw
	}
	lost = c.out.answer(c.sending(), a)
	c.op.Sent(a.size())
	return lost
}

// end ends the operation of a request whose answer was sent, or lost.
func (c *call) end(result any, err, lost error) {
	if raw, ok := result.(json.RawMessage); ok && err == nil {
		result = verbatim{of: c.method, raw: raw}
	}
	if c.refused != nil {
		c.x.countRefusal(c.refused, true)
	}
	end := outcome(result, err)
	end.Told = err == errPanicked
	switch {
	case c.ended != nil:
		end = interrupted(end, c.ended)
	case err != nil:
		end = interrupted(end, err)
	case lost != nil:
		end = instrument.Result{ErrorType: names.ErrorConnectionLost, Err: lost}
	}
	if c.info.Method == mcp.MethodInitialize {
		if a := c.x.terms.agreed.Load(); a != nil { // what the answer says
			c.op.Meet(c.x.seen(a.version))
		}
	}
	c.op.End(end)
}

// breakOff ends the operation of a request whose answer the user's code has broken off, unless it has ended.
func (c *call) breakOff() { c.op.End(brokenOff) }

// sending is the context to send the answer with. The read loop, which serves what it does not leave to others, must
// not be kept by a client that takes no answers when the connection is to end.
func (c *call) sending() context.Context {
	if c.refused != nil || c.method.inline {
		return c.x.work
	}
	return c.x.life
}

// leave ends a request that gets no answer, for one of the endings.
func (c *call) leave(why error) {
	defer c.cancel(why)
	defer c.op.End(interrupted(instrument.Result{ErrorType: names.ErrorCancelled, Err: why, CallerLeft: true}, why))
	c.x.visit.drop()
	_ = c.out.answer(c.x.life, answer{})
}

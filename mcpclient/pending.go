package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// call is one call from its start to its end. It belongs to its caller; the client refers to it while it is in flight,
// and whoever takes it out of flight, under the client's mutex, fills outcome, once. Calls are pooled: nothing may keep
// a pointer to one beyond that.
type call struct {
	id          int64
	method      string
	params      any
	meta        mcp.Meta
	logLevel    mcp.LoggingLevel  // empty for none
	header      map[string]string // what HTTP repeats of the arguments
	timeout     time.Duration     // zero means the client's
	by          time.Time         // the first request has no time beyond this; zero means none
	deadline    time.Time         // of the request, before any progress; zero means none
	begun       time.Time         // the request
	target      string            // tool or prompt of it, for those who look at the client
	shownURI    string            // of its resource, likewise
	received    *atomic.Int64     // counts the bytes of answers; may be nil
	wait        bool              // for the client to be ready
	waitForRoom bool              // in the transport
	own         bool              // the client makes it by itself whenever a session begins

	resets   bool          // progress gives the request its timeout anew
	total    time.Duration // which bounds that; see ResetTimeoutOnProgress
	patience time.Duration // that timeout, zero for none
	latest   time.Time     // the latest that progress can make of the deadline; zero means none

	input  *mcp.InputRequiredResult // what the server asked for instead of a result
	round  mcp.InputRound           // what it gets with the next request
	rounds int                      // how often it has asked
	visits int                      // how often it has sent the user to URLs first
	task   *mcp.CreateTaskResult    // likewise; only if the client has declared tasks
	handle *Task                    // gets the task instead of waiting for it; may be nil
	onTask func(mcp.Task)           // hears of the task; may be nil
	corr   telemetry.Corr
	lead   *lead // learns what another call may go on with; may be nil

	asTask    *mcp.TaskMetadata // makes a task of the call in 2025-11-25; may be nil
	augmented bool              // by that, as the specification says; the latest request

	cacheable bool // the result may be one that is kept, and may be kept
	refresh   bool // but not this time: the server is to be asked

	key     string // under which the result may be kept; empty if it must not be
	uri     string // of the resource that is read, if there is a key
	version int    // of the kept results when the request was made, if there is a key

	frame    []byte // the encoded request; its memory is kept with the call
	scratch  []byte
	trace    traceContext // as it is in the frame
	attempts int          // to send the request
	session  *session     // that the request belongs to; nil before there is one
	accepted bool         // by the transport
	seen     bool         // by the server, perhaps: an earlier try, which it has refused without a word that it did nothing
	ref      telemetry.Ref

	inline func(end func()) // hears how to end an exchange that the transport does in the caller's goroutine
	end    func()           // that; guarded by the client's mutex, nil for none

	outcome      chan outcome                 // of one element
	putOff       chan *transport.RequestError // of one element: the server has refused the request for now
	acknowledged chan mcp.SubscriptionFilter  // of one element; nil unless the call asks for a subscription
	open         bool                         // guarded by the client's mutex; it is a subscription, and has been acknowledged
	progressed   chan struct{}                // of one element; nil unless the caller wants progress
	onProgress   func(Progress)
	progress     progressQueue // guarded by the client's mutex
}

// outcome is how a call ended: with a message, or because of a cause.
type outcome struct {
	message jsonrpc.Message
	cause   inflight.Cause
	err     error                   // more about the cause
	failed  *transport.RequestError // the cause is this call's alone
}

// decided reports whether o is an outcome at all.
func (o *outcome) decided() bool { return o.message.Kind != 0 || o.cause != 0 }

// headstone is what a tombstone remembers of a call, for what its late answer leads to.
type headstone struct {
	method string
	ref    telemetry.Ref
	open   bool      // it was an open subscription
	task   *expected // nil if the answer cannot be a task
}

func (c *Client) headstone(cl *call) headstone {
	return headstone{method: cl.method, ref: cl.ref, open: cl.open, task: c.expects(cl)}
}

// newCall returns a call of the client's own pool: a channel that was made in one bubble of a test cannot be used in another.
func (c *Client) newCall(method string, params any) *call {
	cl, _ := c.pool.Get().(*call)
	if cl == nil {
		cl = &call{outcome: make(chan outcome, 1), putOff: make(chan *transport.RequestError, 1)}
		cl.inline = func(end func()) { c.inline(cl, end) }
	}
	cl.method, cl.params = method, params
	return cl
}

// keptFrame bounds the memory that a pooled call keeps for the next request.
const keptFrame = 64 << 10

// free puts a call back. Its outcome has been received, or will never be sent.
func (c *Client) free(cl *call) {
	cl.settlePutOff()
	*cl = call{inline: cl.inline, outcome: cl.outcome, putOff: cl.putOff, frame: cl.frame[:0], scratch: cl.scratch[:0]}
	if cap(cl.frame)+cap(cl.scratch) > keptFrame {
		cl.frame, cl.scratch = nil, nil
	}
	c.pool.Put(cl)
}

// apply takes the options.
func (cl *call) apply(options []CallOption) {
	for _, o := range options {
		o(cl)
	}
}

// inherit gives cl the options of another call.
func (cl *call) inherit(from *call) {
	own := *cl
	*cl = *from
	cl.method, cl.params = own.method, own.params
	cl.inline, cl.outcome, cl.putOff, cl.frame, cl.scratch = own.inline, own.outcome, own.putOff, own.frame, own.scratch
}

// settlePutOff forgets a refusal that came behind the outcome of the request.
func (cl *call) settlePutOff() {
	select {
	case <-cl.putOff:
	default:
	}
}

// finish gives the call its outcome. It is called with the client's mutex held, by whoever took the call out of flight. If
// that is not the answer, the caller may still wait for it.
func (cl *call) finish(o outcome) {
	end := cl.end
	cl.outcome <- o // and the call is its caller's again
	if o.cause != 0 && end != nil {
		end()
	}
}

// inline hears that the caller's goroutine waits in the transport for the answer, until end is called.
func (c *Client) inline(cl *call, end func()) {
	c.mu.Lock()
	cl.end = end
	over := len(cl.outcome) > 0
	c.mu.Unlock()
	if over {
		end()
	}
}

// notInline forgets how to end what cl waited in.
func (c *Client) notInline(cl *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cl.end = nil
}

// encode encodes the request for session s.
func (cl *call) encode(s *session, op *telemetry.Op) error {
	var err error
	cl.frame, cl.scratch = cl.frame[:0], cl.scratch[:0]
	write := jsonrpc.AppendRequest
	if params := cl.paramsFor(s); params != nil {
		if cl.scratch, err = mcp.AppendParams(cl.scratch, params); err != nil {
			return err
		}
		if err = given.CheckEncoded(params, cl.scratch); err != nil {
			return err
		}
		if _, own := params.(*mcp.CallToolParams); own {
			write = jsonrpc.AppendOwnRequest
		}
	}
	if op.Captures() {
		arguments, _ := mcp.Object(cl.scratch).Lookup("arguments")
		op.Arguments(arguments)
	}
	if cl.rounds > 0 {
		write = jsonrpc.AppendRequest
		if cl.scratch, err = withInput(cl.scratch, cl.round); err != nil {
			return err
		}
	}
	if err = given.CheckMeta(cl.meta); err != nil {
		return err
	}
	cl.trace = traceOf(op)
	meta := cl.trace.meta(s.meta)
	if meta.User, err = cl.withLogLevel(s, cl.meta); err != nil {
		return err
	}
	if cl.progressed != nil {
		meta.ProgressToken = jsonrpc.IntID(cl.id)
	}
	cl.frame, err = write(cl.frame, jsonrpc.IntID(cl.id), cl.method, meta, cl.scratch)
	return err
}

// name returns what HTTP puts into the header Mcp-Name. Params of the caller's own are read as they are encoded.
func (cl *call) name(v mcp.Version) string {
	if name := mcp.TargetOf(cl.params); name != "" || len(cl.scratch) == 0 {
		return name
	}
	m, ok := mcp.Lookup(cl.method, v)
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

// telemetry describes the call.
func (cl *call) telemetry() telemetry.Request {
	r := telemetry.Request{Method: cl.method, Corr: cl.corr, Link: cl.ref, Round: cl.rounds}
	switch p := cl.params.(type) {
	case *mcp.CallToolParams:
		r.TargetKind, r.Target = telemetry.Tool, p.Name
	case *mcp.GetPromptParams:
		r.TargetKind, r.Target = telemetry.Prompt, p.Name
	case *mcp.ReadResourceParams:
		r.URI = p.URI
	case *mcp.SubscribeParams:
		r.URI = p.URI
	case *mcp.UnsubscribeParams:
		r.URI = p.URI
	}
	return r
}

// left is the error of a call whose context ended.
func (cl *call) left(ctx context.Context) *Error { return outlived(ctx, cl.method, !cl.accepted) }

// outlived is the error of an operation whose context ended.
func outlived(ctx context.Context, op string, unsent bool) *Error {
	cause := ctx.Err()
	if why := context.Cause(ctx); why != cause {
		cause = fmt.Errorf("%w: %w", cause, why)
	}
	e := &Error{Kind: KindCancelled, Op: op, Unsent: unsent, cause: cause}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Kind, e.cause = KindTimeout, fmt.Errorf("%w: %w", ErrTimeout, cause)
	}
	return e
}

// backpressure is the error of a call for which there was never room: in the transport, or at the server, which said why.
func (cl *call) backpressure(why *transport.RequestError) *Error {
	err := busyAfter(cl.attempts)
	if why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	return &Error{Kind: KindTransport, Op: cl.method, Unsent: why == nil || why.Unsent, cause: err}
}

// busyAfter is an [ErrBackpressure] that says how often something was to be sent.
func busyAfter(attempts int) error {
	if attempts == 1 {
		return fmt.Errorf("%w after 1 attempt", ErrBackpressure)
	}
	return fmt.Errorf("%w after %d attempts", ErrBackpressure, attempts)
}

// failed is the error of a call that was taken out of flight without an answer.
func (cl *call) failed(o outcome) *Error {
	e := &Error{Op: cl.method, Unsent: !cl.accepted}
	switch o.cause {
	case inflight.Timeout:
		e.Kind, e.cause = KindTimeout, ErrTimeout
	case inflight.Shutdown:
		e.Kind, e.cause = KindShutdown, ErrShutdown
	case inflight.Protocol:
		e.Kind, e.cause = KindProtocol, o.err
	default:
		if o.failed != nil {
			return cl.unanswered(o.failed)
		}
		e.Kind, e.cause = KindTransport, ErrConnectionLost
		if o.err != nil {
			e.cause = fmt.Errorf("%w: %w", ErrConnectionLost, o.err)
		}
	}
	return e
}

// unanswered is the error of a call that gets no answer, while the connection goes on.
func (cl *call) unanswered(why *transport.RequestError) *Error {
	e := &Error{Kind: KindTransport, Op: cl.method, Unsent: why.Unsent, cause: why}
	switch why.Reason {
	case transport.Unreachable, transport.Lost, transport.SessionGone:
		e.cause = fmt.Errorf("%w: %w", ErrConnectionLost, why)
	case transport.Unauthorized:
		e.cause = fmt.Errorf("%w: %w", ErrUnauthorized, why)
	case transport.Malformed:
		e.Kind = KindProtocol
	}
	return e
}

package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// request is one request to the server and what becomes of it. It belongs to the goroutine that makes it; the client
// refers to it while it is in flight, and what takes it out of flight, under the client's mutex, fills outcome, once.
// What it says, and what its answer means, its content knows.
type request struct {
	sending
	core    *core
	content content
	id      int64
	method  string
	name    string // that HTTP repeats of the target

	deadline time.Time // before any progress; zero means none
	begun    time.Time
	target   string        // tool or prompt, for an inspection
	shownURI string        // of the resource, likewise
	round    int           // of the call, likewise
	open     bool          // guarded by the client's mutex; the server has acknowledged what the request opens
	patience time.Duration // the timeout that progress gives anew, zero for none
	latest   time.Time     // the latest that progress can make of the deadline; zero means none

	op       instrument.Op
	trace    traceContext // as it is in the frame
	frame    []byte       // encoded; its memory is kept with the request
	attempts int          // to send it
	session  *session     // that it belongs to; nil before there is one
	accepted bool         // by the transport
	// by the server, perhaps: an earlier try, which it has refused without a word that it did nothing
	seen bool

	message jsonrpc.Message // the answer while it is decoded: here, for what an interface is given is allocated elsewhere

	inline func(end func()) // hears how to end an exchange that the transport does in the caller's goroutine
	end    func()           // that; guarded by the client's mutex, nil for none

	outcome chan outcome // of one element
	// of one element: the acknowledgement; nil unless the request opens what lasts until its answer
	opened     chan struct{}
	putOff     chan *transport.RequestError // of one element: the server has refused the request for now
	progressed chan struct{}                // of one element; nil unless reports of progress are wanted
	progress   progressQueue                // guarded by the client's mutex
}

// sending is how a request is to be sent and waited for.
type sending struct {
	timeout     time.Duration // zero means the client's
	by          time.Time     // there is no time beyond this; zero means none
	wait        bool          // for the client to be ready
	waitForRoom bool          // in the transport
	own         bool          // the client makes it by itself whenever a session begins
	resets      bool          // progress gives the request its timeout anew
	total       time.Duration // which bounds that; see ResetTimeoutOnProgress
	onProgress  func(mcp.ProgressParams)
	header      map[string]string // what HTTP repeats of the arguments
	corr        instrument.Corr   // of the requests that it goes on with; then its own
	ref         instrument.Ref    // likewise
}

// content is what a request is about. Its methods are called by the goroutine that makes the request, but for late.
type content interface {
	// about describes the request to the telemetry.
	about() instrument.Request
	// started hears that the operation of the request has begun.
	started()
	// encode makes the frame, for a session. The request is in flight.
	encode(s *session) *fault
	// receive decodes a result.
	receive(s *session, m *jsonrpc.Message) error
	// ended describes the end of the operation.
	ended(err *fault) instrument.Result
	// harmless reports whether the server may do twice what it is asked once.
	harmless() bool
	// givenUp hears that the request has been given up after it was sent, and reports whether the server is not to be
	// told.
	givenUp(s *session) bool
	// late returns what hears of an answer that comes late, nil for nothing. It is called with the client's mutex held.
	late() lateAnswer
}

func newRequest(c *core) request {
	return request{core: c, outcome: make(chan outcome, 1), putOff: make(chan *transport.RequestError, 1)}
}

// cleared returns what is kept of r for the next request.
func (r *request) cleared() request {
	r.settlePutOff()
	return request{core: r.core, content: r.content, inline: r.inline, outcome: r.outcome, putOff: r.putOff,
		frame: r.frame[:0]}
}

// write makes the frame for session s by appendRequest, of the user's part of _meta and the encoded params.
func (r *request) write(
	appendRequest func([]byte, jsonrpc.ID, string, jsonrpc.Meta, []byte) ([]byte,
		error), s *session, user mcp.Meta, params []byte,
) (err error) {
	r.trace = traceOf(&r.op)
	meta := r.trace.meta(s.meta)
	meta.User = user
	if r.progressed != nil {
		meta.ProgressToken = jsonrpc.IntID(r.id)
	}
	r.frame, err = appendRequest(r.frame[:0], jsonrpc.IntID(r.id), r.method, meta, params)
	return err
}

// headstone is what a tombstone remembers of a request, for what its late answer leads to.
type headstone struct {
	method string
	ref    instrument.Ref
	open   bool // what it opened was open
	late   lateAnswer
}

// lateAnswer hears of the answer to a request that has been given up, in the goroutine that reads, and must not wait.
type lateAnswer func(r *reader, m *jsonrpc.Message)

func headstoneOf(r *request) headstone {
	return headstone{method: r.method, ref: r.ref, open: r.open, late: r.content.late()}
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

// settlePutOff forgets a refusal that came behind the outcome of the request.
func (r *request) settlePutOff() {
	select {
	case <-r.putOff:
	default:
	}
}

// finish gives the call its outcome. It is called with the client's mutex held, by what took the request out of flight.
// If that is not the answer, the caller may still wait for it.
func (r *request) finish(o outcome) {
	end := r.end
	r.outcome <- o // and the call is its caller's again
	if o.cause != 0 && end != nil {
		end()
	}
}

// inline hears that the caller's goroutine waits in the transport for the answer, until end is called.
func (r *request) waitsInline(end func()) {
	r.core.mu.Lock()
	r.end = end
	over := len(r.outcome) > 0
	r.core.mu.Unlock()
	if over {
		end()
	}
}

// notInline forgets how to end what r waited in.
func (r *request) notInline() {
	r.core.mu.Lock()
	defer r.core.mu.Unlock()
	r.end = nil
}

// left is the error of a call whose context ended.
func (r *request) left(ctx context.Context) *fault { return outlived(ctx, r.method, !r.accepted) }

// outlived is the error of an operation whose context ended.
func outlived(ctx context.Context, op string, unsent bool) *fault {
	cause := ctx.Err()
	if why := context.Cause(ctx); why != cause {
		cause = fmt.Errorf("%w: %w", cause, why)
	}
	e := &fault{Kind: kindCancelled, Op: op, Unsent: unsent, Cause: cause}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Kind, e.Cause = kindTimeout, fmt.Errorf("%w: %w", errTimeout, cause)
	}
	return e
}

// backpressure is the error of a call for which there was never room: in the transport, or at the server, which said
// why.
func (r *request) backpressure(why *transport.RequestError) *fault {
	err := busyAfter(r.attempts)
	if why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	return &fault{Kind: kindTransport, Op: r.method, Unsent: why == nil || why.Unsent, Cause: err}
}

// busyAfter is an [ErrBackpressure] that says how often something was to be sent.
func busyAfter(attempts int) error {
	if attempts == 1 {
		return fmt.Errorf("%w after 1 attempt", errBackpressure)
	}
	return fmt.Errorf("%w after %d attempts", errBackpressure, attempts)
}

// failed is the error of a call that was taken out of flight without an answer.
func (r *request) failed(o outcome) *fault {
	e := &fault{Op: r.method, Unsent: !r.accepted}
	switch o.cause {
	case inflight.Timeout:
		e.Kind, e.Cause = kindTimeout, errTimeout
	case inflight.Shutdown:
		e.Kind, e.Cause = kindShutdown, errShutdown
	case inflight.Protocol:
		e.Kind, e.Cause = kindProtocol, o.err
	default:
		if o.failed != nil {
			return r.unanswered(o.failed)
		}
		e.Kind, e.Cause = kindTransport, errConnectionLost
		if o.err != nil {
			e.Cause = fmt.Errorf("%w: %w", errConnectionLost, o.err)
		}
	}
	return e
}

// unanswered is the error of a call that gets no answer, while the connection goes on.
func (r *request) unanswered(why *transport.RequestError) *fault {
	e := &fault{Kind: kindTransport, Op: r.method, Unsent: why.Unsent, Cause: why}
	switch why.Reason {
	case transport.Unreachable, transport.Lost, transport.SessionGone:
		e.Cause = fmt.Errorf("%w: %w", errConnectionLost, why)
	case transport.Unauthorized:
		e.Cause = fmt.Errorf("%w: %w", errUnauthorized, why)
	case transport.Malformed:
		e.Kind = kindProtocol
	}
	return e
}

package conn

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Request is one request to the server and what becomes of it. It belongs to the goroutine that makes it; the client
// refers to it while it is in flight, and what takes it out of flight, under the core's mutex, fills Outcome, once.
// Its [Content] knows what it says and what its answer means.
type Request struct {
	Sending
	core    *Conn
	Content Content
	ID      int64
	Method  string
	Name    string // that HTTP repeats of the target
	Version string // that HTTP repeats in place of the session's; empty for that

	deadline time.Time // before any progress; zero means none
	Begun    time.Time
	Target   string        // tool or prompt, for an inspection
	shownURI string        // of the resource, likewise
	round    int           // of the call, likewise
	open     bool          // guarded by the core's mutex; the server has acknowledged what the request opens
	patience time.Duration // the timeout that progress gives anew, zero for none
	latest   time.Time     // the latest that progress can make of the deadline; zero means none

	Op       instrument.Op
	held     held         // what is known of the operation beside that, for one that outlasts the request
	trace    traceContext // as it is in the frame
	Frame    []byte       // encoded; its memory is kept with the request
	attempts int          // to send it
	Session  *Session     // that it belongs to; nil before there is one
	Accepted bool         // by the transport
	// by the server, perhaps: an earlier try, which it has refused without a word that it did nothing
	Seen bool

	message jsonrpc.Message // the answer while it is decoded: here, for what an interface is given is allocated elsewhere

	end     func()   // that; guarded by the core's mutex, nil for none
	pending *pending // nil unless no goroutine waits for the answer: see [Request.Start]

	Outcome chan Outcome // of one element
	// of one element: the acknowledgement; nil unless the request opens what lasts until its answer
	Opened     chan struct{}
	putOff     chan *transport.RequestError // of one element: the server has refused the request for now
	Progressed chan struct{}                // of one element; nil unless reports of progress are wanted
	progress   progressQueue                // guarded by the core's mutex
}

// Sending is how a request is to be sent and waited for.
type Sending struct {
	Timeout     time.Duration // zero means the client's
	By          time.Time     // there is no time beyond this; zero means none
	Wait        bool          // for the client to be ready
	ReadyBy     time.Time     // the end of that wait; zero for that of the request
	WaitForRoom bool          // in the transport
	Own         bool          // the client makes it by itself whenever a session begins
	In          *Session      // the only session in which it is made; nil for the present one
	GoesOn      bool          // it belongs to an operation that has begun: a core that drains takes it
	Resets      bool          // progress gives the request its timeout anew
	Total       time.Duration // which bounds that; see ResetTimeoutOnProgress
	OnProgress  func(*mcp.ProgressParams)
	Header      map[string]string // what HTTP repeats of the arguments
	Corr        instrument.Corr   // of the requests that it goes on with; then its own
	Ref         instrument.Ref    // likewise
}

// Content is what a request is about. Its methods are called by the goroutine that makes the request, but for Late. Of
// a request made by [Request.Start], any goroutine calls those behind Encode.
type Content interface {
	// About describes the request to the telemetry.
	About() instrument.Request
	// Started hears that the operation of the request has begun.
	Started()
	// Encode makes the frame, for a session. The request is in flight.
	Encode(s *Session) *Fault
	// Receive decodes a result.
	Receive(s *Session, m *jsonrpc.Message) error
	// ReceiveError decodes an error of the server, mostly by [DecodeError].
	ReceiveError(s *Session, m *jsonrpc.Message) (*mcp.Error, error)
	// Ended describes the end of the operation.
	Ended(err *Fault) instrument.Result
	// Harmless reports whether the server may do twice what it is asked once.
	Harmless() bool
	// GivenUp hears that the request has been given up after it was sent, for this reason. It returns the reason that the
	// server is told, and false if the server is not to be told.
	GivenUp(s *Session, reason string) (string, bool)
	// Late returns what hears of an answer that comes late, nil for nothing. It is called with the core's mutex held.
	Late() LateAnswer
}

func NewRequest(c *Conn) Request {
	return Request{core: c, Outcome: make(chan Outcome, 1), putOff: make(chan *transport.RequestError, 1)}
}

// Cleared returns what is kept of r for the next request.
func (r *Request) Cleared() Request {
	r.settlePutOff()
	return Request{core: r.core, Content: r.Content, Outcome: r.Outcome, putOff: r.putOff,
		Frame: r.Frame[:0]}
}

// Write makes the frame for session s by appendRequest, of the user's part of _meta and the encoded params.
func (r *Request) Write(
	appendRequest func([]byte, jsonrpc.ID, string, jsonrpc.Meta, []byte) ([]byte, error),
	s *Session, user mcp.Meta, params []byte,
) (err error) {
	r.trace = traceOf(&r.Op)
	meta := r.trace.meta(s.meta)
	meta.User = user
	if r.Progressed != nil {
		meta.ProgressToken = jsonrpc.IntID(r.ID)
	}
	r.Frame, err = appendRequest(r.Frame[:0], jsonrpc.IntID(r.ID), r.Method, meta, params)
	return err
}

// TraceContext returns the trace context for the frame, of a request that does not use [Request.Write].
func (r *Request) TraceContext() *instrument.TraceContext {
	r.trace = traceOf(&r.Op)
	return &r.trace.TraceContext
}

// headstone is what a tombstone remembers of a request, for what its late answer leads to.
type headstone struct {
	method string
	ref    instrument.Ref
	open   bool // what it opened was open
	late   LateAnswer
}

// LateAnswer hears of the answer to a request that has been given up, in the goroutine that reads, and must not wait.
type LateAnswer func(r *Reader, m *jsonrpc.Message)

func headstoneOf(r *Request) headstone {
	return headstone{method: r.Method, ref: r.Ref, open: r.open, late: r.Content.Late()}
}

// Outcome is how a call ended: with a message, or because of a cause.
type Outcome struct {
	Message jsonrpc.Message
	Cause   inflight.Cause
	err     error                   // more about the cause
	failed  *transport.RequestError // the cause is this call's alone
	fault   *Fault                  // the call has not been sent, or is not sent again
}

// Decided reports whether o is an outcome at all.
func (o *Outcome) Decided() bool { return o.Message.Kind != 0 || o.Cause != 0 || o.fault != nil }

// settlePutOff forgets a refusal that came behind the outcome of the request.
func (r *Request) settlePutOff() {
	select {
	case <-r.putOff:
	default:
	}
}

// finish gives the call its outcome, whichever way it was made. It is called once, with the core's mutex held, by what
// took the request out of flight. If the outcome is not the answer, the caller may still wait for it.
func (r *Request) finish(o Outcome) {
	end := r.end
	if r.pending != nil {
		r.decide(o)
		o = Outcome{Message: jsonrpc.Message{Kind: o.Message.Kind}, Cause: o.Cause, fault: o.fault} // not the frame
	}
	r.Outcome <- o // and the call is its caller's again
	if o.Message.Kind == 0 && end != nil {
		end()
	}
}

// waitsIn hears that the caller's goroutine waits for the answer in the transport, until end is called.
func (r *Request) waitsIn(end func()) {
	r.core.mu.Lock()
	r.end = end
	over := len(r.Outcome) > 0
	r.core.mu.Unlock()
	if over {
		end()
	}
}

// waitsNoMore forgets how to end what r waited in.
func (r *Request) waitsNoMore() {
	r.core.mu.Lock()
	defer r.core.mu.Unlock()
	r.end = nil
}

// left is the error of a call whose context ended.
func (r *Request) left(ctx context.Context) *Fault { return Outlived(ctx, r.Method, !r.Accepted) }

// Outlived is the error of an operation whose context ended.
func Outlived(ctx context.Context, op string, unsent bool) *Fault {
	cause := ctx.Err()
	if why := context.Cause(ctx); why != cause {
		cause = fmt.Errorf("%w: %w", cause, why)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		cause = tell(ErrTimeout, "no answer before the caller's context ended: %w", cause)
		return &Fault{Kind: KindTimeout, Op: op, Unsent: unsent, Cause: cause}
	}
	return &Fault{Kind: KindCancelled, Op: op, Unsent: unsent, Cause: fmt.Errorf("the caller has left: %w", cause)}
}

// backpressure is the error of a call for which there was never room: in the transport, or at the server, which said
// why.
func (r *Request) backpressure(why *transport.RequestError) *Fault {
	err := busyAfter(r.attempts)
	if why != nil {
		err = tell(ErrBackpressure, "%w, asked %s", why, times(r.attempts))
	}
	return &Fault{Kind: KindTransport, Op: r.Method, Unsent: why == nil || why.Unsent, Cause: err}
}

// busyAfter is an [ErrBackpressure] that says how often something was to be sent.
func busyAfter(attempts int) error {
	return tell(ErrBackpressure, "the server does not take what it is sent, tried %s; WaitForRoom() waits until it does",
		times(attempts))
}

// times says how often.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// late is the error of a call whose time is over.
func (r *Request) late() error {
	switch allowed := r.deadline.Sub(r.Begun); {
	case r.patience > 0:
		return tell(ErrTimeout, "no answer and no progress within %v, or not done in the time for the whole; WithTimeout "+
			"and ResetTimeoutOnProgress give it longer", r.patience)
	case !r.By.IsZero() && r.deadline.Equal(r.By): // what is left of it is no time that the caller knows
		return tell(ErrTimeout, "no answer in the time for the whole; WithTimeout or Options.RequestTimeout gives it longer")
	case allowed > 0:
		return tell(ErrTimeout, "no answer within %v; WithTimeout or Options.RequestTimeout gives it longer", allowed)
	}
	return ErrTimeout
}

// Failed is the error of a call that was taken out of flight without an answer.
func (r *Request) Failed(o Outcome) *Fault {
	if o.fault != nil {
		return o.fault
	}
	e := &Fault{Op: r.Method, Unsent: !r.Accepted}
	switch o.Cause {
	case inflight.Timeout:
		e.Kind, e.Cause = KindTimeout, r.late()
	case inflight.Shutdown:
		e.Kind, e.Cause = KindShutdown, ErrShutdown
	case inflight.Protocol:
		e.Kind, e.Cause = KindProtocol, o.err
	default:
		if o.failed != nil {
			return r.unanswered(o.failed)
		}
		e.Kind, e.Cause = KindTransport, ErrConnectionLost
		if o.err != nil {
			e.Cause = fmt.Errorf("%w: %w", ErrConnectionLost, o.err)
		}
	}
	return e
}

// unanswered is the error of a call that gets no answer, while the connection goes on.
func (r *Request) unanswered(why *transport.RequestError) *Fault {
	e := &Fault{Kind: KindTransport, Op: r.Method, Unsent: why.Unsent, Cause: why}
	switch why.Reason {
	case transport.Unreachable, transport.Lost, transport.SessionGone:
		e.Cause = tell(ErrConnectionLost, "%w", why)
	case transport.Unauthorized:
		e.Cause = tell(ErrUnauthorized, "%w", why)
	case transport.Malformed:
		e.Kind = KindProtocol
	}
	return e
}

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

// Request is one request to the server and its outcome. It belongs to the goroutine that makes the request. While the
// request is in flight, the core refers to it too. The code that removes the request from the in-flight table fills
// Outcome, exactly once, with the core's mutex held. The [Content] encodes the request and decodes its answer.
type Request struct {
	Sending
	core    *Conn
	Content Content
	ID      int64
	Method  string
	Name    string // the target, which an HTTP header repeats; empty for none
	Version string // revision for the HTTP header; empty for the session's revision

	deadline time.Time     // deadline if there is no progress; zero for none
	Begun    time.Time     // start of the operation
	Target   string        // tool or prompt, for inspections
	shownURI string        // URI of the resource, for inspections
	round    int           // input round of the call, for inspections
	open     bool          // the server has acknowledged a subscription; guarded by the core's mutex
	patience time.Duration // timeout that each progress notification restarts; zero for none
	latest   time.Time     // limit to which progress may extend the deadline; zero for none

	Op       instrument.Op
	held     held         // state of an operation that may outlast the request
	trace    traceContext // trace context in the frame
	Frame    []byte       // encoded request; the memory is reused for the next request
	attempts int          // number of attempts to send the request
	Session  *Session     // session of the request; nil before admission
	Accepted bool         // the transport has accepted the frame
	Seen     bool         // the server refused an earlier attempt and may have processed it

	// the answer during decoding; a field, because a local variable would be allocated for each call
	message jsonrpc.Message

	interruptReceive func()   // ends the Receive of a caller that reads; nil for none; guarded by the core's mutex
	pending          *pending // nil unless [Request.Start] sent the request

	Outcome chan Outcome // capacity 1
	// receives the acknowledgement of a subscription; capacity 1; nil for other requests
	Opened     chan struct{}
	putOff     chan *transport.RequestError // receives a refusal by which the server puts the request off; capacity 1
	Progressed chan struct{}                // signals progress notifications; capacity 1; nil if the caller wants none
	progress   progressQueue                // guarded by the core's mutex
}

// Sending configures how a request is sent and how long it waits.
type Sending struct {
	Timeout     time.Duration             // zero for the client's timeout
	By          time.Time                 // deadline of the operation; zero for none
	Wait        bool                      // wait until the client is ready
	ReadyBy     time.Time                 // deadline of Wait; zero for the deadline of the request
	WaitForRoom bool                      // wait in line for room in the transport
	Own         bool                      // the client itself makes the request, not its user; for example a ping
	In          *Session                  // the only session in which the request may be sent; nil for the present session
	GoesOn      bool                      // the operation has already begun, so a draining core admits the request
	Resets      bool                      // progress restarts the timeout
	Total       time.Duration             // maximum time with Resets; see ResetTimeoutOnProgress
	OnProgress  func(*mcp.ProgressParams) // called for each progress notification; nil for none
	Header      map[string]string         // arguments that HTTP headers repeat
	Corr        instrument.Corr           // correlation ID: first of the call's earlier requests, then of this one
	Ref         instrument.Ref            // span: first of the call's earlier request, then of this one
}

// Content is the subject of a request. The goroutine that sends the request calls all methods except Late. After
// [Request.Start], any goroutine may call Receive and the methods declared below it.
type Content interface {
	// About describes the request for the telemetry.
	About() instrument.Request
	// Started is called when the operation of the request has started.
	Started()
	// Encode encodes the frame for a session. At that time, the request is already in flight.
	Encode(s *Session) *Fault
	// Receive decodes a result.
	Receive(s *Session, m *jsonrpc.Message) error
	// ReceiveError decodes an error of the server, usually with [DecodeError].
	ReceiveError(s *Session, m *jsonrpc.Message) (*mcp.Error, error)
	// Ended returns the outcome of the operation, for the telemetry.
	Ended(err *Fault) instrument.Result
	// Harmless reports whether the request is idempotent.
	Harmless() bool
	// GivenUp is called when the client gives up a request that it has sent. It returns the reason to send to the server
	// with the cancellation. If it returns false, the core sends no cancellation.
	GivenUp(s *Session, reason string) (string, bool)
	// Late returns the function that the core calls for a late answer; nil for none. The core holds its mutex during the
	// call of Late.
	Late() LateAnswer
}

func NewRequest(c *Conn) Request {
	return Request{core: c, Outcome: make(chan Outcome, 1), putOff: make(chan *transport.RequestError, 1)}
}

// Cleared returns a request without the state of r, but with the memory of r for reuse.
func (r *Request) Cleared() Request {
	r.settlePutOff()
	return Request{core: r.core, Content: r.Content, Outcome: r.Outcome, putOff: r.putOff,
		Frame: r.Frame[:0]}
}

// Write encodes the frame for session s with appendRequest. user is the user's part of _meta, and params are the
// encoded params.
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

// TraceContext returns the trace context for a frame that [Request.Write] does not encode.
func (r *Request) TraceContext() *instrument.TraceContext {
	r.trace = traceOf(&r.Op)
	return &r.trace.TraceContext
}

// headstone is the data that the tombstone of a request stores, for a late answer.
type headstone struct {
	method string
	ref    instrument.Ref
	open   bool // the request was an open subscription
	late   LateAnswer
}

// LateAnswer handles the answer to a request that was given up. It runs in the goroutine that reads, and must not
// block.
type LateAnswer func(r *Reader, m *jsonrpc.Message)

func headstoneOf(r *Request) headstone {
	return headstone{method: r.Method, ref: r.Ref, open: r.open, late: r.Content.Late()}
}

// Outcome is the end of a call: a message, a cause, or a fault.
type Outcome struct {
	Message jsonrpc.Message
	Cause   inflight.Cause
	err     error                   // detail of the cause
	failed  *transport.RequestError // the cause affects only this call
	fault   *Fault                  // the call was not sent, or is not sent again
}

// Decided reports whether o is an outcome, and not the zero value.
func (o *Outcome) Decided() bool { return o.Message.Kind != 0 || o.Cause != 0 || o.fault != nil }

// settlePutOff discards a refusal that arrived after the outcome of the request.
func (r *Request) settlePutOff() {
	select {
	case <-r.putOff:
	default:
	}
}

// finish sets the outcome of the call. The code that removes the request from the table calls finish exactly once, with
// the core's mutex held. If the outcome is not an answer, finish interrupts a caller that reads.
func (r *Request) finish(o Outcome) {
	end := r.interruptReceive
	if r.pending != nil {
		r.decide(o)
		o = Outcome{Message: jsonrpc.Message{Kind: o.Message.Kind}, Cause: o.Cause, fault: o.fault} // drop the frame
	}
	r.Outcome <- o // from now on, the call belongs to its caller
	if o.Message.Kind == 0 && end != nil {
		end()
	}
}

// waitsIn records that the caller's goroutine waits in the transport for the answer. Calling end interrupts the wait.
func (r *Request) waitsIn(end func()) {
	r.core.mu.Lock()
	r.interruptReceive = end
	over := len(r.Outcome) > 0
	r.core.mu.Unlock()
	if over {
		end()
	}
}

// waitsNoMore removes the function that waitsIn set.
func (r *Request) waitsNoMore() {
	r.core.mu.Lock()
	defer r.core.mu.Unlock()
	r.interruptReceive = nil
}

// left returns the error of a call whose context has ended.
func (r *Request) left(ctx context.Context) *Fault { return Outlived(ctx, r.Method, !r.Accepted) }

// Outlived returns the error of an operation whose context has ended.
func Outlived(ctx context.Context, op string, unsent bool) *Fault {
	cause := ctx.Err()
	if why := context.Cause(ctx); why != cause {
		cause = fmt.Errorf("%w: %w", cause, why)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		cause = tell(ErrTimeout, "no answer before the caller's context ended: %w", cause)
		return &Fault{Kind: KindTimeout, Op: op, Unsent: unsent, Cause: cause}
	}
	return &Fault{Kind: KindCancelled, Op: op, Unsent: unsent, Cause: fmt.Errorf("cancelled by the caller: %w", cause)}
}

// backpressure returns the error of a call that never got room in the transport or at the server. why is the server's
// refusal; nil for none.
func (r *Request) backpressure(why *transport.RequestError) *Fault {
	err := busyAfter(r.attempts)
	if why != nil {
		err = tell(ErrBackpressure, "%w; the client sent the request %s", why, times(r.attempts))
	}
	return &Fault{Kind: KindTransport, Op: r.Method, Unsent: why == nil || why.Unsent, Cause: err}
}

// busyAfter returns an [ErrBackpressure] that contains the number of attempts.
func busyAfter(attempts int) error {
	return tell(ErrBackpressure, "the send queue is full (tried %s); use WaitForRoom() to wait for room",
		times(attempts))
}

// times formats a number of attempts.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// late returns the error of a call that timed out.
func (r *Request) late() error {
	switch allowed := r.deadline.Sub(r.Begun); {
	case r.patience > 0:
		return tell(ErrTimeout, "no answer and no progress within %v, or the limit for the whole operation was exceeded; "+
			"raise the limits with WithTimeout and ResetTimeoutOnProgress", r.patience)
	// state no duration, because the caller does not know the remaining time
	case !r.By.IsZero() && r.deadline.Equal(r.By):
		return tell(ErrTimeout, "no answer within the limit for the whole operation, including retries; raise the limit "+
			"with WithTimeout or Options.RequestTimeout")
	case allowed > 0:
		return tell(ErrTimeout, "no answer within %v; raise the limit with WithTimeout or Options.RequestTimeout", allowed)
	}
	return ErrTimeout
}

// Failed returns the error of a call that ended without an answer.
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

// unanswered returns the error of a call that gets no answer although the connection stays open.
func (r *Request) unanswered(why *transport.RequestError) *Fault {
	e := &Fault{Kind: KindTransport, Op: r.Method, Unsent: why.Unsent, Cause: why}
	switch why.Reason {
	case transport.ReasonUnreachable, transport.ReasonLost, transport.ReasonSessionGone:
		e.Cause = tell(ErrConnectionLost, "%w", why)
	case transport.ReasonUnauthorized:
		e.Cause = tell(ErrUnauthorized, "%w", why)
	case transport.ReasonMalformed:
		e.Kind = KindProtocol
	}
	return e
}

package conn

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
)

// held is the state of an operation that its caller opens and closes. The operation begins before the caller waits for
// a connection, lists tools or checks anything. It ends with the error that the caller gets. The operation that Open
// begins is the operation of the caller's first request. Each further request has its own, and Close ends the last of
// them. A task may take days, so if an answer is a task, the operation ends with that answer.
//
//	phase      Open      a request begins      it ends      Close
//	closed     opened    begins one            answered     begins and ends one if there is an error
//	opened     -         uses it               answered     closed
//	answered   -         ends it, begins one   -            closed
type held struct {
	phase   phase
	kept    bool              // the caller closes the operation
	foreign bool              // another request opened the operation, with another context
	outer   trace.Span        // the span around the operation; nil before Open
	ctx     context.Context   // contains the span of the operation; nil before Open
	result  instrument.Result // result of the request; set in phase answered
	lent    int32             // atomic: see Lend
}

type phase uint8

const (
	closed   phase = iota // no operation is open
	opened                // an operation is open, and no request uses it yet
	answered              // an operation is open, and its request has ended with result
)

// Values of held.lent; see [Request.Lend].
const (
	atHome int32 = iota
	lentOut
	over
)

// Open begins the operation before there is a request. It returns the context with the operation's span, for the
// caller's first steps. The caller must call [Request.Close].
func (r *Request) Open(ctx context.Context) context.Context {
	r.held.kept, r.held.outer = true, trace.SpanFromContext(ctx)
	r.held.ctx = r.begin(ctx, r.Content.About())
	r.Op.Waiting()
	r.held.phase = opened
	return r.held.ctx
}

// Keep replaces Open for a caller that may not need a request: the operation then begins with the first request.
func (r *Request) Keep() { r.held.kept = true }

// next begins a request's operation and returns its context. If an operation is open and no request uses it yet, the
// request uses that operation.
func (r *Request) next(ctx context.Context) context.Context {
	switch {
	case r.held.phase == opened && !r.held.foreign:
		ctx = r.held.ctx
	case r.held.phase == opened:
		ctx = r.Op.Within(ctx)
	default:
		if r.held.phase == answered {
			r.Op.Supersede(r.held.result)
		}
		ctx = r.begin(r.Outside(ctx), r.Content.About())
		if r.held.kept {
			r.Op.Waiting()
		}
		return ctx
	}
	r.held.phase = closed
	return ctx
}

// hold ends the operation of a request, or keeps the operation open until the caller calls Close.
func (r *Request) hold(result instrument.Result) {
	if !r.held.kept || result.ResultType == string(mcp.ResultTask) {
		r.endOperation(result)
		return
	}
	r.Op.Answered()
	r.held.phase, r.held.result = answered, result
}

func (r *Request) endOperation(result instrument.Result) {
	r.Op.End(result)
	r.held.phase = closed
}

// Close ends the operation. failed is the error that the caller gets. It is nil if there is no error, or if the last
// request ended with this error. If no operation is open, Close begins one for the error, so that every error has a
// span.
func (r *Request) Close(ctx context.Context, failed *instrument.Result) {
	switch {
	case failed == nil && r.held.phase == closed:
		return
	case failed == nil:
		r.endOperation(r.held.result)
		return
	}
	result := *failed
	if r.held.phase == closed {
		r.begin(r.Outside(ctx), r.Content.About())
	} else { // the answer may have requested input
		result.ResultType = r.held.result.ResultType
	}
	r.endOperation(result)
}

// Lend lends the operation of r to another request, which calls Return when it ends. It returns false if the operation
// is already lent: middleware may make two calls at once.
func (r *Request) Lend(other *Request) bool {
	if !atomic.CompareAndSwapInt32(&r.held.lent, atHome, lentOut) {
		return false
	}
	other.takeOver(r)
	other.held.kept, other.held.foreign = true, true
	return true
}

// Outside returns ctx with the span around the operation as its current span, for code that is not part of the first
// request.
func (r *Request) Outside(ctx context.Context) context.Context {
	if r.held.outer == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, r.held.outer)
}

// Return gives the operation back to its owner. It returns false if the owner has already called Recall.
func (r *Request) Return(owner *Request) bool {
	if atomic.LoadInt32(&owner.held.lent) == over {
		return false
	}
	owner.takeOver(r)
	return atomic.CompareAndSwapInt32(&owner.held.lent, lentOut, atHome)
}

// Recall ends the lending. It reports whether r has its operation back.
func (r *Request) Recall() bool { return atomic.SwapInt32(&r.held.lent, over) == atHome }

func (r *Request) takeOver(other *Request) {
	if other.Ref != (instrument.Ref{}) { // the next request links to this request
		r.Ref, r.Corr = other.Ref, other.Corr
	}
	r.Op = other.Op
	r.held.phase, r.held.outer, r.held.ctx, r.held.result = other.held.phase, other.held.outer, other.held.ctx,
		other.held.result
}

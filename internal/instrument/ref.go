package instrument

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// Ref is the name of a span: trace id, span id, flags, and whether the span is remote. It outlives the span, for code
// that refers to an ended span, such as a tombstone. The zero Ref names no span.
type Ref [25]byte

// remoteFlag is the bit in the flags byte that marks a remote span. W3C trace flags do not use this bit.
const remoteFlag = 1 << 7

func newRef(sc trace.SpanContext) (r Ref) {
	if !sc.IsValid() {
		return Ref{}
	}
	traceID, spanID := sc.TraceID(), sc.SpanID()
	copy(r[:16], traceID[:])
	copy(r[16:24], spanID[:])
	r[24] = byte(sc.TraceFlags()) &^ remoteFlag
	if sc.IsRemote() {
		r[24] |= remoteFlag
	}
	return r
}

func (r *Ref) spanContext() trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID:    trace.TraceID(r[:16]),
		SpanID:     trace.SpanID(r[16:24]),
		TraceFlags: trace.TraceFlags(r[24] &^ remoteFlag),
		Remote:     r[24]&remoteFlag != 0,
	})
}

// context returns ctx with r as its current span. If r is zero, it returns ctx itself.
func (r *Ref) context(ctx context.Context) context.Context {
	if *r == (Ref{}) {
		return ctx
	}
	return trace.ContextWithSpanContext(ctx, r.spanContext())
}

// TraceID returns the trace id of the span as 32 hexadecimal digits. It is empty if r is zero.
func (r Ref) TraceID() string {
	if r == (Ref{}) {
		return ""
	}
	return r.spanContext().TraceID().String()
}

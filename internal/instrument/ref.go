package instrument

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// Ref names a span: trace id, span id, flags, and whether it is of another process. It is what remains of a span for
// those who have to refer to it after it ended, such as a tombstone. The zero Ref names none.
type Ref [25]byte

// ofAnother is, with the flags of a span, that it is of another process. No flag of W3C's has this bit.
const ofAnother = 1 << 7

func newRef(sc trace.SpanContext) (r Ref) {
	if !sc.IsValid() {
		return Ref{}
	}
	traceID, spanID := sc.TraceID(), sc.SpanID()
	copy(r[:16], traceID[:])
	copy(r[16:24], spanID[:])
	r[24] = byte(sc.TraceFlags()) &^ ofAnother
	if sc.IsRemote() {
		r[24] |= ofAnother
	}
	return r
}

func (r *Ref) spanContext() trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID:    trace.TraceID(r[:16]),
		SpanID:     trace.SpanID(r[16:24]),
		TraceFlags: trace.TraceFlags(r[24] &^ ofAnother),
		Remote:     r[24]&ofAnother != 0,
	})
}

// context returns ctx with the span that r names as its current one, or ctx if r names none.
func (r *Ref) context(ctx context.Context) context.Context {
	if *r == (Ref{}) {
		return ctx
	}
	return trace.ContextWithSpanContext(ctx, r.spanContext())
}

// TraceID returns the trace that the span belongs to as 32 hexadecimal digits, empty if r names none.
func (r Ref) TraceID() string {
	if r == (Ref{}) {
		return ""
	}
	return r.spanContext().TraceID().String()
}

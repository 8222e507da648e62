// Package propagators provides the propagators for tests of trace context, at both ends and in the adapters.
package propagators

import (
	"context"
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/contrib/propagators/aws/xray"
	"go.opentelemetry.io/contrib/propagators/b3"
	"go.opentelemetry.io/contrib/propagators/jaeger"
	"go.opentelemetry.io/contrib/propagators/ot"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// All returns the propagators that the variable OTEL_PROPAGATORS supports, by their names in the variable, and
// [MadeUp].
func All() map[string]propagation.TextMapPropagator {
	return map[string]propagation.TextMapPropagator{
		"tracecontext": propagation.TraceContext{},
		"b3":           b3.New(),
		"b3multi":      b3.New(b3.WithInjectEncoding(b3.B3MultipleHeader)),
		"jaeger":       jaeger.Jaeger{},
		"xray":         xray.Propagator{},
		"ottrace":      ot.OT{},
		"made up":      MadeUp{},
		"several": propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{},
			b3.New(), xray.Propagator{}),
	}
}

// Whole returns the propagators in All whose formats carry complete trace ids.
func Whole() map[string]propagation.TextMapPropagator {
	whole := All()
	delete(whole, "ottrace")
	return whole
}

// Arrives injects a span context into a carrier with p, and returns the span context that p extracts from this carrier.
// Some formats cannot carry the whole span context.
func Arrives(p propagation.TextMapPropagator, sent trace.SpanContext) trace.SpanContext {
	c := propagation.MapCarrier{}
	p.Inject(trace.ContextWithSpanContext(context.Background(), sent), c)
	return trace.SpanContextFromContext(p.Extract(context.Background(), c))
}

// MadeUp is a propagator with a value that needs escapes in JSON and is invalid in an HTTP header, and with a key that
// has capital letters.
type MadeUp struct{}

const (
	madeUpKey = "Acme_Trace.v1"
	odd       = "\"\\\n\u00e9"
)

// Inject writes the ids of the current span.
func (MadeUp) Inject(ctx context.Context, c propagation.TextMapCarrier) {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		c.Set(madeUpKey, odd+sc.TraceID().String()+sc.SpanID().String())
	}
}

// Extract reads the ids that Inject wrote.
func (MadeUp) Extract(ctx context.Context, c propagation.TextMapCarrier) context.Context {
	ids, found := strings.CutPrefix(c.Get(madeUpKey), odd)
	raw, err := hex.DecodeString(ids)
	if !found || err != nil || len(raw) != 24 {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(raw[:16]), SpanID: trace.SpanID(raw[16:]), TraceFlags: trace.FlagsSampled}))
}

// Fields returns the key.
func (MadeUp) Fields() []string { return []string{madeUpKey} }

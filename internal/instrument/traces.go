package instrument

import (
	"context"
	"reflect"
	"slices"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/settings"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// traces starts and ends the spans of a side, and reads and writes the trace context of its messages.
type traces struct {
	side  *side
	scrub func(telemetry.Content) []byte // the function that was passed to Redacting; nil for none
}

// spansNotification reports whether a notification has a span, according to the user's function or the default.
func (t *traces) spansNotification(ctx context.Context, method string) (wanted bool) {
	usercode.Run(func() { wanted = t.side.tel.Notifications(method) }, t.side.failed(ctx, "notification spans"))
	return wanted
}

// maxUserAttributes bounds the number of the program's attributes on one span.
const maxUserAttributes = 32

// spanInfo describes the operation for the program's functions.
func (op *Op) spanInfo() settings.SpanInfo {
	kind := trace.SpanKindClient
	if op.direction == telemetry.DirectionReceived {
		kind = trace.SpanKindServer
	}
	return settings.SpanInfo{Kind: kind, Method: op.method, Target: op.target, URI: op.uri}
}

// wantsSpan calls the program's filter: see [telemetry.WithFilter].
func (op *Op) wantsSpan() bool {
	filter := op.side.tel.Filter
	if filter == nil {
		return true
	}
	wanted := true
	usercode.Run(func() { wanted = filter(op.ctx, op.spanInfo()) }, op.side.failed(op.ctx, "span filter"))
	return wanted
}

// userAttributes returns the program's attributes for the operation's span: those of the call, then those from
// [telemetry.WithSpanAttributesFn].
func (op *Op) userAttributes(ofCall []attribute.KeyValue) []attribute.KeyValue {
	if of := op.side.tel.SpanAttributes; of != nil {
		var more []attribute.KeyValue
		usercode.Run(func() { more = of(op.ctx, op.spanInfo()) }, op.side.failed(op.ctx, "span attributes"))
		ofCall = slices.Concat(ofCall, more)
	}
	return ofCall[:min(len(ofCall), maxUserAttributes)]
}

// late detects whether the tracer provider and the propagator are the placeholders of package otel. A placeholder does
// nothing until the program sets its own provider or propagator, which is used from the next operation on. Even then, a
// placeholder is not free: without an SDK, unrecorded spans took a tenth of a tiny call's memory.
type late struct {
	tracers    trace.TracerProvider          // nil unless it is the placeholder
	propagator propagation.TextMapPropagator // nil unless it is the placeholder
	skipped    atomic.Uint32                 // number of spans that were not started
	automatic  atomic.Bool                   // the placeholder records spans for automatic instrumentation
}

func (l *late) init(s *settings.Settings[telemetry.Redactor]) {
	if isPlaceholder(s.Tracers) {
		l.tracers = s.Tracers
	}
	if isPlaceholder(s.Propagator) {
		l.propagator = s.Propagator
	}
}

// isPlaceholder reports whether v is a placeholder of package otel. Its type is private, so isPlaceholder compares the
// package path. If package otel moves the type, spans are started as with any other provider.
func isPlaceholder(v any) bool {
	t := reflect.TypeOf(v)
	return t != nil && t.Kind() == reflect.Pointer && t.Elem().PkgPath() == "go.opentelemetry.io/otel/internal/global"
}

// While no provider is set, only one of probeEvery operations starts a span. Automatic instrumentation by eBPF sets no
// provider; after it has seen a span, it makes package otel's placeholder record.
const probeEvery = 256

// starts reports whether the next span should be started.
func (l *late) starts() bool {
	if l.tracers == nil || otel.GetTracerProvider() != l.tracers || l.automatic.Load() {
		return true
	}
	return l.skipped.Add(1)%probeEvery == 1
}

// started receives whether a started span is recording. If it is, the placeholder records, and starts always returns
// true.
func (l *late) started(recording bool) {
	if recording && l.tracers != nil && !l.automatic.Load() {
		l.automatic.Store(true)
	}
}

// propagates reports whether a real propagator is set.
func (l *late) propagates() bool {
	return l.propagator == nil || otel.GetTextMapPropagator() != l.propagator
}

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
	scrub func(telemetry.Content) []byte // see Redacting; nil for nothing
}

// spansNotification asks the user's function, if there is one, whether a notification has a span.
func (t *traces) spansNotification(ctx context.Context, method string) (wanted bool) {
	usercode.Run(func() { wanted = t.side.tel.Notifications(method) }, t.side.failed(ctx, "notification spans"))
	return wanted
}

// maxUserAttributes bounds the attributes of the program on one span.
const maxUserAttributes = 32

// spanInfo describes the operation to functions of the program.
func (op *Op) spanInfo() settings.SpanInfo {
	kind := trace.SpanKindClient
	if op.direction == telemetry.Received {
		kind = trace.SpanKindServer
	}
	return settings.SpanInfo{Kind: kind, Method: op.method, Target: op.target, URI: op.uri}
}

// wantsSpan asks the program's filter: see [telemetry.WithFilter].
func (op *Op) wantsSpan() bool {
	filter := op.side.tel.Filter
	if filter == nil {
		return true
	}
	wanted := true
	usercode.Run(func() { wanted = filter(op.ctx, op.spanInfo()) }, op.side.failed(op.ctx, "span filter"))
	return wanted
}

// userAttributes returns the attributes of the program for the operation's span: those of the call, and those of
// [telemetry.WithSpanAttributesFn].
func (op *Op) userAttributes(ofCall []attribute.KeyValue) []attribute.KeyValue {
	if of := op.side.tel.SpanAttributes; of != nil {
		var more []attribute.KeyValue
		usercode.Run(func() { more = of(op.ctx, op.spanInfo()) }, op.side.failed(op.ctx, "span attributes"))
		ofCall = slices.Concat(ofCall, more)
	}
	return ofCall[:min(len(ofCall), maxUserAttributes)]
}

// late knows whether the tracer provider and the propagator are those that package otel has until the program sets
// others. These do nothing, but not for free: without an SDK, spans that are not recorded took a tenth of a tiny call
// in memory. What is set later counts from the next operation on.
type late struct {
	tracers    trace.TracerProvider          // nil unless it is package otel's own
	propagator propagation.TextMapPropagator // likewise
	skipped    atomic.Uint32                 // spans that were not started
	automatic  atomic.Bool                   // package otel's own provider records spans
}

func (l *late) init(s *settings.Settings[telemetry.Redactor]) {
	if isStandIn(s.Tracers) {
		l.tracers = s.Tracers
	}
	if isStandIn(s.Propagator) {
		l.propagator = s.Propagator
	}
}

// isStandIn reports whether v is what package otel has in the place of what is not set. Its type has no name to be told
// by. If the package moves, spans are started as with any other provider.
func isStandIn(v any) bool {
	t := reflect.TypeOf(v)
	return t != nil && t.Kind() == reflect.Pointer && t.Elem().PkgPath() == "go.opentelemetry.io/otel/internal/global"
}

// probeEvery is how many spans there are for one that is started although no provider is set: automatic instrumentation
// by eBPF, which sets none, makes package otel's own record once it has seen a span.
const probeEvery = 256

// starts reports whether spans are worth starting.
func (l *late) starts() bool {
	if l.tracers == nil || otel.GetTracerProvider() != l.tracers || l.automatic.Load() {
		return true
	}
	return l.skipped.Add(1)%probeEvery == 1
}

// started notes whether a span that was started records.
func (l *late) started(recording bool) {
	if recording && l.tracers != nil && !l.automatic.Load() {
		l.automatic.Store(true)
	}
}

// propagates reports whether there is a propagator that may write or read something.
func (l *late) propagates() bool {
	return l.propagator == nil || otel.GetTextMapPropagator() != l.propagator
}

package telemetry

import (
	"context"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// The keys of _meta that the specification reserves for the trace context, under which it has the W3C's formats.
// (specification 2026-07-28, basic/index, _meta)
const (
	headerTraceparent = "traceparent"
	headerTracestate  = "tracestate"
	headerBaggage     = "baggage"
)

// Limits of what is read from a message, in bytes: the W3C's for tracestate, OpenTelemetry's for baggage.
const (
	maxTracestate = 512
	maxBaggage    = 8192
)

// carrier is a propagation.TextMapCarrier of the three keys. Other keys go nowhere.
type carrier struct{ traceparent, tracestate, baggage string }

var carriers = sync.Pool{New: func() any { return new(carrier) }}

func (c *carrier) field(key string) *string {
	switch key {
	case headerTraceparent:
		return &c.traceparent
	case headerTracestate:
		return &c.tracestate
	case headerBaggage:
		return &c.baggage
	}
	return nil
}

func (c *carrier) Get(key string) string {
	if f := c.field(key); f != nil {
		return *f
	}
	return ""
}

func (c *carrier) Set(key, value string) {
	if f := c.field(key); f != nil {
		*f = value
	}
}

func (c *carrier) Keys() []string {
	return []string{headerTraceparent, headerTracestate, headerBaggage}
}

var _ propagation.TextMapCarrier = (*carrier)(nil)

// TraceContext returns what goes into the _meta of the message, in place of whatever is there under the three keys.
// Empty values are left out.
func (op *Op) TraceContext() (traceparent, tracestate, baggage string) {
	if op.side == nil {
		return "", "", ""
	}
	c := carriers.Get().(*carrier)
	op.side.tel.propagator.Inject(op.ctx, c)
	traceparent, tracestate, baggage = c.traceparent, c.tracestate, c.baggage
	*c = carrier{}
	carriers.Put(c)
	return traceparent, tracestate, baggage
}

// extract returns ctx with what the sender wrote into the message, and the span of ctx if that is not the sender's.
func (s *side) extract(ctx context.Context, in *Incoming) (context.Context, Ref) {
	if in.Traceparent == "" && in.Tracestate == "" && in.Baggage == "" {
		return ctx, Ref{}
	}
	ambient := trace.SpanContextFromContext(ctx)
	c := carriers.Get().(*carrier)
	c.traceparent = in.Traceparent // parsed into bytes
	c.tracestate = clipList(in.Tracestate, maxTracestate)
	c.baggage = clipList(in.Baggage, maxBaggage)
	ctx = s.tel.propagator.Extract(ctx, c)
	*c = carrier{}
	carriers.Put(c)
	sender := trace.SpanContextFromContext(ctx)
	if !ambient.IsValid() || sender.TraceID() == ambient.TraceID() && sender.SpanID() == ambient.SpanID() {
		return ctx, Ref{}
	}
	return ctx, newRef(ambient)
}

// clipList returns a copy of as many whole members of a list as fit into limit bytes.
func clipList(list string, limit int) string {
	if len(list) > limit {
		list = list[:max(0, strings.LastIndexByte(list[:limit+1], ','))]
	}
	return strings.Clone(list)
}

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

// origin is where a message comes from: the context to handle it in, and the spans that its own has links to.
type origin struct {
	ctx    context.Context
	link   Ref // the span of the context before, if that is not the parent
	remote Ref // the span that the sender names, if it is not trusted and there is no parent
}

// extract reads what the sender wrote into the message.
func (s *side) extract(ctx context.Context, in *Incoming) origin {
	if s.tel.untrusted != nil && s.which == ServerSide && s.tel.untrusted(ctx) {
		return s.distrust(ctx, in)
	}
	if in.Traceparent == "" && in.Tracestate == "" && in.Baggage == "" {
		return origin{ctx: ctx}
	}
	ambient := trace.SpanContextFromContext(ctx)
	ctx = s.read(ctx, in, in.Baggage)
	sender := trace.SpanContextFromContext(ctx)
	if !ambient.IsValid() || sender.TraceID() == ambient.TraceID() && sender.SpanID() == ambient.SpanID() {
		return origin{ctx: ctx}
	}
	return origin{ctx: ctx, link: newRef(ambient)}
}

// distrust reads which span a sender names whom nobody trusts, and makes it and the span of ctx no parent of anything.
func (s *side) distrust(ctx context.Context, in *Incoming) origin {
	o := origin{link: newRef(trace.SpanContextFromContext(ctx))}
	o.ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	if in.Traceparent != "" {
		o.remote = newRef(trace.SpanContextFromContext(s.read(o.ctx, in, "")))
	}
	if o.remote == o.link {
		o.remote = Ref{}
	}
	return o
}

// read returns ctx with the trace context of the message.
func (s *side) read(ctx context.Context, in *Incoming, baggage string) context.Context {
	c := carriers.Get().(*carrier)
	c.traceparent = in.Traceparent // parsed into bytes
	c.tracestate = clipList(in.Tracestate, maxTracestate)
	c.baggage = clipList(baggage, maxBaggage)
	ctx = s.tel.propagator.Extract(ctx, c)
	*c = carrier{}
	carriers.Put(c)
	return ctx
}

// clipList returns a copy of as many whole members of a list as fit into limit bytes.
func clipList(list string, limit int) string {
	if len(list) > limit {
		list = list[:max(0, strings.LastIndexByte(list[:limit+1], ','))]
	}
	return strings.Clone(list)
}

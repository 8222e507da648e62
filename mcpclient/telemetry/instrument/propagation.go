package instrument

import (
	"context"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
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
	return op.side.inject(op.ctx)
}

func (s *side) inject(ctx context.Context) (traceparent, tracestate, baggage string) {
	c := carriers.Get().(*carrier)
	s.tel.Propagator.Inject(ctx, c)
	traceparent, tracestate, baggage = c.traceparent, c.tracestate, s.shared(c.baggage)
	*c = carrier{}
	carriers.Put(c)
	return traceparent, tracestate, baggage
}

// shared returns what of the baggage the other end may have: see [telemetry.WithBaggageKeys].
func (s *side) shared(baggage string) string {
	if baggage == "" || !s.overNetwork() || slices.Contains(s.tel.Baggage, "*") {
		return baggage
	}
	if len(s.tel.Baggage) == 0 {
		return ""
	}
	members := strings.Split(baggage, ",")
	members = slices.DeleteFunc(members, func(member string) bool {
		key, _, _ := strings.Cut(member, "=")
		return !slices.Contains(s.tel.Baggage, strings.TrimSpace(key))
	})
	return strings.Join(members, ",")
}

// overNetwork reports whether the other end is on a network, and may be a program of others on a machine of others. One
// reached over pipes, a Unix socket or within the process was started by the user, or is where the user has put it.
func (s *side) overNetwork() bool {
	switch s.base.Transport {
	case "pipe", "unix":
		return false
	case "":
		return s.base.Address != ""
	}
	return true
}

// origin is where a message comes from: the context to handle it in, and the spans that its own has links to.
type origin struct {
	ctx    context.Context
	link   Ref // the span of the context before, if that is not the parent
	remote Ref // the span that the sender names, if it is not trusted
}

// extract reads what the sender wrote into the message.
func (s *side) extract(ctx context.Context, in *Incoming) origin {
	switch {
	case s.which == telemetry.ServerSide && s.tel.Untrusted != nil && s.untrusted(ctx):
		return s.distrust(ctx, in)
	case in.Traceparent == "" && in.Tracestate == "" && in.Baggage == "":
		return origin{ctx: ctx}
	case in.Untrusted:
		return origin{ctx: ctx, remote: s.sender(in, newRef(trace.SpanContextFromContext(ctx)))}
	}
	baggage := in.Baggage
	if s.which == telemetry.ClientSide {
		baggage = s.shared(baggage) // a server has no more say than it is told
	}
	ambient := trace.SpanContextFromContext(ctx)
	ctx = s.read(ctx, in, baggage)
	sender := trace.SpanContextFromContext(ctx)
	if !ambient.IsValid() || sender.TraceID() == ambient.TraceID() && sender.SpanID() == ambient.SpanID() {
		return origin{ctx: ctx}
	}
	return origin{ctx: ctx, link: newRef(ambient)}
}

// untrusted asks the user's function. If that fails, the sender is not trusted.
func (s *side) untrusted(ctx context.Context) bool {
	untrusted := true
	usercode.Run(func() { untrusted = s.tel.Untrusted(ctx) }, s.failed(ctx, "public endpoint"))
	return untrusted
}

// distrust reads which span an untrusted sender names, and makes neither it nor the span of ctx a parent.
func (s *side) distrust(ctx context.Context, in *Incoming) origin {
	o := origin{link: newRef(trace.SpanContextFromContext(ctx))}
	o.ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	o.remote = s.sender(in, o.link)
	return o
}

// sender returns the span that a sender names, unless it is the one that is known.
func (s *side) sender(in *Incoming, known Ref) Ref {
	if in.Traceparent == "" {
		return Ref{}
	}
	named := newRef(trace.SpanContextFromContext(s.read(context.Background(), in, "")))
	if named == known {
		return Ref{}
	}
	return named
}

// read returns ctx with the trace context of the message.
func (s *side) read(ctx context.Context, in *Incoming, baggage string) context.Context {
	c := carriers.Get().(*carrier)
	c.traceparent = in.Traceparent // parsed into bytes
	c.tracestate = clipList(in.Tracestate, maxTracestate)
	c.baggage = clipList(baggage, maxBaggage)
	ctx = s.tel.Propagator.Extract(ctx, c)
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

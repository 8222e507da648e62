package instrument

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// TraceContext returns what goes into the _meta of the message, in place of whatever is there under its keys.
func (op *Op) TraceContext() TraceContext {
	if op.side == nil {
		return TraceContext{}
	}
	return op.side.inject(op.ctx)
}

func (s *side) inject(ctx context.Context) TraceContext {
	if !s.tel.late.propagates() {
		return TraceContext{}
	}
	c := carriers.Get().(*carrier)
	s.tel.Propagator.Inject(s.leaving(ctx), c)
	t := TraceContext{Traceparent: c.traceparent, Tracestate: c.tracestate, Baggage: c.baggage, Others: c.others}
	t.declared = s.tel.declared()
	c.release()
	return t
}

// leaving returns ctx with what of its baggage the other end may have, in whatever format the propagator writes it: see
// [telemetry.WithBaggageKeys].
func (s *side) leaving(ctx context.Context) context.Context {
	if s.sharesAll() {
		return ctx
	}
	all := baggage.FromContext(ctx)
	if all.Len() == 0 {
		return ctx
	}
	return baggage.ContextWithBaggage(ctx, s.shared(all))
}

// sharesAll reports whether the other end may have all of the baggage.
func (s *side) sharesAll() bool { return !s.overNetwork() || slices.Contains(s.tel.Baggage, "*") }

// shared returns the members that go over networks.
func (s *side) shared(all baggage.Baggage) baggage.Baggage {
	for _, m := range all.Members() {
		if !slices.Contains(s.tel.Baggage, m.Key()) {
			all = all.DeleteMember(m.Key())
		}
	}
	return all
}

// declared returns the keys beyond the W3C's that the propagator says it writes. They do not change, but that there are
// none before the global propagator is set: it is asked once, when it is.
func (h *hub) declared() []string {
	if known := h.fields.Load(); known != nil {
		return *known
	}
	if !h.late.propagates() {
		return nil
	}
	all := h.Propagator.Fields()
	others := slices.DeleteFunc(slices.Clone(all), func(key string) bool {
		return slices.Contains(w3cKeys, key) || !propagated(key)
	})
	others = slices.Clip(others[:min(len(others), maxPropagated)])
	h.fields.Store(&others)
	return others
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
	ambient := trace.SpanContextFromContext(ctx)
	if ambient.IsValid() {
		in.Header = nil // whatever made the span has read them
	}
	switch {
	case s.which == telemetry.ServerSide && s.tel.Untrusted != nil && s.untrusted(ctx):
		return s.distrust(ctx, in)
	case !s.says(in):
		return origin{ctx: ctx}
	case in.Untrusted:
		return origin{ctx: ctx, remote: s.sender(in, newRef(ambient))}
	}
	ctx = s.arriving(ctx, in)
	sender := trace.SpanContextFromContext(ctx)
	switch {
	case !ambient.IsValid() || sender.TraceID() == ambient.TraceID() && sender.SpanID() == ambient.SpanID():
		return origin{ctx: ctx}
	case !sender.IsValid(): // the propagator took nothing for something
		return origin{ctx: trace.ContextWithSpanContext(ctx, ambient)}
	}
	if s.which == telemetry.ClientSide { // the span is that of the request for which the server asks, in the same trace
		return origin{ctx: ctx}
	}
	return origin{ctx: ctx, link: newRef(ambient)}
}

// says reports whether a message may say anything to the propagator.
func (s *side) says(in *Incoming) bool {
	return s.tel.late.propagates() && s.mayTell(in)
}

func (s *side) mayTell(in *Incoming) bool {
	return in.Traceparent != "" || in.Tracestate != "" || in.Baggage != "" ||
		(len(in.Meta) > 0 || len(in.Others) > 0) && len(s.tel.declared()) > 0 || s.headed(in.Header)
}

// The headers of the W3C, as net/http has them.
const (
	headerTraceparent = "Traceparent"
	headerTracestate  = "Tracestate"
	headerBaggage     = "Baggage"
)

// headed reports whether headers may say anything to the propagator.
func (s *side) headed(h http.Header) bool {
	if len(h) == 0 {
		return false
	}
	return len(h[headerTraceparent]) > 0 || len(h[headerBaggage]) > 0 ||
		slices.ContainsFunc(s.tel.declared(), func(key string) bool { return h.Get(key) != "" })
}

// arriving returns ctx with the trace context of the message, and with what of its baggage the handlers of this side
// may have: a server has no more say than it is told.
func (s *side) arriving(ctx context.Context, in *Incoming) context.Context {
	if s.which != telemetry.ClientSide || s.sharesAll() {
		return s.read(ctx, in)
	}
	own := baggage.FromContext(ctx)
	ctx = s.read(baggage.ContextWithoutBaggage(ctx), in)
	if theirs := s.shared(baggage.FromContext(ctx)); theirs.Len() > 0 {
		own = theirs
	}
	return baggage.ContextWithBaggage(ctx, own)
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
	if !s.says(in) {
		return Ref{}
	}
	named := newRef(trace.SpanContextFromContext(s.read(context.Background(), in)))
	if named == known {
		return Ref{}
	}
	return named
}

// read returns ctx with the trace context of the message, or with that of the headers it came with if it names no span.
func (s *side) read(ctx context.Context, in *Incoming) context.Context {
	c := carriers.Get().(*carrier)
	c.traceparent = in.Traceparent // parsed into bytes
	c.tracestate = clipList(in.Tracestate, maxTracestate)
	c.baggage = clipList(in.Baggage, maxBaggage)
	c.meta = in.Meta
	if len(in.Others) > 0 {
		for _, key := range slices.Sorted(maps.Keys(in.Others)) {
			c.Set(key, in.Others[key])
		}
	}
	ctx = s.tel.Propagator.Extract(ctx, c)
	c.release()
	if in.Header == nil || trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return s.readHeader(ctx, in.Header)
}

func (s *side) readHeader(ctx context.Context, h http.Header) context.Context {
	c := carriers.Get().(*carrier)
	defer c.release()
	c.traceparent = strings.Clone(h.Get(headerTraceparent))
	c.tracestate = clipList(strings.Join(h[headerTracestate], ","), maxTracestate)
	c.baggage = clipList(strings.Join(h[headerBaggage], ","), maxBaggage)
	for _, key := range s.tel.declared() {
		if value := h.Get(key); value != "" {
			c.Set(key, strings.Clone(value))
		}
	}
	return s.tel.Propagator.Extract(ctx, c)
}

// clipList returns a copy of as many whole members of a list as fit into limit bytes.
func clipList(list string, limit int) string {
	if len(list) > limit {
		list = list[:max(0, strings.LastIndexByte(list[:limit+1], ','))]
	}
	return strings.Clone(list)
}

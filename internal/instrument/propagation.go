package instrument

import (
	"context"
	"log/slog"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/propagate"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// TraceContext is the trace context of a message.
type TraceContext = propagate.TraceContext

// TraceContextIn returns the trace context in a decoded _meta. Others has all texts that a propagator may have written.
func TraceContextIn(meta map[string]any) TraceContext { return propagate.In(meta) }

// TraceContext returns what goes into the _meta of the message, in place of whatever is there under its keys.
func (op *Op) TraceContext() TraceContext {
	if op.side == nil {
		return TraceContext{}
	}
	return op.side.traces.inject(op.ctx)
}

// inject returns the trace context of ctx, as the propagator writes it.
func (t *traces) inject(ctx context.Context) TraceContext {
	if !t.side.tel.late.propagates() {
		return TraceContext{}
	}
	return propagate.Write(t.leaving(ctx), t.side.tel.Propagator, t.side.tel.declared())
}

// leaving returns ctx with the members of its baggage that the other end may have, in whatever format the propagator
// writes them: see [telemetry.WithBaggageKeys].
func (t *traces) leaving(ctx context.Context) context.Context {
	if t.sharesAll() {
		return ctx
	}
	all := baggage.FromContext(ctx)
	if all.Len() == 0 {
		return ctx
	}
	return baggage.ContextWithBaggage(ctx, t.shared(all))
}

// sharesAll reports whether the other end may have all of the baggage.
func (t *traces) sharesAll() bool {
	return !t.overNetwork() || slices.Contains(t.side.tel.Baggage, "*")
}

// shared returns the members that go over networks.
func (t *traces) shared(all baggage.Baggage) baggage.Baggage {
	for _, m := range all.Members() {
		if !slices.Contains(t.side.tel.Baggage, m.Key()) {
			all = all.DeleteMember(m.Key())
		}
	}
	return all
}

// declared returns the keys beyond the W3C's that the propagator says it writes, none before a global propagator is
// set. The keys do not change after that, so the propagator is asked once.
func (h *hub) declared() []string {
	if known := h.fields.Load(); known != nil {
		return *known
	}
	if !h.late.propagates() {
		return nil
	}
	others := propagate.Declared(h.Propagator)
	h.fields.Store(&others)
	return others
}

// overNetwork reports whether the other end is on a network, and may be a program of others on a machine of others. One
// reached over pipes, a Unix socket or within the process was started by the user, or is where the user has put it.
func (t *traces) overNetwork() bool {
	switch t.side.base.Transport {
	case "pipe", "unix":
		return false
	case "":
		return t.side.base.Address != ""
	}
	return true
}

// origin is where a message comes from: the context to handle it in, and the spans that its own has links to.
type origin struct {
	ctx    context.Context
	link   Ref // the span of the context before, if that is not the parent
	remote Ref // the span that the sender names, if it is not trusted
}

// extract reads the trace context of a message.
func (t *traces) extract(ctx context.Context, in *Incoming) origin {
	ambient := trace.SpanContextFromContext(ctx)
	if ambient.IsValid() {
		in.Header = nil // whatever made the span has read them
	}
	switch {
	case t.side.which == telemetry.ServerSide && t.side.tel.Untrusted != nil && t.untrusted(ctx):
		return t.distrust(ctx, in)
	case !t.says(in):
		return origin{ctx: ctx}
	case in.Untrusted:
		return origin{ctx: ctx, remote: t.sender(in, newRef(ambient))}
	}
	ctx = t.arriving(ctx, in)
	sender := trace.SpanContextFromContext(ctx)
	switch {
	case !ambient.IsValid() || sender.TraceID() == ambient.TraceID() && sender.SpanID() == ambient.SpanID():
		return origin{ctx: ctx}
	case !sender.IsValid(): // the propagator took nothing for something
		return origin{ctx: trace.ContextWithSpanContext(ctx, ambient)}
	}
	if t.side.which == telemetry.ClientSide { // the span of the request for which the server asks, in the same trace
		return origin{ctx: ctx}
	}
	return origin{ctx: ctx, link: newRef(ambient)}
}

// says reports whether the propagator may find something in a message.
func (t *traces) says(in *Incoming) bool {
	return t.side.tel.late.propagates() && t.mayTell(in)
}

func (t *traces) mayTell(in *Incoming) bool {
	return in.Traceparent != "" || in.Tracestate != "" || in.Baggage != "" ||
		(len(in.Meta) > 0 || len(in.Others) > 0) && len(t.side.tel.declared()) > 0 || t.headed(in.Header)
}

// headed reports whether the propagator may find something in headers.
func (t *traces) headed(h http.Header) bool {
	return len(h) > 0 && propagate.InHeader(h, t.side.tel.declared())
}

// arriving returns ctx with the trace context of the message, and with the members of its baggage that the handlers of
// this side may have: a server may set only those members that it may see.
func (t *traces) arriving(ctx context.Context, in *Incoming) context.Context {
	if t.side.which != telemetry.ClientSide || t.sharesAll() {
		return t.read(ctx, in)
	}
	own := baggage.FromContext(ctx)
	ctx = t.read(baggage.ContextWithoutBaggage(ctx), in)
	if theirs := t.shared(baggage.FromContext(ctx)); theirs.Len() > 0 {
		own = theirs
	}
	return baggage.ContextWithBaggage(ctx, own)
}

// untrusted asks the user's function. If that fails, the sender is not trusted.
func (t *traces) untrusted(ctx context.Context) bool {
	untrusted := true
	usercode.Run(func() { untrusted = t.side.tel.Untrusted(ctx) }, t.side.failed(ctx, "public endpoint"))
	return untrusted
}

// distrust reads which span an untrusted sender names, and makes neither it nor the span of ctx a parent.
func (t *traces) distrust(ctx context.Context, in *Incoming) origin {
	o := origin{link: newRef(trace.SpanContextFromContext(ctx))}
	o.ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	o.remote = t.sender(in, o.link)
	return o
}

// sender returns the span that a sender names, unless it is the one that is known.
func (t *traces) sender(in *Incoming, known Ref) Ref {
	if !t.says(in) {
		return Ref{}
	}
	named := newRef(trace.SpanContextFromContext(t.read(context.Background(), in)))
	if named == known {
		return Ref{}
	}
	return named
}

// read returns ctx with the trace context of the message, or of the headers it came with if the message names no span.
func (t *traces) read(ctx context.Context, in *Incoming) context.Context {
	ctx = propagate.Read(ctx, t.side.tel.Propagator, &in.TraceContext, in.Meta)
	if in.Header == nil || trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return propagate.ReadHeader(ctx, t.side.tel.Propagator, in.Header, t.side.tel.declared())
}

// howToJoin is the advice of the record about a linked trace.
const howToJoin = "the client is unknown, so its trace is linked and not continued; TrustTraceContext, in " +
	"mcpserver.HTTPOptions or an option of the adapters, or a principal as behind bearer.Require makes one trace of a call"

// adviseToJoin logs, once for all servers of the Telemetry, that the trace of an unknown client is not continued, and
// what joins the two. A program with [telemetry.WithPublicEndpointFn] has decided about that by itself.
func (op *Op) adviseToJoin(in *Incoming, named Ref) {
	s := op.side
	if !in.Untrusted || named == (Ref{}) || !op.trace.recording || s.tel.Untrusted != nil || s.tel.advised.Load() {
		return
	}
	if named.spanContext().TraceID() == trace.SpanContextFromContext(op.ctx).TraceID() ||
		!s.logs.enabled(op.ctx, slog.LevelInfo) {
		return
	}
	if s.tel.advised.CompareAndSwap(false, true) {
		s.logs.emit(op.ctx, slog.LevelInfo, names.EventMCPServerTraceLinked,
			slog.String(names.KeyMCPServerTraceAdvice, howToJoin))
	}
}

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

// TraceContextIn returns the trace context in a decoded _meta. Its Others field holds all texts that a propagator may
// have written.
func TraceContextIn(meta map[string]any) TraceContext { return propagate.In(meta) }

// TraceContext returns the fields to write into the _meta of the message. They replace existing fields with the same
// keys.
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
	return propagate.Write(t.sharedContext(ctx), t.side.tel.Propagator, t.side.tel.declared())
}

// sharedContext returns ctx without the baggage members that must not leave this side. This works for any format in
// which the propagator writes baggage: see [telemetry.WithBaggageKeys].
func (t *traces) sharedContext(ctx context.Context) context.Context {
	if t.sharesAll() {
		return ctx
	}
	all := baggage.FromContext(ctx)
	if all.Len() == 0 {
		return ctx
	}
	return baggage.ContextWithBaggage(ctx, t.shared(all))
}

// sharesAll reports whether all baggage may reach the other end.
func (t *traces) sharesAll() bool {
	return !t.overNetwork() || slices.Contains(t.side.tel.Baggage, "*")
}

// shared returns the members that may cross a network.
func (t *traces) shared(all baggage.Baggage) baggage.Baggage {
	for _, m := range all.Members() {
		if !slices.Contains(t.side.tel.Baggage, m.Key()) {
			all = all.DeleteMember(m.Key())
		}
	}
	return all
}

// declared returns the keys that the propagator declares, without the W3C's. It returns none as long as no global
// propagator is set. After that, the keys never change, so declared asks the propagator only once.
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

// overNetwork reports whether the other end is on a network. Such a peer may be a foreign program on a foreign machine.
// The user has started or chosen every other peer: behind pipes or a Unix socket, or in the same process.
func (t *traces) overNetwork() bool {
	switch t.side.base.Transport {
	case "pipe", "unix":
		return false
	case "":
		return t.side.base.Address != ""
	}
	return true
}

// origin is the result of reading a message's trace context: the context for its handler, and the links of its span.
type origin struct {
	ctx    context.Context
	link   Ref // span of the earlier context if it is not the parent
	remote Ref // span that the sender names if the sender is not trusted
}

// extract reads the trace context of a message.
func (t *traces) extract(ctx context.Context, in *Incoming) origin {
	ambient := trace.SpanContextFromContext(ctx)
	if ambient.IsValid() {
		in.Header = nil // the code that has started the span has read the headers
	}
	switch {
	case t.side.which == telemetry.SideServer && t.side.tel.Untrusted != nil && t.untrusted(ctx):
		return t.distrust(ctx, in)
	case !t.mayCarryContext(in):
		return origin{ctx: ctx}
	case in.Untrusted:
		return origin{ctx: ctx, remote: t.sender(in, newRef(ambient))}
	}
	ctx = t.receivedContext(ctx, in)
	sender := trace.SpanContextFromContext(ctx)
	switch {
	case !ambient.IsValid() || sender.TraceID() == ambient.TraceID() && sender.SpanID() == ambient.SpanID():
		return origin{ctx: ctx}
	case !sender.IsValid(): // the propagator has treated invalid fields as a context
		return origin{ctx: trace.ContextWithSpanContext(ctx, ambient)}
	}
	if t.side.which == telemetry.SideClient {
		// A client handles this message within its own request, whose span is already in the sender's trace.
		return origin{ctx: ctx}
	}
	return origin{ctx: ctx, link: newRef(ambient)}
}

// mayCarryContext reports whether the propagator may find a trace context for a message.
func (t *traces) mayCarryContext(in *Incoming) bool {
	return t.side.tel.late.propagates() && t.hasContextFields(in)
}

func (t *traces) hasContextFields(in *Incoming) bool {
	return in.Traceparent != "" || in.Tracestate != "" || in.Baggage != "" ||
		(len(in.Meta) > 0 || len(in.Others) > 0) && len(t.side.tel.declared()) > 0 || t.hasContextHeaders(in.Header)
}

// hasContextHeaders reports whether the propagator may find a trace context in the headers.
func (t *traces) hasContextHeaders(h http.Header) bool {
	return len(h) > 0 && propagate.InHeader(h, t.side.tel.declared())
}

// receivedContext returns ctx with the trace context of the message. On a client, it restricts the baggage: a server
// may set only those members that the client would also send to it.
func (t *traces) receivedContext(ctx context.Context, in *Incoming) context.Context {
	if t.side.which != telemetry.SideClient || t.sharesAll() {
		return t.read(ctx, in)
	}
	own := baggage.FromContext(ctx)
	ctx = t.read(baggage.ContextWithoutBaggage(ctx), in)
	if theirs := t.shared(baggage.FromContext(ctx)); theirs.Len() > 0 {
		own = theirs
	}
	return baggage.ContextWithBaggage(ctx, own)
}

// untrusted calls the user's function. If the function fails, the sender counts as untrusted.
func (t *traces) untrusted(ctx context.Context) bool {
	untrusted := true
	usercode.Run(func() { untrusted = t.side.tel.Untrusted(ctx) }, t.side.failed(ctx, "public endpoint"))
	return untrusted
}

// distrust reads the span that an untrusted sender names. Neither that span nor the span of ctx becomes a parent.
func (t *traces) distrust(ctx context.Context, in *Incoming) origin {
	o := origin{link: newRef(trace.SpanContextFromContext(ctx))}
	o.ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	o.remote = t.sender(in, o.link)
	return o
}

// sender returns the span that the sender names. It returns the zero Ref if known is that span.
func (t *traces) sender(in *Incoming, known Ref) Ref {
	if !t.mayCarryContext(in) {
		return Ref{}
	}
	named := newRef(trace.SpanContextFromContext(t.read(context.Background(), in)))
	if named == known {
		return Ref{}
	}
	return named
}

// read returns ctx with the trace context of the message. If the message names no span, read uses the headers of the
// HTTP request.
func (t *traces) read(ctx context.Context, in *Incoming) context.Context {
	ctx = propagate.Read(ctx, t.side.tel.Propagator, &in.TraceContext, in.Meta)
	if in.Header == nil || trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return propagate.ReadHeader(ctx, t.side.tel.Propagator, in.Header, t.side.tel.declared())
}

// joinAdvice is the advice in the record about a linked trace.
const joinAdvice = "the client is unknown, so the server links to its trace instead of continuing it; for one trace, " +
	"set TrustTraceContext, in mcpserver.HTTPOptions or as an option of the adapters, or give clients a principal, " +
	"as with bearer.Require"

// logJoinAdvice logs, once for all servers of the Telemetry, that the server does not continue the trace of an unknown
// client, and how to join the traces. It logs nothing for programs with [telemetry.WithPublicEndpointFn], because these
// programs have made the decision.
func (op *Op) logJoinAdvice(in *Incoming, named Ref) {
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
			slog.String(names.KeyMCPServerTraceAdvice, joinAdvice))
	}
}

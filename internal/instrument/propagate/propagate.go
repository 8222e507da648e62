package propagate

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// Declared returns the keys that the propagator declares ([propagation.TextMapPropagator.Fields]), without the W3C's
// keys.
func Declared(p propagation.TextMapPropagator) []string {
	others := slices.DeleteFunc(slices.Clone(p.Fields()), func(key string) bool {
		return slices.Contains(w3cKeys, key) || !propagated(key)
	})
	return slices.Clip(others[:min(len(others), maxPropagated)])
}

// Write returns the trace context of ctx, as the propagator writes it. declared is the result of [Declared].
func Write(ctx context.Context, p propagation.TextMapPropagator, declared []string) TraceContext {
	c := carriers.Get().(*carrier)
	p.Inject(ctx, c)
	t := TraceContext{Traceparent: c.traceparent, Tracestate: c.tracestate, Baggage: c.baggage, Others: c.others,
		declared: declared}
	c.release()
	return t
}

// Read returns ctx with the trace context of a message. It reads keys that are not in t.Others from meta, the raw
// _meta, which may be nil.
func Read(ctx context.Context, p propagation.TextMapPropagator, t *TraceContext, meta []byte) context.Context {
	c := carriers.Get().(*carrier)
	c.traceparent = t.Traceparent // not copied, because a propagator parses it into bytes
	c.tracestate = clipList(t.Tracestate, maxTracestate)
	c.baggage = clipList(t.Baggage, maxBaggage)
	c.meta = meta
	if len(t.Others) > 0 {
		for _, key := range slices.Sorted(maps.Keys(t.Others)) {
			c.Set(key, t.Others[key])
		}
	}
	ctx = p.Extract(ctx, c)
	c.release()
	return ctx
}

// The headers of the W3C, in net/http's canonical form.
const (
	headerTraceparent = "Traceparent"
	headerTracestate  = "Tracestate"
	headerBaggage     = "Baggage"
)

// InHeader reports whether h has a header from which the propagator may read a trace context.
func InHeader(h http.Header, declared []string) bool {
	return len(h[headerTraceparent]) > 0 || len(h[headerBaggage]) > 0 ||
		slices.ContainsFunc(declared, func(key string) bool { return h.Get(key) != "" })
}

// ReadHeader returns ctx with the trace context in the headers.
func ReadHeader(ctx context.Context, p propagation.TextMapPropagator, h http.Header,
	declared []string) context.Context {
	c := carriers.Get().(*carrier)
	defer c.release()
	c.traceparent = strings.Clone(h.Get(headerTraceparent))
	c.tracestate = clipList(strings.Join(h[headerTracestate], ","), maxTracestate)
	c.baggage = clipList(strings.Join(h[headerBaggage], ","), maxBaggage)
	for _, key := range declared {
		if value := h.Get(key); value != "" {
			c.Set(key, strings.Clone(value))
		}
	}
	return p.Extract(ctx, c)
}

// clipList returns a copy of the whole members of a list that fit into limit bytes.
func clipList(list string, limit int) string {
	if len(list) > limit {
		list = list[:max(0, strings.LastIndexByte(list[:limit+1], ','))]
	}
	return strings.Clone(list)
}

package gosdk

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// headerSpan carries the span of an HTTP request to the handler of the message in it. No client knows its name.
var headerSpan = http.CanonicalHeaderKey("Mcpotel-Span-" + rand.Text())

var w3c propagation.TraceContext

// HTTPHandler returns a handler that serves what h, the SDK's, serves, and tells the observed servers behind it which
// span each HTTP request has. Put it inside what makes that span, such as otelhttp. The SDK needs it for HTTP sessions,
// where it hands the context of the first request to the handlers of all of them; without a span it changes nothing.
func HTTPHandler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if trace.SpanContextFromContext(r.Context()).IsValid() {
			c := propagation.MapCarrier{}
			w3c.Inject(r.Context(), c)
			r = r.WithContext(r.Context()) // a copy
			r.Header = r.Header.Clone()
			r.Header.Set(headerSpan, c.Get("traceparent"))
		}
		h.ServeHTTP(w, r)
	})
}

// ambient returns ctx with the span around the handling of a message as its current one: that of the HTTP request which
// brought it, if that is known, else none.
func ambient(ctx context.Context, method string, s *mcp.ServerSession, extra *mcp.RequestExtra) context.Context {
	if extra == nil || extra.Header == nil {
		return withoutSpan(ctx)
	}
	if told := extra.Header.Get(headerSpan); told != "" {
		span := trace.SpanContextFromContext(w3c.Extract(context.Background(), propagation.MapCarrier{"traceparent": told}))
		return trace.ContextWithSpanContext(ctx, span)
	}
	if s.ID() == "" || method == methodInitialize {
		return ctx // of the one HTTP request that the session, or what there is of it, was made with
	}
	return withoutSpan(ctx)
}

package gosdk

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// headerSpan is the header that carries the span of an HTTP request to the handler of its message. Clients cannot guess
// its random name.
var headerSpan = http.CanonicalHeaderKey("Mcpotel-Span-" + rand.Text())

var w3c propagation.TraceContext

// HTTPHandler returns a handler that serves h, the SDK's handler, and passes the span of each HTTP request to the
// instrumented servers. Put it inside the middleware that starts that span, such as otelhttp. HTTP sessions need this
// handler: the SDK passes the context of the first request to the handlers of all requests. For a request without a
// span, the handler changes nothing.
func HTTPHandler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if trace.SpanContextFromContext(r.Context()).IsValid() {
			c := propagation.MapCarrier{}
			w3c.Inject(r.Context(), c)
			r = r.WithContext(r.Context()) // a copy of the request
			r.Header = r.Header.Clone()
			r.Header.Set(headerSpan, c.Get("traceparent"))
		}
		h.ServeHTTP(w, r)
	})
}

// ambient returns the context for the handling of a message. Its current span is the span of the message's HTTP
// request, or none if that span is unknown.
func ambient(ctx context.Context, method string, s *mcp.ServerSession, extra *mcp.RequestExtra) context.Context {
	if extra == nil || extra.Header == nil {
		return withoutSpan(ctx)
	}
	if told := extra.Header.Get(headerSpan); told != "" {
		span := trace.SpanContextFromContext(w3c.Extract(context.Background(), propagation.MapCarrier{"traceparent": told}))
		return trace.ContextWithSpanContext(ctx, span)
	}
	if s.ID() == "" || method == methodInitialize {
		return ctx // the context of the only HTTP request of this session
	}
	return withoutSpan(ctx)
}

package mcpserver_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// The log record names the option that puts a call into one trace. The server writes the record once, when it links
// the first trace, and not again for other clients or other servers of the process.
func TestFirstLinkedTraceLogsOptionToJoinTraces(t *testing.T) {
	otelhttp := func(next http.Handler) http.Handler { // the default, without WithPublicEndpoint
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
	itself := func(next http.Handler) http.Handler { return next }
	header := []string{"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"}
	named := bothMetas + "," + traceParent
	for _, tt := range []struct {
		name    string
		options *mcpserver.HTTPOptions
		more    []telemetry.Option
		around  func(http.Handler) http.Handler
		meta    string
		headers []string
		want    int
	}{
		{"an unknown client", nil, nil, itself, named, nil, 1},
		{"an unknown client that instruments only HTTP", nil, nil, itself, bothMetas, header, 1},
		{"an unknown client without a trace", nil, nil, itself, bothMetas, nil, 0},
		{"with the option", &mcpserver.HTTPOptions{TrustTraceContext: true}, nil, itself, named, nil, 0},
		{"with a principal", &mcpserver.HTTPOptions{Principal: func(*http.Request) string { return "alice" }}, nil, itself,
			named, nil, 0},
		{"below a span of the client's trace", nil, nil, otelhttp, named, header, 0},
		{"with WithPublicEndpointFn", nil, []telemetry.Option{
			telemetry.WithPublicEndpointFn(func(context.Context) bool { return true })}, itself, named, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t, tt.more...)
			for range 2 {
				s := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
				h := s.HTTPHandler(tt.options)
				w := serveHandler(t, tt.around(h), h)
				for id := range 2 {
					if p := w.post(asked(id, "tools/call", tt.meta, `"name":"echo"`),
						append(modernHeaders("tools/call", "echo"), tt.headers...)...); p.status != http.StatusOK {
						t.Fatalf("got %d with %s", p.status, p.body)
					}
				}
				w.end()
			}
			all := rec.Logs("mcp_server.trace.linked")
			if len(all) != tt.want {
				t.Fatalf("got %d records, want %d: %v", len(all), tt.want, all)
			}
			for _, r := range all {
				if advice := r.Text("mcp_server.trace.advice"); !strings.Contains(advice, "TrustTraceContext") {
					t.Errorf("the record names no option: %q", advice)
				}
				linked := false
				for _, s := range rec.SpansNamed("tools/call echo", trace.SpanKindServer) {
					linked = linked || s.SpanContext().Equal(r.Span)
				}
				if !linked {
					t.Error("the record does not belong to the span that is linked")
				}
			}
		})
	}
}

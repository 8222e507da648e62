package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// TestHTTPSpansAreChildrenOfTheirCall uses otelhttp on both sides, as services do that already export OTLP. The span of
// the call is the parent of the HTTP client's span. The MCP server's span is below the span of the call, with a link to
// the HTTP server's span. No span of a call outlives the call.
func TestHTTPSpansAreChildrenOfTheirCall(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20260728, mcp.Version20251125} {
		t.Run(string(v), func(t *testing.T) {
			recorder := tracetest.NewSpanRecorder()
			provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
			propagator := propagation.TraceContext{}
			tel := func() *telemetry.Telemetry {
				return telemetry.New(telemetry.WithTracerProvider(provider), telemetry.WithPropagators(propagator))
			}
			instrumented := []otelhttp.Option{otelhttp.WithTracerProvider(provider), otelhttp.WithPropagators(propagator)}

			s := mcpserver.New(mcp.Implementation{Name: "instrumented", Version: "1"}, &mcpserver.Options{Telemetry: tel()})
			err := mcpserver.AddTool(s, &mcp.Tool{Name: "greet"}, func(context.Context, struct{}) (json.RawMessage, error) {
				return json.RawMessage(`{}`), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			handler := s.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
			site := httptest.NewServer(otelhttp.NewHandler(handler, "mcp", instrumented...))
			defer site.Close()

			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c, err := mcpclient.Connect(ctx, &transport.HTTP{
				URL: site.URL, Client: &http.Client{
					Transport: otelhttp.NewTransport(http.DefaultTransport.(*http.Transport).Clone(), instrumented...)},
			}, &mcpclient.Options{Versions: []mcp.Version{v}, Telemetry: tel()})
			if err != nil {
				t.Fatal(err)
			}
			callerCtx, caller := provider.Tracer("e2e").Start(ctx, "caller")
			if _, err := c.CallTool(callerCtx, "greet", nil); err != nil {
				t.Fatal(err)
			}
			caller.End()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			site.Close()
			if err := handler.Shutdown(ctx); err != nil { // waits for the end of the last span
				t.Error(err)
			}

			var httpClient, httpServer, mcpClient, mcpServer sdktrace.ReadOnlySpan
			for _, span := range recorder.Ended() {
				ours := span.InstrumentationScope().Name != otelhttp.ScopeName
				switch {
				case span.SpanContext().TraceID() != caller.SpanContext().TraceID():
				case span.SpanKind() == trace.SpanKindClient && ours:
					mcpClient = span
				case span.SpanKind() == trace.SpanKindClient:
					httpClient = span
				case span.SpanKind() == trace.SpanKindServer && ours:
					mcpServer = span
				case span.SpanKind() == trace.SpanKindServer:
					httpServer = span
				}
			}
			if httpClient == nil || httpServer == nil || mcpClient == nil || mcpServer == nil {
				t.Fatalf("want four spans below the caller's, got %v, %v, %v, %v", mcpClient, httpClient, httpServer, mcpServer)
			}
			for _, want := range []struct {
				what          string
				child, parent trace.SpanID
			}{
				{"the call is below the caller", mcpClient.Parent().SpanID(), caller.SpanContext().SpanID()},
				{"the HTTP request is below the call", httpClient.Parent().SpanID(), mcpClient.SpanContext().SpanID()},
				{"the HTTP server is below the HTTP request", httpServer.Parent().SpanID(), httpClient.SpanContext().SpanID()},
				{"the MCP server is below the call", mcpServer.Parent().SpanID(), mcpClient.SpanContext().SpanID()},
			} {
				if want.child != want.parent {
					t.Errorf("%s: want parent %s, got %s", want.what, want.parent, want.child)
				}
			}
			if links := mcpServer.Links(); len(links) != 1 ||
				links[0].SpanContext.SpanID() != httpServer.SpanContext().SpanID() {
				t.Errorf("want the MCP server's span linked to the HTTP server's %s, got %v", httpServer.SpanContext().SpanID(),
					links)
			}
			for _, span := range recorder.Ended() {
				if span.InstrumentationScope().Name != otelhttp.ScopeName && span.EndTime().Sub(span.StartTime()) > 10*time.Second {
					t.Errorf("%s lasted %v", span.Name(), span.EndTime().Sub(span.StartTime()))
				}
			}
			if open := len(recorder.Started()) - len(recorder.Ended()); open != 0 {
				t.Errorf("%d spans never ended", open)
			}
		})
	}
}

package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// TestTheSpanOfWhoIsNotTrustedIsARootWithLinks trusts those who say so in a header, request by request.
func TestTheSpanOfWhoIsNotTrustedIsARootWithLinks(t *testing.T) {
	ambient := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for _, within := range []bool{false, true} {
			t.Run(fmt.Sprint(version, " within a span=", within), func(t *testing.T) {
				rec := telemetrytest.Recorder(t, telemetry.WithPublicEndpointFn(func(ctx context.Context) bool {
					r := mcpserver.RequestFrom(ctx)
					return r != nil && r.HTTP().Header.Get("Trusted") == ""
				}))
				s := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
				s.RemoveTools("echo")
				var inside []string
				must(t, s.AddRawTool(&mcp.Tool{Name: "echo"}, func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					inside = append(inside, baggage.FromContext(ctx).Member("tenant").Value())
					return nil, nil
				}))
				h := s.HTTPHandler(nil)
				w := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if within {
						r = r.WithContext(trace.ContextWithSpanContext(r.Context(), ambient))
					}
					h.ServeHTTP(w, r)
				}), h)
				meta, headers := traceParent+`,"baggage":"tenant=acme"`, []string{"Mcp-Session-Id", ""}
				if version == "2026-07-28" {
					meta, headers = bothMetas+","+meta, modernHeaders("tools/call", "echo")
				} else {
					headers[1] = w.open(version)
				}
				for i, trusted := range []string{"", "yes"} {
					if p := w.post(asked(i, "tools/call", meta, `"name":"echo"`), append(headers, "Trusted", trusted)...); p.status != 200 {
						t.Fatalf("got %d with %s", p.status, p.body)
					}
				}
				w.end()
				if got := strings.Join(inside, " "); got != " acme" {
					t.Errorf("only the baggage of who is trusted is read, got %q", got)
				}
				n := 0
				for _, span := range rec.Spans() {
					if span.Name() != "tools/call echo" {
						continue
					}
					n++
					if attributesOf(span)["jsonrpc.request.id"] == "1" {
						if span.Parent().SpanID().String() != "b7ad6b7169203331" {
							t.Errorf("the span of who is trusted is below theirs, got %v", span.Parent().SpanID())
						}
						continue
					}
					want := []string{"b7ad6b7169203331"}
					if within {
						want = []string{ambient.SpanID().String(), "b7ad6b7169203331"}
					}
					var links []string
					for _, l := range span.Links() {
						links = append(links, l.SpanContext.SpanID().String())
					}
					if span.Parent().IsValid() || strings.Join(links, " ") != strings.Join(want, " ") {
						t.Errorf("the span is a root with links to %q, got parent %v and links %q", want, span.Parent().SpanID(), links)
					}
					if id := span.SpanContext().TraceID(); id.String() == "0af7651916cd43dd8448eb211c80319c" || id == ambient.TraceID() {
						t.Errorf("its trace is one of its own, got %v", id)
					}
				}
				if n != 2 {
					t.Errorf("two calls, got %d spans", n)
				}
			})
		}
	}
}

// Trusting the client, the default sampler would follow it.
func TestAServerDecidesItselfWhetherACallOfAnUntrustedClientIsSampled(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithPublicEndpointFn(func(context.Context) bool { return true }))
	w := serveWeb(t, newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}), nil)
	unsampled := strings.Replace(traceParent, `-01"`, `-00"`, 1)
	w.post(asked(1, "tools/call", bothMetas+","+unsampled, `"name":"echo"`), modernHeaders("tools/call", "echo")...)
	w.end()
	if span := rec.Span("tools/call echo"); !span.SpanContext().IsSampled() {
		t.Error("the span is sampled, though the client's is not: got one that is not")
	}
}

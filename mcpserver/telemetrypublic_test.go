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

// TestUntrustedClientSpanIsRootWithLink trusts a client if a header of its request demands that.
func TestUntrustedClientSpanIsRootWithLink(t *testing.T) {
	ambient := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2},
		TraceFlags: trace.FlagsSampled})
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
				must(t, s.AddTool(&mcp.Tool{Name: "echo"},
					func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						inside = append(inside, baggage.FromContext(ctx).Member("tenant").Value())
						return nil, nil
					}))
				h := s.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
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
					if p := w.post(asked(i, "tools/call", meta, `"name":"echo"`),
						append(headers, "Trusted", trusted)...); p.status != 200 {
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
					if id := span.SpanContext().TraceID(); id.String() == "0af7651916cd43dd8448eb211c80319c" ||
						id == ambient.TraceID() {
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

// The default sampler follows the sampling decision of a trusted client. The client of this test is not trusted.
func TestServerSamplesUntrustedCallsIndependently(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithPublicEndpointFn(func(context.Context) bool { return true }))
	w := serveWeb(t, newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}),
		&mcpserver.HTTPOptions{TrustTraceContext: true})
	unsampled := strings.Replace(traceParent, `-01"`, `-00"`, 1)
	w.post(asked(1, "tools/call", bothMetas+","+unsampled, `"name":"echo"`), modernHeaders("tools/call", "echo")...)
	w.end()
	if span := rec.Span("tools/call echo"); !span.SpanContext().IsSampled() {
		t.Error("the span is sampled, though the client's is not: got one that is not")
	}
}

// A client over HTTP controls traces and baggage only if it has a principal, or if the server's options allow it. A
// client on the loopback interface, as in this test, is no exception.
func TestAnonymousHTTPClientCannotControlTraces(t *testing.T) {
	alice := func(*http.Request) string { return "alice" }
	for _, tt := range []struct {
		name    string
		options *mcpserver.HTTPOptions
		trusted bool
	}{
		{"by default", nil, false},
		{"without sessions", &mcpserver.HTTPOptions{Stateless: true}, false},
		{"without a principal", &mcpserver.HTTPOptions{Principal: func(*http.Request) string { return "" }}, false},
		{"with a principal", &mcpserver.HTTPOptions{Principal: alice}, true},
		{"with the option", &mcpserver.HTTPOptions{TrustTraceContext: true}, true},
	} {
		for _, version := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(fmt.Sprint(tt.name, " ", version), func(t *testing.T) {
				rec := telemetrytest.Recorder(t)
				s := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
				s.RemoveTools("echo")
				var tenant string
				var sampled bool
				must(t, s.AddTool(&mcp.Tool{Name: "echo"},
					func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						tenant = baggage.FromContext(ctx).Member("tenant").Value()
						sampled = trace.SpanContextFromContext(ctx).IsSampled()
						return nil, nil
					}))
				w := serveWeb(t, s, tt.options)
				unsampled := strings.Replace(traceParent, `-01"`, `-00"`, 1)
				meta, headers := unsampled+`,"baggage":"tenant=acme"`, []string{}
				switch {
				case version == "2026-07-28":
					meta, headers = bothMetas+","+meta, modernHeaders("tools/call", "echo")
				case tt.options == nil || !tt.options.Stateless:
					headers = []string{"Mcp-Session-Id", w.open(version)}
				}
				if p := w.post(asked(1, "tools/call", meta, `"name":"echo"`), headers...); p.status != 200 {
					t.Fatalf("got %d with %s", p.status, p.body)
				}
				news := `{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"_meta":{` + meta + `}}}`
				if p := w.post(news, headers...); p.status/100 != 2 && version != "2026-07-28" {
					t.Fatalf("notification: got %d with %s", p.status, p.body)
				}
				w.end()
				if sampled == tt.trusted || (tenant == "acme") != tt.trusted {
					t.Errorf("sampled %t with tenant %q, want the client to decide that it is not and whose: %t", sampled, tenant,
						tt.trusted)
				}
				for _, span := range rec.Spans() {
					if strings.Contains(span.Name(), "initialize") {
						continue // the opening of the session has no trace
					}
					links := span.Links()
					if tt.trusted || span.Parent().IsValid() || len(links) != 1 ||
						links[0].SpanContext.SpanID().String() != "b7ad6b7169203331" {
						t.Errorf("%s: parent %v and links %v; want a root with a link to the client's span", span.Name(), span.Parent(),
							links)
					}
				}
			})
		}
	}
}

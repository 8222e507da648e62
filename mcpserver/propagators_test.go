package mcpserver_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/testsupport/propagators"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Regression test: each call with b3 was two traces, because only the W3C keys were propagated.
func TestCallIsOneTraceWithAnyPropagator(t *testing.T) {
	for name, p := range propagators.All() {
		for _, version := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
			for _, over := range []string{"memory", "HTTP"} {
				t.Run(fmt.Sprint(name, " ", version, " ", over), func(t *testing.T) {
					rec := telemetrytest.Recorder(t, telemetry.WithPropagators(p),
						telemetry.WithNotificationSpans(func(string) bool { return true }))
					s := tracingServer(t, rec.Telemetry())
					c, served := tracedClient(t, s, over, rec.Telemetry(), version)
					if got := callText(t, c, "trace"); got != arrived(p, rec, "tools/call trace") {
						t.Errorf("the handler is in trace %s, want %s", got, arrived(p, rec, "tools/call trace"))
					}
					must(t, c.Close())
					served()
					checkParents(t, p, rec.Spans())
				})
			}
		}
	}
}

// checkParents checks that the span of every received request and notification is a child of the sender's span.
func checkParents(t *testing.T, p propagation.TextMapPropagator, spans []sdktrace.ReadOnlySpan) {
	t.Helper()
	sent := map[trace.SpanID]trace.TraceID{}
	for _, s := range spans {
		if s.SpanKind() == trace.SpanKindClient {
			got := propagators.Arrives(p, s.SpanContext())
			sent[got.SpanID()] = got.TraceID()
		}
	}
	methods := map[string]bool{}
	for _, s := range spans {
		if s.SpanKind() != trace.SpanKindServer {
			continue
		}
		methods[s.Name()] = true
		if of, ok := sent[s.Parent().SpanID()]; !ok || of != s.SpanContext().TraceID() || !s.Parent().IsRemote() {
			t.Errorf("%s has the parent %s in trace %s, which is none of the spans that were sent", s.Name(),
				s.Parent().SpanID(), s.SpanContext().TraceID())
		}
	}
	if !methods["tools/call trace"] || !methods["roots/list"] && !methods["server/discover"] {
		t.Errorf("want calls, and a probe or questions, got %v", methods)
	}
}

// arrived returns the trace in which the receiver sees the only request with this name.
func arrived(p propagation.TextMapPropagator, rec *telemetrytest.Recording, name string) string {
	for _, s := range rec.SpansNamed(name, trace.SpanKindClient) {
		return propagators.Arrives(p, s.SpanContext()).TraceID().String()
	}
	return ""
}

// tracingServer serves a tool that returns its trace, and asks a legacy client for its roots.
func tracingServer(t testing.TB, tel *telemetry.Telemetry) *mcpserver.Server {
	s := mcpserver.New(mcp.Implementation{Name: "tracing", Version: "1"}, &mcpserver.Options{Telemetry: tel})
	err := s.AddTool(&mcp.Tool{Name: "trace"},
		func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			if v := mcpserver.RequestFrom(ctx).Version; v == mcp.Version20251125 {
				if _, err := r.ListRoots(ctx); err != nil {
					return nil, err
				}
			}
			return toldBy("%s", trace.SpanContextFromContext(ctx).TraceID())
		})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tracedClient returns a client of s, and a function that waits until s has handled the client's messages.
func tracedClient(t *testing.T, s *mcpserver.Server, over string, tel *telemetry.Telemetry, v mcp.Version,
) (*mcpclient.Client, func()) {
	t.Helper()
	var serving sync.WaitGroup
	served := serving.Wait
	var tr transport.Transport = transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		serving.Add(1)
		defer serving.Done()
		_ = s.Serve(ctx, p)
	})
	if over == "HTTP" {
		h := s.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
		srv := httptest.NewServer(h)
		t.Cleanup(srv.Close)
		served = func() { must(t, h.Shutdown(context.Background())) }
		tr = &transport.HTTP{URL: srv.URL}
	}
	o := able(answers("ann")...)
	o.Telemetry, o.Versions = tel, []mcp.Version{v}
	c, err := mcpclient.Connect(t.Context(), tr, &o)
	must(t, err)
	return c, served
}

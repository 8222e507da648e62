package mcptest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// valueOf returns the value of an attribute of a span. It returns an empty string if the span does not have the
// attribute.
func valueOf(s sdktrace.ReadOnlySpan, key attribute.Key) string {
	for _, a := range s.Attributes() {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

func nothing(context.Context, struct{}) (string, error) { return "done", nil }

// counted is the structured output of a tool.
type counted struct {
	N int `json:"n"`
}

// Every function that makes a call accepts attributes for the call's span.
func TestCallOptionAddsSpanAttributes(t *testing.T) {
	attrs := mcpclient.WithSpanAttributes(tenant("acme"))
	for _, way := range []struct {
		name, method string
		call         func(context.Context, *mcpclient.Client) error
	}{
		{"CallTool", "tools/call", func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.CallTool(ctx, "greet", nil, attrs)
			return err
		}},
		{"CallToolAs", "tools/call", func(ctx context.Context, c *mcpclient.Client) error {
			_, err := mcpclient.CallToolAs[counted](ctx, c, "greet", nil, attrs)
			return err
		}},
		{"CallToolRaw", "tools/call", func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.CallToolRaw(ctx, &mcp.CallToolParams{Name: "greet"}, attrs)
			return err
		}},
		{"Call", "tools/call", func(ctx context.Context, c *mcpclient.Client) error {
			return c.Call(ctx, "tools/call", map[string]string{"name": "greet"}, nil, attrs)
		}},
		{"Tools", "tools/list", func(ctx context.Context, c *mcpclient.Client) (err error) {
			for _, err = range c.Tools(ctx, attrs) {
			}
			return err
		}},
		{"ListTools", "tools/list", func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.ListTools(ctx, nil, attrs)
			return err
		}},
		{"ReadResource", "resources/read", func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.ReadResource(ctx, "memo:///one", attrs)
			return err
		}},
		{"with another option", "tools/call", func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.CallTool(ctx, "greet", nil, attrs, mcpclient.WithSpanAttributes(attribute.Int("shard", 7)))
			return err
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			_, client := together(t, rec, mcpserver.Options{}, mcpclient.Options{}, func(s *mcpserver.Server) {
				if err := mcpserver.AddTool(s, &mcp.Tool{Name: "greet"}, func(context.Context, struct{}) (counted, error) {
					return counted{1}, nil
				}); err != nil {
					t.Error(err)
				}
				s.AddResource(&mcp.Resource{Name: "one", URI: "memo:///one"},
					func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
						return &mcp.ReadResourceResult{}, nil
					})
			})
			if err := way.call(t.Context(), client); err != nil {
				t.Error(err)
			}
			n := 0
			for _, s := range rec.Spans() {
				if s.SpanKind() != trace.SpanKindClient || valueOf(s, "mcp.method.name") != way.method {
					continue
				}
				n++
				if got := valueOf(s, "tenant.id"); got != "acme" {
					t.Errorf("span %q: got tenant.id %q, want acme", s.Name(), got)
				}
			}
			if n != 1 {
				t.Errorf("got %d spans of %s, want 1", n, way.method)
			}
		})
	}
}

// The span of each attempt and of each round of a call has the attributes.
func TestEachAttemptHasCallAttributes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		server, client := together(t, rec, mcpserver.Options{}, mcpclient.Options{}, tool("greet", nothing))
		server.Kill()
		if _, err := client.CallTool(t.Context(), "greet", nil, mcpclient.Retry(3),
			mcpclient.WithSpanAttributes(tenant("acme"))); err != nil {
			t.Fatal(err)
		}
		tries := rec.SpansNamed("tools/call greet", trace.SpanKindClient)
		if len(tries) < 2 {
			t.Errorf("got %d tries, want two or more", len(tries))
		}
		for _, s := range tries {
			if got := valueOf(s, "tenant.id"); got != "acme" {
				t.Errorf("a try has tenant.id %q, want acme", got)
			}
		}
	})
}

// An option for all calls adds attributes from the context to the spans of both ends.
func TestOptionAddsAttributesToAllSpans(t *testing.T) {
	type key struct{}
	var seen sync.Map
	rec := telemetrytest.Recorder(t, telemetry.WithSpanAttributesFn(
		func(ctx context.Context, info telemetry.SpanInfo) []attribute.KeyValue {
			seen.Store(info, true)
			attrs := []attribute.KeyValue{attribute.String("mcp.method.name", "made up")}
			if info.Kind == trace.SpanKindServer && mcpserver.RequestFrom(ctx) != nil {
				attrs = append(attrs, attribute.String("served", info.Method))
			}
			if name, ok := ctx.Value(key{}).(string); ok {
				attrs = append(attrs, tenant(name))
			}
			for i := range 40 {
				attrs = append(attrs, attribute.Int(fmt.Sprint("n", i), i))
			}
			return attrs
		}))
	_, client := together(t, rec, mcpserver.Options{}, mcpclient.Options{}, tool("greet", nothing))
	ctx := context.WithValue(t.Context(), key{}, "acme")
	urgent := mcpclient.WithSpanAttributes(attribute.Bool("urgent", true))
	if _, err := client.CallTool(ctx, "greet", nil, urgent); err != nil {
		t.Fatal(err)
	}
	called, served := rec.SpansNamed("tools/call greet", trace.SpanKindClient)[0],
		rec.SpansNamed("tools/call greet", trace.SpanKindServer)[0]
	got := valueOf(called, "tenant.id") + valueOf(called, "urgent") + valueOf(served, "served")
	if got != "acmetruetools/call" {
		t.Errorf("got %q, want the attributes of the call, and those of the function for both ends", got)
	}
	for _, s := range []sdktrace.ReadOnlySpan{called, served} {
		if got := valueOf(s, "mcp.method.name"); got != "tools/call" {
			t.Errorf("mcp.method.name of the %v span is %q, want that of the schema", s.SpanKind(), got)
		}
	}
	if valueOf(called, "n28") == "" || valueOf(called, "n29") != "" {
		t.Errorf("want 32 attributes of the program: urgent, two, and n0 to n28; got %v", called.Attributes())
	}
	for _, kind := range []trace.SpanKind{trace.SpanKindClient, trace.SpanKindServer} {
		if _, ok := seen.Load(telemetry.SpanInfo{Kind: kind, Method: "tools/call", Target: "greet"}); !ok {
			t.Errorf("the function was not called for the %v span", kind)
		}
	}
	for _, p := range rec.Points("mcp.client.operation.duration") {
		if p.Attrs.HasValue("tenant.id") {
			t.Errorf("a metric has an attribute of the program: %v", p.Attrs)
		}
	}
}

// A filter removes only spans. The spans below a removed span belong to the span around the call, and metrics do not
// change.
func TestFilterRemovesOnlySpans(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithFilter(func(_ context.Context, info telemetry.SpanInfo) bool {
		return info.Method != "ping" && info.Target != "noise"
	}))
	app := rec.TracerProvider().Tracer("app")
	_, client := together(t, rec, mcpserver.Options{}, mcpclient.Options{},
		tool("noise", func(ctx context.Context, _ struct{}) (string, error) {
			_, span := app.Start(ctx, "work")
			span.End()
			return "", errors.New("out of order")
		}))
	ctx, span := app.Start(t.Context(), "job")
	if _, err := client.CallTool(ctx, "noise", nil); err != nil {
		t.Fatal(err)
	}
	span.End()
	rec.AssertOneTrace(`
		INTERNAL job
		  INTERNAL work`)
	for _, metric := range []string{"mcp.client.operation.duration", "mcp.server.operation.duration"} {
		points := rec.Points(metric, "gen_ai.tool.name", "noise", "error.type", "tool_error")
		if len(points) != 1 || points[0].Count != 1 {
			t.Errorf("%s: got %v, want one measurement of the call", metric, points)
		}
	}
	if n := len(rec.Logs("mcp_client.request.stop")) + len(rec.Logs("mcp_client.request.exception")); n == 0 {
		t.Error("the call has no record")
	}
}

// Middleware runs inside the span: on the client, for calls and handlers; on the server, for handlers.
func TestMiddlewareRunsInsideTheSpan(t *testing.T) {
	note := func(ctx context.Context, where string) {
		trace.SpanFromContext(ctx).SetAttributes(attribute.Bool(where, true))
	}
	rec := telemetrytest.Recorder(t)
	_, client := together(t, rec, mcpserver.Options{
		Middleware: []func(mcpserver.RequestHandler) mcpserver.RequestHandler{
			func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
				return func(ctx context.Context, r *mcpserver.Request) (any, error) { note(ctx, "server"); return next(ctx, r) }
			}},
	}, mcpclient.Options{
		Features: []mcpclient.Feature{mcpclient.UseRoots(&mcp.Root{URI: "file:///srv"})},
		Middleware: []mcpclient.Middleware{func(next mcpclient.CallFunc) mcpclient.CallFunc {
			return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
				note(ctx, "client")
				return next(ctx, method, params, result, options...)
			}
		}},
		HandlerMiddleware: []func(mcpclient.RequestHandler) mcpclient.RequestHandler{
			func(next mcpclient.RequestHandler) mcpclient.RequestHandler {
				return func(ctx context.Context, r *mcpclient.Request) (any, error) { note(ctx, "asked"); return next(ctx, r) }
			}},
	}, tool("where", func(ctx context.Context, _ struct{}) (string, error) {
		_, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
		return "here", err
	}))
	if _, err := client.CallTool(t.Context(), "where", nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		span string
		kind trace.SpanKind
		key  attribute.Key
	}{
		{"tools/call where", trace.SpanKindClient, "client"},
		{"tools/call where", trace.SpanKindServer, "server"},
		{"roots/list", trace.SpanKindServer, "asked"},
	} {
		spans := rec.SpansNamed(want.span, want.kind) // the spans of all rounds: the server may ask in its answer
		if len(spans) > 0 && valueOf(spans[0], want.key) != "true" {
			t.Errorf("the %v span %s has no attribute of its middleware, %v", want.kind, want.span, spans[0].Attributes())
		}
		if len(spans) == 0 {
			t.Errorf("got no %v span %s", want.kind, want.span)
		}
	}
}

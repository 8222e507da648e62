package examples

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// tenantKey is the key of the tenant in a context.
type tenantKey struct{}

// docs:options

// spanOptions adds the tenant in the context to the spans of both ends, and drops the spans of pings.
func spanOptions() []telemetry.Option {
	return []telemetry.Option{
		telemetry.WithSpanAttributesFn(func(ctx context.Context, _ telemetry.SpanInfo) []attribute.KeyValue {
			tenant, _ := ctx.Value(tenantKey{}).(string)
			return []attribute.KeyValue{attribute.String("tenant.id", tenant)}
		}),
		telemetry.WithFilter(func(_ context.Context, m telemetry.SpanInfo) bool { return m.Method != "ping" }),
	}
}

// docs:end

// docs:middleware

// countRows adds the number of rows that a tool has returned to the CLIENT span of the call.
func countRows(next mcpclient.CallFunc) mcpclient.CallFunc {
	return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
		err := next(ctx, method, params, result, options...)
		if r, ok := result.(*mcp.CallToolResult); ok && err == nil {
			trace.SpanFromContext(ctx).SetAttributes(attribute.Int("rows", len(r.Content)))
		}
		return err
	}
}

// docs:end

func TestSpansHaveTheAttributesOfTheProgram(t *testing.T) {
	rec := telemetrytest.Recorder(t, spanOptions()...)
	server := mcptest.NewServer(t, &mcpserver.Options{Telemetry: rec.Telemetry()})
	query := func(ctx context.Context, _ struct{}) (string, error) {
		trace.SpanFromContext(ctx).SetAttributes(attribute.Bool("cached", true))
		return "one row", nil
	}
	err := mcpserver.AddTool(server.Server, &mcp.Tool{Name: "query"}, query)
	client, failed := mcpclient.Connect(t.Context(), server, &mcpclient.Options{
		Telemetry:  rec.Telemetry(),
		Middleware: []mcpclient.Middleware{countRows},
	})
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx := context.WithValue(t.Context(), tenantKey{}, "acme")
	if err := client.Ping(ctx); err != nil {
		t.Error(err)
	}
	// docs:call
	result, err := client.CallTool(ctx, "query", nil, mcpclient.WithSpanAttributes(attribute.Int("attempt.of.user", 2)))
	// docs:end
	if err != nil || result.Text() != "one row" {
		t.Errorf("got %v, %v", result, err)
	}
	if n := len(rec.SpansNamed("ping", trace.SpanKindClient)); n != 0 {
		t.Errorf("got %d spans of pings, want none", n)
	}
	got := attribute.NewSet(rec.SpansNamed("tools/call query", trace.SpanKindClient)[0].Attributes()...)
	for _, key := range []attribute.Key{"tenant.id", "rows", "attempt.of.user"} {
		if !got.HasValue(key) {
			t.Errorf("the CLIENT span has no %s", key)
		}
	}
}

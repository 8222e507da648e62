package mcptest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// tenant returns an attribute that the program itself defines.
func tenant(name string) attribute.KeyValue { return attribute.String("tenant.id", name) }

// together returns a server and a client of this server. Both use rec, and end with the test. set adds features to the
// server.
func together(t *testing.T, rec *telemetrytest.Recording, so mcpserver.Options, co mcpclient.Options,
	set func(*mcpserver.Server)) (*mcptest.Server, *mcpclient.Client) {
	t.Helper()
	so.Telemetry, co.Telemetry = rec.Telemetry(), rec.Telemetry()
	server := mcptest.NewServer(t, &so)
	set(server.Server)
	client, err := mcpclient.Connect(t.Context(), server, &co)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return server, client
}

// tool returns a function that adds a tool to a server.
func tool(name string, h func(context.Context, struct{}) (string, error)) func(*mcpserver.Server) {
	return func(s *mcpserver.Server) {
		if err := mcpserver.AddTool(s, &mcp.Tool{Name: name}, h); err != nil {
			panic(err)
		}
	}
}

// A handler changes its span in all ways that OpenTelemetry permits, and the recorder of the test accepts them.
func TestRecorderAcceptsSpanChangesByHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		search := func(ctx context.Context, _ struct{}) (string, error) {
			span := trace.SpanFromContext(ctx)
			span.SetAttributes(tenant("acme"))
			span.AddEvent("cache missed")
			span.RecordError(errors.New("one shard is slow"))
			span.SetStatus(codes.Error, "one shard is slow")
			_, below := rec.TracerProvider().Tracer("app").Start(ctx, "query")
			for range 3 {
				span.AddLink(trace.Link{SpanContext: below.SpanContext()})
			}
			below.End()
			return "found", nil
		}
		_, client := together(t, rec, mcpserver.Options{}, mcpclient.Options{}, tool("search", search))
		if _, err := client.CallTool(t.Context(), "search", nil); err != nil {
			t.Fatal(err)
		}
		rec.AssertOneTrace(`
			CLIENT tools/call search
			  SERVER tools/call search
			    INTERNAL query`)
		synctest.Wait() // the span of the server ends before its record is written
		if problems := rec.Problems(); len(problems) > 0 {
			t.Errorf("what a handler adds is no problem, got %q", problems)
		}
	})
}

package telemetry_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// A program that has set up OpenTelemetry needs no option but its logger.
func ExampleNew() {
	bare := func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, slog.MessageKey, "mcp_client.duration", "mcp_client.corr_id":
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: bare}))
	tel := telemetry.New(telemetry.WithLogger(logger), telemetry.WithSlowThreshold(time.Second))

	// What follows is what a client does with it.
	c := tel.Client("files", telemetry.Network{Transport: "pipe"}, telemetry.WithInstanceID("pod-7"))
	defer c.Close()
	_, op := c.StartRequest(context.Background(), telemetry.Request{
		Method: "tools/call", TargetKind: telemetry.Tool, Target: "read",
	})
	op.Admit(nil, 7)
	op.End(telemetry.Result{ErrorType: telemetry.ErrorTimeout, Err: context.DeadlineExceeded})
	// Output:
	// level=WARN mcp_client.name=files mcp_client.instance.id=pod-7 event.name=mcp_client.request.exception mcp.method.name=tools/call gen_ai.tool.name=read jsonrpc.request.id=7 error.type=timeout mcp_client.error.kind=timeout error="context deadline exceeded"
}

// An agent that has a span of its own for the execution of a tool keeps it the only one.
func ExampleWithOuterToolSpan() {
	callTool := func(ctx context.Context) { /* client.CallTool(ctx, ...) */ }

	ctx, span := otel.Tracer("agent").Start(context.Background(), "execute_tool read")
	defer span.End()
	callTool(telemetry.WithOuterToolSpan(ctx))
}

// The schema is data, for whoever builds dashboards or checks queries.
func ExampleDefinition() {
	for _, m := range telemetry.Schema.Metrics {
		if m.Stability == telemetry.Convention {
			fmt.Println(m.Name, m.Unit)
		}
	}
	// Output:
	// mcp.client.operation.duration s
	// mcp.server.operation.duration s
	// mcp.client.session.duration s
	// mcp.server.session.duration s
}

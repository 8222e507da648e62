package telemetry_test

import (
	"context"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// A program that has set up OpenTelemetry needs no option except its logger.
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

	// The rest of the example does what a client does with the Telemetry.
	c := instrument.NewClient(tel, "files", instrument.Network{Transport: "pipe"}, instrument.WithInstanceID("pod-7"))
	defer c.Close()
	_, op := c.StartRequest(context.Background(), instrument.Request{
		Method: "tools/call", TargetKind: instrument.Tool, Target: "read",
	})
	op.Admit(nil, 7)
	op.End(instrument.Result{ErrorType: names.ErrorTimeout, Err: context.DeadlineExceeded})
	// Output:
	// level=WARN mcp_client.name=files mcp_client.instance.id=pod-7 event.name=mcp_client.request.exception mcp.method.name=tools/call gen_ai.tool.name=read jsonrpc.request.id=7 error.type=timeout mcp_client.error.kind=timeout exception.type=context.deadlineExceededError mcp_client.safe_to_retry=false exception.message="context deadline exceeded"
}

// An agent already has a span for the execution of a tool. The call adds no second span.
func ExampleWithOuterToolSpan() {
	callTool := func(ctx context.Context) { /* client.CallTool(ctx, ...) */ }

	ctx, span := otel.Tracer("agent").Start(context.Background(), "execute_tool read")
	defer span.End()
	callTool(telemetry.WithOuterToolSpan(ctx))
}

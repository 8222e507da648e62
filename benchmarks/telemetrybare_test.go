package benchmarks

import (
	"context"
	"io"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// bare returns the client without telemetry. The caller starts a span of the SDK around each call, with as many
// attributes as ours has over stdio, and writes the trace context into a map that no code reads. This measures the part
// of the cost of spans that this module does not cause.
func bare(b *testing.B) workload.Peer {
	absent := workload.OursWith("bare", func(...telemetry.Option) *telemetry.Telemetry { return telemetry.Off() })
	tracer := tracers(b, sdktrace.AlwaysSample()).Tracer("bare")
	spanned := func(c workload.Client, err error) (workload.Client, error) {
		if err != nil {
			return nil, err
		}
		return &spannedClient{c, tracer}, nil
	}
	p := absent
	p.Stdio = func(ctx context.Context, command, env []string) (workload.Client, error) {
		return spanned(absent.Stdio(ctx, command, env))
	}
	p.Pipe = func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) (workload.Client, error) {
		return spanned(absent.Pipe(ctx, r, w))
	}
	p.HTTP = func(ctx context.Context, url string) (workload.Client, error) { return spanned(absent.HTTP(ctx, url)) }
	return p
}

// spannedClient creates a span around each call.
type spannedClient struct {
	workload.Client
	tracer trace.Tracer
}

func (c *spannedClient) Call(ctx context.Context, tool string) (int, error) {
	ctx, span := c.tracer.Start(ctx, "tools/call tiny", atStart...)
	carrier := propagation.MapCarrier{}
	w3c.Inject(ctx, carrier)
	n, err := c.Client.Call(ctx, tool)
	span.SetAttributes(atEnd...)
	span.End()
	return n, err
}

// Attributes that are known at the start and at the end of a call. Their keys are as long as the keys of ours.
var (
	atStart = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("mcp.method.name", "tools/call"), attribute.String("gen_ai.tool.name", workload.TinyTool),
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("network.transport", "pipe"),
	)}
	atEnd = []attribute.KeyValue{
		attribute.String("mcp.protocol.version", "2026-07-28"), attribute.String("bare.name", "ours"),
		attribute.String("bare.corr_id", "0123456789abcdef0123456789abcdef"),
		attribute.String("jsonrpc.request.id", "1234567"),
		attribute.Int("bare.request.size", 200), attribute.Int("bare.response.size", 200),
	}
)

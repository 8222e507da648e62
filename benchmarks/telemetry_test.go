package benchmarks

import (
	"context"
	"log/slog"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// installations are the programs that a client and a server may find themselves in.
var installations = []struct {
	name string
	new  func(*testing.B) *telemetry.Telemetry
}{
	{"absent", func(*testing.B) *telemetry.Telemetry { return telemetry.Off() }},
	{"no-sdk", func(*testing.B) *telemetry.Telemetry { return telemetry.New() }},
	{"unsampled", func(b *testing.B) *telemetry.Telemetry { return sdk(b, sdktrace.NeverSample()) }},
	{"sampled", func(b *testing.B) *telemetry.Telemetry { return sdk(b, sdktrace.AlwaysSample()) }},
	{"exported", exported},
}

// BenchmarkTelemetry is a call of a tiny tool, from a client to a server in the same process: what all of it costs, with the
// telemetry of both ends.
func BenchmarkTelemetry(b *testing.B) {
	for _, in := range installations {
		b.Run(in.name, func(b *testing.B) {
			c := connected(b, in.new(b))
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.CallTool(ctx, "tool", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// connected returns a client of a server with one tool.
func connected(b *testing.B, tel *telemetry.Telemetry) *mcpclient.Client {
	b.Helper()
	s := mcpserver.New(mcp.Implementation{Name: "bench", Version: "1"}, &mcpserver.Options{Telemetry: tel})
	answer := &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("x")}}
	err := s.AddRawTool(&mcp.Tool{Name: "tool"}, func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) { return answer, nil })
	if err != nil {
		b.Fatal(err)
	}
	t := transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = s.Serve(ctx, p) })
	c, err := mcpclient.Connect(b.Context(), t, &mcpclient.Options{Telemetry: tel})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return c
}

// sdk returns a Telemetry with the SDK as a program has it: batches of spans, metrics, W3C propagation, logs at Info.
// Nothing leaves it.
func sdk(b *testing.B, s sdktrace.Sampler) *telemetry.Telemetry {
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSampler(s), sdktrace.WithBatcher(nowhere{}))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	b.Cleanup(func() {
		_ = tracers.Shutdown(context.Background())
		_ = meters.Shutdown(context.Background())
	})
	return telemetry.New(
		telemetry.WithTracerProvider(tracers), telemetry.WithMeterProvider(meters),
		telemetry.WithPropagators(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})),
		telemetry.WithLogger(slog.New(infoOnly{slog.DiscardHandler})),
	)
}

// exported returns a Telemetry whose spans, metrics and records all go out over OTLP, to a receiver in this process, whose
// work is measured too. Of spans, the SDK drops what is more than it can send.
func exported(b *testing.B) *telemetry.Telemetry {
	sink, err := otlpsink.Listen("")
	if err != nil {
		b.Fatal(err)
	}
	p, err := otlp.Setup(b.Context(), otlp.WithEndpoint(sink.Endpoint()), otlp.WithGlobals(false), otlp.WithConsole(nil, nil))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = p.Shutdown(context.Background())
		_ = sink.Close(context.Background())
	})
	return p.Telemetry()
}

// nowhere is a span exporter.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }

// infoOnly is a handler that wants records of level Info and above.
type infoOnly struct{ slog.Handler }

func (infoOnly) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

package benchmarks

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// installations are the OpenTelemetry setups of the program that contains a client or a server.
var installations = []struct {
	name string
	new  func(*testing.B) *telemetry.Telemetry
}{
	{"absent", func(*testing.B) *telemetry.Telemetry { return telemetry.Off() }},
	{"no-sdk", func(*testing.B) *telemetry.Telemetry { return telemetry.New() }},
	{"unsampled", func(b *testing.B) *telemetry.Telemetry { return sdk(b, sdktrace.NeverSample()) }},
	{"spans", spans},
	{"sampled", func(b *testing.B) *telemetry.Telemetry { return sdk(b, sdktrace.AlwaysSample()) }},
	{"exported", exported},
}

// BenchmarkTelemetryClient measures the cost of telemetry for a client: calls of a tiny tool, to a server with a
// prepared answer and without telemetry.
func BenchmarkTelemetryClient(b *testing.B) {
	var peers []workload.Peer
	for _, in := range installations {
		peers = append(peers, workload.OursWith(in.name, once(b, in.new)))
	}
	peers = slices.Insert(peers, slices.IndexFunc(peers, func(p workload.Peer) bool { return p.Name == "spans" }), bare(b))
	workload.TinyRoundtrips(b, peers...)
}

// BenchmarkTelemetryServer measures the cost of telemetry for a server: calls of a tiny tool, by a client with a
// prepared request and without telemetry. The request has no trace context.
func BenchmarkTelemetryServer(b *testing.B) {
	var servers []workload.Server
	for _, in := range installations {
		servers = append(servers, workload.OursServerWith(in.name, once(b, in.new)))
	}
	workload.TinyServings(b, servers...)
}

// once returns a function that creates one Telemetry when it is first called. The Telemetry lives as long as b.
func once(b *testing.B, installed func(*testing.B) *telemetry.Telemetry,
) func(...telemetry.Option) *telemetry.Telemetry {
	tel := sync.OnceValue(func() *telemetry.Telemetry { return installed(b) })
	return func(...telemetry.Option) *telemetry.Telemetry { return tel() }
}

var w3c = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// sdk returns a Telemetry with the SDK as a program has it: batches of spans, metrics, W3C propagation, logs at Info.
// It exports nothing.
func sdk(b *testing.B, s sdktrace.Sampler) *telemetry.Telemetry {
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	b.Cleanup(func() { _ = meters.Shutdown(context.Background()) })
	return telemetry.New(
		telemetry.WithTracerProvider(tracers(b, s)), telemetry.WithMeterProvider(meters), telemetry.WithPropagators(w3c),
		telemetry.WithLogger(slog.New(infoOnly{slog.DiscardHandler})),
	)
}

// spans returns a Telemetry with sampled spans and their propagation, and neither metrics nor logs: adapters for other
// libraries do no more than this.
func spans(b *testing.B) *telemetry.Telemetry {
	return telemetry.New(
		telemetry.WithTracerProvider(tracers(b, sdktrace.AlwaysSample())),
		telemetry.WithMeterProvider(noop.NewMeterProvider()),
		telemetry.WithPropagators(w3c),
	)
}

func tracers(b *testing.B, s sdktrace.Sampler) *sdktrace.TracerProvider {
	p := sdktrace.NewTracerProvider(sdktrace.WithSampler(s), sdktrace.WithBatcher(nowhere{}))
	b.Cleanup(func() { _ = p.Shutdown(context.Background()) })
	return p
}

// exported returns a Telemetry whose spans, metrics and records all go out over OTLP, to a receiver in this process,
// whose work is measured too. The SDK drops spans if there are more than it can send.
func exported(b *testing.B) *telemetry.Telemetry {
	sink, err := otlpsink.Listen("")
	if err != nil {
		b.Fatal(err)
	}
	p, err := otlp.Setup(b.Context(), otlp.WithEndpoint(sink.Endpoint()), otlp.WithGlobals(false),
		otlp.WithConsole(nil, nil))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = p.Shutdown(context.Background())
		_ = sink.Close(context.Background())
	})
	return p.Telemetry()
}

// nowhere is a span exporter that drops all spans.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }

// infoOnly is a handler that accepts records of level Info and above.
type infoOnly struct{ slog.Handler }

func (infoOnly) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

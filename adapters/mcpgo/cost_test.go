//go:build !race

package mcpgo_test

// The race detector changes the number of allocations.

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/mcpotel/mcpotel/adapters/mcpgo"
	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// observers are ways to observe a call, from no telemetry to all of it.
func observers() map[string]*telemetry.Telemetry {
	to := func(tp trace.TracerProvider, mp metric.MeterProvider) *telemetry.Telemetry {
		return telemetry.New(telemetry.WithTracerProvider(tp), telemetry.WithMeterProvider(mp),
			telemetry.WithPropagators(propagation.TraceContext{}))
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	return map[string]*telemetry.Telemetry{
		"absent":    nil,
		"no SDK":    to(tracenoop.NewTracerProvider(), metricnoop.NewMeterProvider()),
		"unsampled": to(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())), meters),
		"sampled":   to(sdktrace.NewTracerProvider(), meters),
	}
}

// once returns a function that makes one call; client and server are both observed.
func once(t testing.TB, tel *telemetry.Telemetry) func() {
	s := theirs()
	if tel != nil {
		mcpgo.InstrumentServer(s, tel, fleet.ServerName)
	}
	tr := pipe(t, s).tr
	if tel != nil {
		tr = mcpgo.WrapTransport(tr, tel, fleet.ClientName)
	}
	call := calling(connect(t, tr, modern))
	return func() {
		if _, _, err := call(context.Background(), "echo", map[string]any{"text": "x"}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCallAllocationsAreLimited checks the figures in README.md: the number of allocations that the adapters add at
// both ends to mcp-go's own 440 or so per call.
func TestCallAllocationsAreLimited(t *testing.T) {
	all := observers()
	base := testing.AllocsPerRun(300, once(t, all["absent"]))
	for name, budget := range map[string]float64{"no SDK": 24, "unsampled": 48, "sampled": 58} {
		if got := testing.AllocsPerRun(300, once(t, all[name])) - base; got > budget {
			t.Errorf("%s: want at most %v allocations more than mcp-go's %v, got %v", name, budget, base, got)
		} else {
			t.Logf("%s: %v allocations more than %v", name, got, base)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	all := observers()
	for _, name := range []string{"absent", "no SDK", "unsampled", "sampled"} {
		b.Run(name, func(b *testing.B) {
			call := once(b, all[name])
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}

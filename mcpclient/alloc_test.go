//go:build unix

package mcpclient_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// installations are the programs a client may find itself in.
var installations = []struct {
	name string
	new  func(testing.TB) *telemetry.Telemetry
}{
	{"observer=absent", func(testing.TB) *telemetry.Telemetry { return telemetry.Off() }},
	{"observer=nosdk", func(testing.TB) *telemetry.Telemetry { return telemetry.New() }},
	{"observer=sampling", sampling},
}

// sampling returns a Telemetry with the SDK as a program has it: batches of spans, metrics, W3C propagation, logs at Info.
func sampling(t testing.TB) *telemetry.Telemetry {
	tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(nowhere{}))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	t.Cleanup(func() {
		_ = tracers.Shutdown(context.Background())
		_ = meters.Shutdown(context.Background())
	})
	return telemetry.New(
		telemetry.WithTracerProvider(tracers), telemetry.WithMeterProvider(meters),
		telemetry.WithPropagators(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})),
		telemetry.WithLogger(slog.New(infoOnly{slog.DiscardHandler})),
	)
}

// nowhere is a span exporter.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }

// infoOnly is a handler that wants records of level Info and above.
type infoOnly struct{ slog.Handler }

func (infoOnly) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// addition is what a tiny tool takes.
type addition struct {
	A int `json:"a"`
	B int `json:"b"`
}

// adder returns a call of a tiny tool. The server is another process, so that all that is allocated is the client's.
func adder(t testing.TB, tel *telemetry.Telemetry, arguments any) func() {
	c := connect(t, roleServer, &mcpclient.Options{Telemetry: tel})
	ctx := t.Context()
	return func() {
		r, err := c.CallTool(ctx, "add", arguments)
		if err != nil || len(r.Content) != 1 {
			t.Fatalf("want one text, got %v, %v", r, err)
		}
	}
}

// cost returns how many objects and bytes a call allocates, in whatever goroutine, on average over many.
func cost(call func()) (allocs, bytes float64) {
	const warm, calls = 200, 3000
	for range warm {
		call()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		call()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / calls, float64(after.TotalAlloc-before.TotalAlloc) / calls
}

// The target of PERFORMANCE.md for a tiny tools/call over stdio, with the arguments in a struct, without an SDK.
func TestATinyCallStaysWithinItsAllocationBudget(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const most, mostBytes = 12, 1 << 10
	for _, in := range installations {
		allocs, bytes := cost(adder(t, in.new(t), &addition{1, 2}))
		t.Logf("%s: %.2f allocations, %.0f bytes", in.name, allocs, bytes)
		if in.name != "observer=sampling" && (allocs > most+0.5 || bytes > mostBytes) {
			t.Errorf("%s: want at most %d allocations and %d bytes, got %.2f and %.0f", in.name, most, mostBytes, allocs, bytes)
		}
	}
}

// What telemetry may cost a call, by TELEMETRY.md, section 3.
func TestTelemetryStaysWithinItsAllocationBudget(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	absent, _ := cost(adder(t, telemetry.Off(), nil))
	for name, most := range map[string]float64{"observer=nosdk": 5, "observer=sampling": 13} {
		for _, in := range installations {
			if in.name != name {
				continue
			}
			allocs, _ := cost(adder(t, in.new(t), nil))
			if more := allocs - absent; more > most+0.5 {
				t.Errorf("%s: want at most %v allocations more than without, got %.2f", name, most, more)
			}
		}
	}
}

func BenchmarkTinyCallOverStdio(b *testing.B) {
	for _, arguments := range []struct {
		name string
		v    any
	}{{"arguments=struct", &addition{1, 2}}, {"arguments=raw", json.RawMessage(`{"a":1,"b":2}`)}} {
		for _, in := range installations {
			b.Run(arguments.name+"/"+in.name, func(b *testing.B) {
				call := adder(b, in.new(b), arguments.v)
				call()
				b.ReportAllocs()
				for b.Loop() {
					call()
				}
			})
		}
	}
}

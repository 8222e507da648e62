//go:build !race

package instrument_test // the race detector allocates

import (
	"context"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// labelling returns what labels cost an operation that is labelled once.
func labelling(tel *telemetry.Telemetry) (run, end func()) {
	s := instrument.NewServer(tel, "bench", pipe)
	ctx, op := s.StartHandler(context.Background(), toolRequest())
	f := func(context.Context) {}
	return func() { op.Labelled(ctx, f) }, func() {
		op.End(instrument.Result{})
		s.Close()
	}
}

func TestLabelsCostNothingUnlessTheyAreWanted(t *testing.T) {
	for _, tt := range labelCosts {
		run, end := labelling(tt.new(t))
		if got := testing.AllocsPerRun(500, run); got != tt.allocs {
			t.Errorf("%s: labels take %v allocations, want %v; if it is less, lower it here", tt.name, got, tt.allocs)
		}
		end()
	}
}

func BenchmarkLabels(b *testing.B) {
	for _, tt := range labelCosts {
		b.Run(tt.name, func(b *testing.B) {
			run, end := labelling(tt.new(b))
			defer end()
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}

// labelCosts are how many allocations labels take.
var labelCosts = []struct {
	name   string
	allocs float64
	new    func(testing.TB) *telemetry.Telemetry
}{
	{"absent", 0, func(testing.TB) *telemetry.Telemetry { return telemetry.Off() }},
	{"off", 0, func(t testing.TB) *telemetry.Telemetry { return withSDK(t, sdktrace.AlwaysSample()) }},
	{"unsampled", 3, func(testing.TB) *telemetry.Telemetry { return telemetry.New(telemetry.WithProfileLabels()) }},
	{"sampled", 4, func(t testing.TB) *telemetry.Telemetry {
		return withSDK(t, sdktrace.AlwaysSample(), telemetry.WithProfileLabels())
	}},
}

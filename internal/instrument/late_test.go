package instrument

import (
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/mcpotel/mcpotel/internal/instrument/settings"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// This test needs the initial state of package otel, before any provider is set.
func TestFewSpansStartUntilOneRecords(t *testing.T) {
	var l late
	tracers, propagator := otel.GetTracerProvider(), otel.GetTextMapPropagator()
	if !isPlaceholder(tracers) || !isPlaceholder(propagator) {
		t.Fatalf("the placeholders %T and %T of package otel are not recognized", tracers, propagator)
	}
	l.init(&settings.Settings[telemetry.Redactor]{Tracers: tracers, Propagator: propagator})
	started := 0
	for range 4 * probeEvery {
		if l.starts() {
			started++
			l.started(false)
		}
	}
	if started != 4 || l.propagates() {
		t.Errorf("without a provider: %d of %d spans are started and propagated is %v, want 4 and false", started,
			4*probeEvery, l.propagates())
	}
	l.started(true) // automatic instrumentation makes spans record without a provider
	for range 2 {
		if !l.starts() {
			t.Error("a span was not started after another span has recorded")
		}
	}
}

func TestExplicitTracerProviderAlwaysStartsSpans(t *testing.T) {
	var l late
	l.init(&settings.Settings[telemetry.Redactor]{Tracers: noop.NewTracerProvider(),
		Propagator: propagation.NewCompositeTextMapPropagator()})
	for range 2 {
		if !l.starts() || !l.propagates() {
			t.Error("an explicit provider was not asked to start a span")
		}
	}
}

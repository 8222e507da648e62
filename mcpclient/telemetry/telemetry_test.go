package telemetry

import (
	"testing"

	"go.opentelemetry.io/otel/propagation"

	"github.com/mcpotel/mcpotel/internal/instrument/settings"
)

func TestNewWithoutOptionsReturnsSharedTelemetry(t *testing.T) {
	if first, second := New(), New(); first != second {
		t.Error("want the same Telemetry for the same globals")
	}
	if New(WithLogger(nil)) == New() {
		t.Error("with options: want a separate Telemetry")
	}
	common := New().source().Settings()
	globals := func(p propagation.TextMapPropagator) config {
		return config{settings.Settings[Redactor]{Tracers: common.Tracers, Meters: common.Meters, Propagator: p,
			Records: common.Records}}
	}
	one := globals(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}))
	for _, test := range []struct {
		p    propagation.TextMapPropagator
		want bool
	}{
		{one.Propagator, true},
		{propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}), false},
		{propagation.TraceContext{}, false},
	} {
		other := globals(test.p)
		if got := one.sameGlobals(&other.Settings); got != test.want {
			t.Errorf("propagator %v and %v: want the same: %t", one.Propagator, test.p, test.want)
		}
	}
}

package mcpclient_test

import (
	"testing"

	"go.opentelemetry.io/otel/propagation"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// checked returns o, or the defaults. If o has no telemetry, checked adds one that checks everything against the schema
// when the test ends, so every test of this package also tests the schema. This telemetry adds no trace context to
// messages. Benchmarks get no telemetry. The client has a TelemetryGroup, so these tests test all telemetry with a
// group; other packages test it without one.
func checked(t testing.TB, o *mcpclient.Options) *mcpclient.Options {
	t.Helper()
	var c mcpclient.Options
	if o != nil {
		c = *o
	}
	if c.TelemetryGroup == "" {
		c.TelemetryGroup = "tests"
	}
	if _, ok := t.(*testing.T); ok && c.Telemetry == nil {
		c.Telemetry = telemetrytest.Recorder(t,
			telemetry.WithPropagators(propagation.NewCompositeTextMapPropagator()),
			telemetry.WithExecuteToolDuration(), telemetry.WithContextCost()).Telemetry()
	}
	return &c
}

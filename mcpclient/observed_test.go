package mcpclient_test

import (
	"testing"

	"go.opentelemetry.io/otel/propagation"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// checked returns o, or the defaults. Unless o has a telemetry, it adds one that is checked against the schema when the
// test ends, so every test of this package also tests the schema. It adds nothing to messages. Benchmarks get none. The
// client has a TelemetryGroup, so all telemetry is tested with one; other packages test it without.
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

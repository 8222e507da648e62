package mcpclient_test

import (
	"testing"

	"go.opentelemetry.io/otel/propagation"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// checked returns o, or the defaults, with a telemetry that is held against the schema when the test ends, unless it
// has one: so every test of this package is one of the schema too. It writes nothing into messages. Benchmarks have
// none. The client is in a group, and so all that it emits is seen with one; other packages have clients without.
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

package mcpserver_test

import (
	"log/slog"
	"testing"

	"go.opentelemetry.io/otel/propagation"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// checked returns telemetry that is validated against the schema when the test ends. So every test of this package
// also tests the schema. The telemetry adds nothing to messages. Benchmarks get no telemetry.
func checked(t testing.TB) *telemetry.Telemetry {
	t.Helper()
	if _, ok := t.(*testing.T); !ok {
		return telemetry.Off()
	}
	return telemetrytest.Recorder(t, telemetry.WithPropagators(propagation.NewCompositeTextMapPropagator())).Telemetry()
}

// quiet is a logger that discards its records.
var quiet = slog.New(slog.DiscardHandler)

package instrument

import (
	"log/slog"
	"os"
	"os/exec"
	"testing"

	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// TestTelemetriesBeforeAndAfterSDKShareBudget runs in its own process, because a provider cannot be removed.
func TestTelemetriesBeforeAndAfterSDKShareBudget(t *testing.T) {
	const own = "TELEMETRY_TEST_SETS_METERS"
	if os.Getenv(own) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), own+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("the test in its own process: %v\n%s", err, out)
		}
		return
	}
	log := telemetry.WithLogger(slog.New(slog.DiscardHandler)) // so telemetry.New creates a separate Telemetry each time
	before := hubOf(telemetry.New(log))
	first := sdkmetric.NewMeterProvider()
	otel.SetMeterProvider(first)
	for name, tel := range map[string]*telemetry.Telemetry{
		"from after the provider was set": telemetry.New(log),
		"with the provider as an option":  telemetry.New(log, telemetry.WithMeterProvider(first)),
	} {
		if hubOf(tel).ins != before.ins {
			t.Errorf("a Telemetry %s has a separate budget", name)
		}
	}
	other := sdkmetric.NewMeterProvider()
	otel.SetMeterProvider(other)
	if hubOf(telemetry.New(log)).ins == before.ins {
		t.Error("a Telemetry of another provider has the budget of the first")
	}
}

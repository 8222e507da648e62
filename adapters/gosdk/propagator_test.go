package gosdk_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/internal/testsupport/propagators"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestCallIsOneTraceWithAnyPropagator(t *testing.T) {
	for name, p := range propagators.Whole() {
		t.Run(name, func(t *testing.T) {
			eras(t, func(t *testing.T, version string) {
				r := telemetrytest.Recorder(t, telemetry.WithPropagators(p))
				fleet.Test(t, &fleet.Pair{
					Call: both(t, r.Telemetry(), version), Spans: &fleet.Spans{Recorded: []*telemetrytest.Recording{r}},
					Version: version, OneSpan: true,
				})
			})
		})
	}
}

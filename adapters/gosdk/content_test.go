package gosdk_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestSpansHaveContentIfRedactorAllows(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		r := telemetrytest.Recorder(t,
			telemetry.WithContentCapture(func(_ context.Context, c telemetry.Content) (string, bool) {
				return string(c.Data), true
			}))
		call := both(t, r.Telemetry(), version)
		if _, _, err := call(t.Context(), "echo", map[string]any{"text": "a secret"}); err != nil {
			t.Fatal(err)
		}
		spans := fleet.Spans{Recorded: []*telemetrytest.Recording{r}}
		for _, kind := range []string{"CLIENT", "SERVER"} {
			fleet.Until(t, kind+" span with contents", func() bool {
				found := fleet.Named(spans.All(), kind, "tools/call echo")
				return len(found) == 1 && strings.Contains(found[0].Attributes["gen_ai.tool.call.arguments"], "a secret") &&
					strings.Contains(found[0].Attributes["gen_ai.tool.call.result"], "a secret")
			}, func() string { return spans.All()[0].String() })
		}
	})
}

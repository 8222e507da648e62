package gosdk_test

import (
	"context"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/audited"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestCallHasOneAuditRecordOnEachSide(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		audited.BothSides(t, func(tel *telemetry.Telemetry) func(context.Context, map[string]any) error {
			call := both(t, tel, version)
			return func(ctx context.Context, arguments map[string]any) error {
				_, _, err := call(ctx, "echo", arguments)
				return err
			}
		})
	})
}

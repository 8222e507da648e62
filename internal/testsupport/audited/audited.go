// Package audited tests the audit records of the adapters for other SDKs.
package audited

import (
	"context"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/audit"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// BothSides checks that a call has one record on each side, with the same hash of the arguments. connect returns a
// function that calls the tool echo through an instrumented client and server.
func BothSides(t *testing.T, connect func(*telemetry.Telemetry) (call func(context.Context, map[string]any) error)) {
	t.Helper()
	log, err := audit.Open("", []byte("a key for the tests, of 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	r := telemetrytest.Recorder(t, telemetry.WithAudit(log))
	if err := connect(r.Telemetry())(t.Context(), map[string]any{"text": "a secret"}); err != nil {
		t.Fatal(err)
	}
	fleet.Until(t, "a record on each side", func() bool {
		return len(r.Logs(names.EventMCPClientAuditCall)) == 1 && len(r.Logs(names.EventMCPServerAuditCall)) == 1
	}, func() string { return "" })
	sent, handled := r.Log(names.EventMCPClientAuditCall), r.Log(names.EventMCPServerAuditCall)
	for _, outcome := range []string{sent.Text(names.KeyMCPClientAuditOutcome),
		handled.Text(names.KeyMCPServerAuditOutcome)} {
		if outcome != names.AuditRan {
			t.Errorf("the outcome is %s, want %s", outcome, names.AuditRan)
		}
	}
	hash := sent.Text(names.KeyMCPClientAuditArgumentsHash)
	if other := handled.Text(names.KeyMCPServerAuditArgumentsHash); hash != other || len(hash) != 64 {
		t.Errorf("the hashes of the arguments are %q and %q, want the same", hash, other)
	}
}

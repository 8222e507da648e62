package instrument_test

import (
	"fmt"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// TestEveryToolChangeIsCounted changes more tools at once than the limiter allows records.
func TestEveryToolChangeIsCounted(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", network)
	const changes = 100
	for i := range changes {
		c.ToolChanged(fmt.Sprint("tool", i), names.ChangeAdded, "", nil)
	}
	c.Close()
	records := rec.Logs(names.EventMCPClientToolChanged)
	if len(records) != 6 {
		t.Fatalf("got %d records, want five and one about the suppressed ones", len(records))
	}
	last := records[len(records)-1]
	if last.Text(names.KeyMCPClientToolChangeKind) != names.ChangeAdded || last.Text(names.KeyGenAIToolName) != "" ||
		last.Attrs[names.KeyMCPClientSuppressed].Int64() != changes-5 {
		t.Errorf("got %v, want %d more added tools", last.Attrs, changes-5)
	}
	if got := rec.Value(names.MetricMCPClientToolChanges); got != changes {
		t.Errorf("got a count of %d, want %d", got, changes)
	}
}

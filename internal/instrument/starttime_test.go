package instrument_test

import (
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// TestStartTimeMetricRemainsAfterLastClientCloses checks the metric by which queries recognize a new counter.
func TestStartTimeMetricRemainsAfterLastClientCloses(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	tel := rec.Telemetry()
	value := func(name string) []telemetrytest.Point { return rec.Points(name) }
	if got := value(names.MetricMCPClientStartTime); len(got) > 0 {
		t.Errorf("before the first client: got %v, want nothing", got)
	}
	c := instrument.NewClient(tel, "files", pipe)
	first := value(names.MetricMCPClientStartTime)
	if len(first) != 1 || first[0].Value <= 0 || time.Unix(first[0].Value, 0).After(time.Now().Add(time.Second)) {
		t.Errorf("with a client: got %v, want the start of the process in seconds", first)
	}
	c.Close()
	if got := value(names.MetricMCPClientStartTime); len(got) != 1 || got[0].Value != first[0].Value {
		t.Errorf("after the last client: got %v, want %v", got, first)
	}
	if got := value(names.MetricMCPServerStartTime); len(got) > 0 {
		t.Errorf("without a server: got %v, want nothing", got)
	}
}

package fleet_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/benchmarks/fleet"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// TestClientReconnectsAreSpreadOverTime stops the server for 10 s, and checks the attempts to connect.
func TestClientReconnectsAreSpreadOverTime(t *testing.T) {
	const clients, step, outage = 300, 100 * time.Millisecond, 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		f, err := fleet.Connect(t.Context(), clients, telemetry.Off())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f.Leave()
		lost := time.Now()
		time.Sleep(outage)
		f.Return()
		if err := f.Await(t.Context()); err != nil {
			t.Error(err)
		}
		counts := f.Attempts(lost, step)
		// The first attempts are spread over one second, the last attempts over eight seconds or more.
		if most := slices.Max(counts); most > clients/5 {
			t.Errorf("attempts within %v: got %d of %d clients, want a fifth at most; all: %v", step, most, clients, counts)
		}
		if late := counts[outage/step:]; slices.Max(late) > clients/10 {
			t.Errorf("attempts within %v of a server that is back: got %d of %d clients, want a tenth at most; all: %v", step,
				slices.Max(late), clients, late)
		}
		if err := f.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestFleetStaysWithinTheMetricsBudget uses more clients than the limit of client names in metrics.
func TestFleetStaysWithinTheMetricsBudget(t *testing.T) {
	const clients, state = 600, "mcp_client.connection.state"
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		f, err := fleet.Connect(t.Context(), clients, rec.Telemetry())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // until the telemetry has been updated
		if ready := rec.Value(state, state, "ready"); ready != clients {
			t.Errorf("clients that are ready: got %d, want %d", ready, clients)
		}
		for _, m := range rec.Metrics() {
			points := rec.Points(m.Name)
			if overflow := rec.Points(m.Name, "otel.metric.overflow", "true"); len(points) >= 2000 || len(overflow) > 0 {
				t.Errorf("%s: got %d sets, %d of what overflows, want fewer than 2000 and none", m.Name, len(points),
					len(overflow))
			}
		}
		if got := rec.Points(state, "mcp_client.name", "_OTHER", "mcp_client.group", "tenant-3"); len(got) == 0 {
			t.Error("the clients beyond the budget are counted by group, got none of tenant-3")
		}
		if err := f.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if n := len(mcpclient.Clients()); n > 0 {
			t.Errorf("clients that run: got %d, want none", n)
		}
	})
}

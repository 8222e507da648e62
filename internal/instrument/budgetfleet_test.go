//go:build !race

package instrument_test // one goroutine, which would run for minutes with the race detector

import (
	"fmt"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestTenThousandClientsShareOneBudget(t *testing.T) {
	const clients, tools, groups = 10_000, 5, 10
	rec := metricsOnly(t)
	all := fleet(t, rec.Telemetry(), clients, func(i int) string { return fmt.Sprint("tenant-", i%groups) })
	for _, c := range all {
		for tool := range tools {
			callTool(t, c, fmt.Sprint("tool-", tool), instrument.Result{})
		}
	}
	checkSets(t, rec.Metrics())
	if got := rec.Count(toolCalls); got != clients*tools {
		t.Errorf("calls: got %d, want all %d", got, clients*tools)
	}
	if got := values(rec, toolCalls, names.KeyMCPClientGroup); len(got) != groups {
		t.Errorf("groups: got %v, want %d", got, groups)
	}
	if got := rec.Value(names.MetricMCPClientConnectionTransitions); got != 2*clients {
		t.Errorf("transitions: got %d, want %d", got, 2*clients)
	}
	leadsToTheClientThatIsDown(t, rec, all)
}

// leadsToTheClientThatIsDown disconnects and reconnects the last client. The metric of an alert must name this client.
func leadsToTheClientThatIsDown(t *testing.T, rec *telemetrytest.Recording, all []*instrument.Client) {
	const state, key = names.MetricMCPClientConnectionState, names.KeyMCPClientConnectionState
	last, name := all[len(all)-1], fmt.Sprintf("server-%05d", len(all)-1)
	value := func(s connstate.State, more ...string) int64 {
		return rec.Value(state, append(more, key, s.String())...)
	}
	if got := value(connstate.Ready); got != int64(len(all)) {
		t.Errorf("ready clients: got %d, want %d", got, len(all))
	}
	last.Transition(move(connstate.Ready, connstate.Backoff, connstate.ReasonTransportDown))
	if got := value(connstate.Backoff, names.KeyMCPClientName, name); got != 1 {
		t.Errorf("the disconnected client: got %d under its name, want 1", got)
	}
	if got := value(connstate.Ready); got != int64(len(all)-1) {
		t.Errorf("the other clients: got %d, want %d", got, len(all)-1)
	}
	last.Transition(move(connstate.Backoff, connstate.Starting, connstate.ReasonDelayElapsed))
	last.Transition(move(connstate.Starting, connstate.Initializing, connstate.ReasonTransportUp))
	last.Transition(move(connstate.Initializing, connstate.Ready, connstate.ReasonNegotiated))
	points := rec.Points(state, names.KeyMCPClientName, name, key, connstate.Backoff.String())
	if len(points) != 1 || points[0].Value != 0 {
		t.Errorf("the reconnected client: got %v, want 0, which ends an alert", points)
	}
	for _, c := range all {
		c.Transition(move(connstate.Ready, connstate.Backoff, connstate.ReasonTransportDown))
	}
	if got := value(connstate.Backoff); got != int64(len(all)) {
		t.Errorf("all clients disconnected: got %d, want %d", got, len(all))
	}
	checkSets(t, rec.Metrics())
}

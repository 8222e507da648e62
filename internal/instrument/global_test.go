package instrument_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// installing is the environment variable that marks the process that installs global providers. Global providers cannot
// be removed, and other tests need a process without them.
const installing = "TELEMETRY_TEST_INSTALLS_THE_SDK"

// inOwnProcess reports whether this process runs only the current test. If not, it runs the test in a new process.
func inOwnProcess(t *testing.T) bool {
	if os.Getenv(installing) != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), installing+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the test in its own process: %v\n%s", err, out)
	}
	return false
}

func TestSDKRecordsFromItsInstallationOn(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	c := instrument.NewClient(telemetry.New(), "files", pipe)
	before := c.Peer(stdio, "")
	_, early := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	early.Admit(before, 1)
	c.Tombstones(3)

	spans, reader := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	otel.SetTextMapPropagator(propagation.TraceContext{})
	var events eventLog
	otel.SetLoggerProvider(&events)

	early.End(instrument.Result{})
	_, late := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
	c.Transition(instrument.Transition{})
	late.Admit(before, 2)
	traceparent := late.TraceContext().Traceparent
	c.Tombstones(-3)
	c.Tombstones(1)

	if sums, _ := collect(t, reader); sums["mcp_client.active_requests"] != 1 {
		t.Errorf("active requests: got %d, want 1 that started after the SDK", sums["mcp_client.active_requests"])
	}
	late.End(instrument.Result{})
	sums, counts := collect(t, reader)
	if sums["mcp_client.active_requests"] != 0 || counts["mcp.client.operation.duration"] != 1 {
		t.Errorf("after the end: got %d active requests and %d samples, want 0 and 1",
			sums["mcp_client.active_requests"], counts["mcp.client.operation.duration"])
	}
	if n := sums["mcp_client.tombstone.kept"]; n != 1 {
		t.Errorf("tombstones: got %d, want only counted ones subtracted, which leaves 1", n)
	}
	if n := sums["mcp_client.connection.state"]; n != 1 {
		t.Errorf("the gauge of the earlier client: got %d, want 1", n)
	}
	if ended := spans.Ended(); len(ended) != 1 || ended[0].Name() != "tools/list" || traceparent == "" {
		t.Errorf("the later request: got %d spans, and traceparent %q", len(ended), traceparent)
	}
	c.Close()
	if got := events.names(); !slices.Equal(got, []string{names.EventMCPClientConnectionTransition}) {
		t.Errorf("records of the later LoggerProvider: got %q, want the transition", got)
	}
}

// collect returns the sums and the counts of histograms by name.
func collect(t *testing.T, r *sdkmetric.ManualReader) (sums map[string]int64, counts map[string]uint64) {
	t.Helper()
	var rm metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &rm); err != nil {
		t.Fatal(err)
	}
	sums, counts = map[string]int64{}, map[string]uint64{}
	for _, m := range rm.ScopeMetrics[0].Metrics {
		switch d := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range d.DataPoints {
				sums[m.Name] += p.Value
			}
		case metricdata.Histogram[float64]:
			for _, p := range d.DataPoints {
				counts[m.Name] += p.Count
			}
		}
	}
	return sums, counts
}

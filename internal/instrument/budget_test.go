package instrument_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace/noop"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// setLimit is the SDK's limit of attribute sets for an instrument, including the set for overflow.
const setLimit = 2000

// reserved lists the metrics that alerts need. Each attribute set of these metrics names at least the group of the
// client.
var reserved = []string{
	names.MetricMCPClientConnectionState, names.MetricMCPClientConnectionTransitions,
	names.MetricMCPClientProtocolViolations,
}

// checkSets fails the test if an instrument exceeds the limit of the SDK, or if a reserved metric has sets without a
// client or group.
func checkSets(t interface{ Errorf(string, ...any) }, metrics []metricdata.Metrics) {
	for _, m := range metrics {
		sets := setsOf(m.Data)
		if len(sets) >= setLimit {
			t.Errorf("%s: got %d sets, want fewer than %d", m.Name, len(sets), setLimit)
		}
		for _, set := range sets {
			if set.HasValue("otel.metric.overflow") {
				t.Errorf("%s: got the overflow set, want none", m.Name)
			}
			client, _ := set.Value(names.KeyMCPClientName)
			if slices.Contains(reserved, m.Name) && client.AsString() == names.Other && !set.HasValue(names.KeyMCPClientGroup) {
				t.Errorf("%s: got %v, want the name of a client or of a group", m.Name, set.ToSlice())
			}
		}
	}
}

func setsOf(data metricdata.Aggregation) (all []attribute.Set) {
	switch d := data.(type) {
	case metricdata.Sum[int64]:
		for i := range d.DataPoints {
			all = append(all, d.DataPoints[i].Attributes)
		}
	case metricdata.Gauge[int64]:
		for i := range d.DataPoints {
			all = append(all, d.DataPoints[i].Attributes)
		}
	case metricdata.Gauge[float64]:
		for i := range d.DataPoints {
			all = append(all, d.DataPoints[i].Attributes)
		}
	case metricdata.Histogram[int64]:
		for i := range d.DataPoints {
			all = append(all, d.DataPoints[i].Attributes)
		}
	case metricdata.Histogram[float64]:
		for i := range d.DataPoints {
			all = append(all, d.DataPoints[i].Attributes)
		}
	}
	return all
}

// metricsOnly records neither spans nor log records.
func metricsOnly(t testing.TB) *telemetrytest.Recording {
	return telemetrytest.Recorder(t, telemetry.WithTracerProvider(noop.NewTracerProvider()),
		telemetry.WithLogger(slog.New(slog.DiscardHandler)))
}

// callTool makes a client call a tool.
func callTool(t testing.TB, c *instrument.Client, tool string, r instrument.Result) {
	_, op := c.StartRequest(t.Context(),
		instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: tool})
	op.End(r)
}

// fleet returns ready clients with distinct names.
func fleet(t testing.TB, tel *telemetry.Telemetry, n int, group func(i int) string) []*instrument.Client {
	all := make([]*instrument.Client, n)
	for i := range all {
		all[i] = instrument.NewClient(tel, fmt.Sprintf("server-%05d", i), pipe, instrument.WithGroup(group(i)))
		t.Cleanup(all[i].Close)
		all[i].Transition(move(connstate.Starting, connstate.Initializing, connstate.ReasonTransportUp))
		all[i].Transition(move(connstate.Initializing, connstate.Ready, connstate.ReasonNegotiated))
	}
	return all
}

func noGroup(int) string { return "" }

const toolCalls = "mcp.client.operation.duration"

func TestSmallFleetKeepsClientAndToolNames(t *testing.T) {
	const clients, tools = 60, 20
	rec := telemetrytest.Recorder(t)
	for _, c := range fleet(t, rec.Telemetry(), clients, noGroup) {
		for tool := range tools {
			callTool(t, c, fmt.Sprint("tool-", tool), instrument.Result{})
		}
	}
	if got := len(rec.Points(toolCalls)); got != clients*tools {
		t.Errorf("sets: got %d, want %d", got, clients*tools)
	}
	if got := len(rec.Points(toolCalls, names.KeyGenAIToolName, names.Other)); got != 0 {
		t.Errorf("sets without the name of the tool: got %d, want none", got)
	}
	for _, m := range rec.Metrics() {
		for _, p := range rec.Points(m.Name) {
			if p.Attrs.HasValue(names.KeyMCPClientGroup) {
				t.Errorf("%s: got a group, want none because none is configured", m.Name)
			}
		}
	}
	checkSets(t, rec.Metrics())
}

func TestToolNamesAreFoldedToOtherBeforeClientNames(t *testing.T) {
	const clients, tools = 300, 20
	rec := telemetrytest.Recorder(t)
	for _, c := range fleet(t, rec.Telemetry(), clients, noGroup) {
		for tool := range tools {
			callTool(t, c, fmt.Sprint("tool-", tool), instrument.Result{})
		}
	}
	seen := values(rec, toolCalls, names.KeyMCPClientName)
	if len(seen) != clients || seen[names.Other] != 0 {
		t.Errorf("names: got %d, with %d calls of %s, want %d and none", len(seen), seen[names.Other], names.Other, clients)
	}
	if got := values(rec, toolCalls, names.KeyGenAIToolName)[names.Other]; got == 0 {
		t.Error("calls without the name of the tool: got none, want all beyond the limit")
	}
	checkSets(t, rec.Metrics())
}

func TestTelemetriesOfOneMeterShareBudget(t *testing.T) {
	const clients = 450
	reader := sdkmetric.NewManualReader()
	meters := []*sdkmetric.MeterProvider{sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
		sdkmetric.NewMeterProvider()} // two providers, as in a program with several
	for i := range clients {
		for _, m := range meters {
			c := instrument.NewClient(telemetry.New(telemetry.WithMeterProvider(m)), fmt.Sprint("server-", i), pipe)
			t.Cleanup(c.Close)
			c.Transition(move(connstate.Starting, connstate.Backoff, connstate.ReasonOpenFailed))
		}
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil || len(all.ScopeMetrics) != 1 {
		t.Fatalf("metrics: got %d scopes and %v, want 1", len(all.ScopeMetrics), err)
	}
	checkSets(t, all.ScopeMetrics[0].Metrics)
}

// TestMetricsNeverOverflow runs several sequences with one Telemetry. The attribute sets of one sequence reduce the
// budget for the next one.
func TestMetricsNeverOverflow(t *testing.T) {
	rec := metricsOnly(t)
	var calls, clients int
	rapid.Check(t, func(rt *rapid.T) {
		outcomes := rapid.SliceOfN(rapid.Custom(anyOutcome), 1, 3).Draw(rt, "outcomes")
		group := rapid.StringMatching(`([a-z][0-9])?`).Draw(rt, "group")
		for range rapid.IntRange(1, 4).Draw(rt, "clients") {
			clients++
			c := instrument.NewClient(rec.Telemetry(), fmt.Sprint("server-", clients), pipe, instrument.WithGroup(group))
			s := instrument.NewServer(rec.Telemetry(), fmt.Sprint("served-", clients), pipe)
			for tool := range rapid.IntRange(0, 20).Draw(rt, "tools") {
				callTool(t, c, fmt.Sprint("tool-", tool), outcomes[tool%len(outcomes)])
				calls++
			}
			misbehave(t, c, s, clients)
			if rapid.Bool().Draw(rt, "closed") {
				c.Close()
				s.Close()
			} else {
				t.Cleanup(c.Close)
			}
		}
		checkSets(rt, rec.Metrics())
	})
	if got := rec.Count(toolCalls, names.KeyGenAIOperationName, "execute_tool") +
		rec.Count(toolCalls, names.KeyMCPMethodName, names.Other); got != uint64(calls) {
		t.Errorf("calls: got %d, want all %d", got, calls)
	}
	if got := rec.Value(names.MetricMCPClientProtocolViolations); got != int64(clients*times) {
		t.Errorf("violations: got %d, want all %d", got, clients*times)
	}
}

func anyOutcome(t *rapid.T) instrument.Result {
	return rapid.SampledFrom([]instrument.Result{
		{}, {ToolError: true}, {ErrorType: names.ErrorTimeout}, {ErrorType: "503"}, {Code: -32603, HasCode: true},
		{Code: rapid.Int64Range(1, 1000).Draw(t, "code"), HasCode: true},
		{ErrorType: "strange-" + fmt.Sprint(rapid.IntRange(0, 1000).Draw(t, "word"))},
	}).Draw(t, "outcome")
}

// times is how often misbehave repeats each measurement.
const times = 5

// misbehave records a measurement in every metric that has attributes besides the name. A different i results in
// different attributes.
func misbehave(t *testing.T, c *instrument.Client, s *instrument.Server, i int) {
	states, reasons := connstate.States(), connstate.Reasons()
	violations := []string{"too_deep", "batch", "null_id", "no_answer", "invalid_json", "invalid_id", "mixed_members"}
	for n := range times {
		at := i*times + n
		c.Transition(move(states[at%5], states[at/5%5], reasons[at/25%len(reasons)]))
		method := fmt.Sprint("acme/", at%97)
		c.NotificationDropped(method, names.DropQueueFull)
		c.Notification(telemetry.DirectionReceived, method)
		c.HandlerPanic(t.Context(), method, "oops", nil)
		c.CacheLookup(method, at%2 == 0)
		c.Violation(instrument.Violation{Reason: violations[at%len(violations)], Direction: telemetry.DirectionReceived})
		c.StreamOpened(names.StreamGet)(errors.New(strings.Repeat("x", at%3)))
		_, a := c.StartAttempt(t.Context(), instrument.AttemptStart{Reconnect: at%2 == 0})
		a.End(statusError(300 + at%200))
		_, op := s.StartHandler(t.Context(), instrument.Incoming{Method: method, Known: true, Size: 10})
		op.End(instrument.Result{Code: int64(at), HasCode: true})
		_, task := s.StartTask(t.Context(), fmt.Sprint("tool-", at))
		task.End("completed", instrument.Result{})
	}
	c.Backoff(time.Second, 1)
	c.QueueWait(time.Millisecond)
	c.Tombstones(1)
	c.Peer(instrument.Facts{Network: pipe, MCPVersion: fmt.Sprint("v", i)}, "").SessionEnd(time.Second, "")
	s.Connected(instrument.Connection{Queued: func() int { return 1 }, InSession: func() bool { return true }})
}

// statusError is an error with an HTTP status as its type.
type statusError int

func (e statusError) Error() string     { return "no" }
func (e statusError) ErrorType() string { return fmt.Sprint(int(e)) }

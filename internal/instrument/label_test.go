package instrument_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// agentLabel is the key of the label in these tests.
const agentLabel = names.KeyGenAIAgentName

// member returns ctx with a member in its baggage. If value is empty, it returns ctx itself.
func member(ctx context.Context, key, value string) context.Context {
	if value == "" {
		return ctx
	}
	m, err := baggage.NewMemberRaw(key, value)
	if err != nil {
		panic(err)
	}
	b, err := baggage.New(m)
	if err != nil {
		panic(err)
	}
	return baggage.ContextWithBaggage(ctx, b)
}

// callFor makes a client call a tool of a server on behalf of an agent.
func callFor(ctx context.Context, c *instrument.Client, s *instrument.Server, tool, agent string) {
	_, op := c.StartRequest(member(ctx, agentLabel, agent),
		instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: tool})
	_, served := s.StartHandler(ctx, instrument.Incoming{Method: "tools/call", TargetKind: instrument.Tool, Target: tool,
		Known: true, TargetKnown: true, TraceContext: op.TraceContext()})
	served.End(instrument.Result{})
	op.End(instrument.Result{})
}

const servedCalls = "mcp.server.operation.duration"

func TestDurationMetricsHaveBaggageLabel(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithBaggageLabel(agentLabel))
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	s := instrument.NewServer(rec.Telemetry(), "files", pipe)
	long := strings.Repeat("a", 129)
	for _, agent := range []string{"planner", "planner", "searcher", "", long} {
		callFor(t.Context(), c, s, "search", agent)
	}
	for _, metric := range []string{toolCalls, servedCalls} {
		got := values(rec, metric, agentLabel)
		if len(got) != 3 || got["planner"] != 2 || got["searcher"] != 1 || got[names.Other] != 1 || rec.Count(metric) != 5 {
			t.Errorf("%s by agent: got %v, want 2 of planner, 1 of searcher and 1 of %s", metric, got, names.Other)
		}
	}
}

func TestDurationLabelNeedsOption(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	callFor(t.Context(), c, instrument.NewServer(rec.Telemetry(), "files", pipe), "search", "planner")
	for _, metric := range []string{toolCalls, servedCalls} {
		for _, p := range rec.Points(metric) {
			if p.Attrs.HasValue(agentLabel) {
				t.Errorf("%s: got %v, want no agent", metric, p.Attrs.ToSlice())
			}
		}
	}
}

// TestAnyBaggageKeyCanBeMetricLabel uses a key outside of the schema, and the key of another attribute of the metric. A
// peer's value must not replace our attribute.
func TestAnyBaggageKeyCanBeMetricLabel(t *testing.T) {
	for key, want := range map[string]string{"tenant": "acme", names.KeyMCPMethodName: "tools/call"} {
		rec := telemetrytest.Recorder(t, telemetry.WithBaggageLabel(key))
		c := instrument.NewClient(rec.Telemetry(), "files", pipe)
		defer c.Close()
		_, op := c.StartRequest(member(t.Context(), key, "acme"), instrument.Request{Method: "tools/call"})
		op.End(instrument.Result{})
		if got := values(rec, toolCalls, key); len(got) != 1 || got[want] != 1 {
			t.Errorf("calls by %s: got %v, want 1 of %s", key, got, want)
		}
	}
}

func TestExcessLabelValuesAreFoldedToOther(t *testing.T) {
	const conversations = 2000 // all conversations after the first 32 share one value
	rec := telemetrytest.Recorder(t, telemetry.WithBaggageLabel(agentLabel))
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	s := instrument.NewServer(rec.Telemetry(), "files", pipe)
	for i := range conversations {
		callFor(t.Context(), c, s, "search", fmt.Sprint("c-", i))
	}
	for _, metric := range []string{toolCalls, servedCalls} {
		got := values(rec, metric, agentLabel)
		if len(got) != 33 || got[names.Other] != conversations-32 || got["c-31"] != 1 {
			t.Errorf("%s: got %d values, %d calls of %s; want 32 and %s, and %d", metric, len(got), got[names.Other],
				names.Other, names.Other, conversations-32)
		}
	}
	checkSets(t, rec.Metrics())
}

// TestLabelIsFoldedToOtherBeforeTool uses more combinations of tools and agents than the limit allows.
func TestLabelIsFoldedToOtherBeforeTool(t *testing.T) {
	const tools, agents = 100, 20
	rec := telemetrytest.Recorder(t, telemetry.WithBaggageLabel(agentLabel))
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	s := instrument.NewServer(rec.Telemetry(), "files", pipe)
	for agent := range agents {
		for tool := range tools {
			callFor(t.Context(), c, s, fmt.Sprint("tool-", tool), fmt.Sprint("agent-", agent))
		}
	}
	if got := values(rec, toolCalls, names.KeyGenAIToolName); len(got) != tools || got["tool-99"] != agents {
		t.Errorf("tools: got %d, want all %d", len(got), tools)
	}
	got := values(rec, toolCalls, agentLabel)
	if got["agent-0"] != tools || got[names.Other] == 0 || got["agent-19"] != 0 {
		t.Errorf("agents: got %v, want the first ones by name and the last ones under %s", got, names.Other)
	}
	checkSets(t, rec.Metrics())
}

// TestLabelDoesNotReduceClientNamesOrCalls uses as many client names as the limit allows, with and without a label. The
// label must not take the place of a client name, and every call is counted for any sequence of agents.
func TestLabelDoesNotReduceClientNamesOrCalls(t *testing.T) {
	const clients = 300
	rec := telemetrytest.Recorder(t, telemetry.WithBaggageLabel(agentLabel))
	all, s := fleet(t, rec.Telemetry(), clients, noGroup), instrument.NewServer(rec.Telemetry(), "files", pipe)
	calls := uint64(0)
	for i, c := range all {
		for tool := range 3 {
			callFor(t.Context(), c, s, fmt.Sprint("tool-", tool), fmt.Sprint("agent-", (i+tool)%40))
			calls++
		}
	}
	if got := values(rec, toolCalls, names.KeyMCPClientName); len(got) != clients || got[names.Other] != 0 {
		t.Errorf("names: got %d, and %d calls of %s, want %d and none", len(got), got[names.Other], names.Other, clients)
	}
	rapid.Check(t, func(rt *rapid.T) {
		agents := rapid.SliceOfN(rapid.StringN(0, 200, 200), 1, 50).Draw(rt, "agents")
		for i, agent := range agents {
			if _, err := baggage.NewMemberRaw(agentLabel, agent); err == nil {
				callFor(t.Context(), all[i%clients], s, fmt.Sprint("tool-", i%7), agent)
				calls++
			}
		}
		checkSets(rt, rec.Metrics())
	})
	for _, metric := range []string{toolCalls, servedCalls} {
		if got := rec.Count(metric); got != calls {
			t.Errorf("%s: got %d calls, want all %d", metric, got, calls)
		}
	}
	for agent := range values(rec, toolCalls, agentLabel) {
		if len(agent) > 128 {
			t.Errorf("a value of %d bytes is on a metric, want at most 128", len(agent))
		}
	}
}

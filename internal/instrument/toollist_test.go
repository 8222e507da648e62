package instrument_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// lists makes a client list this many tools. Each tool has a schema of 100 bytes, and a description that is one byte
// longer than the previous one.
func lists(c *instrument.Client, tools int) {
	l := c.NewToolList()
	for i := range tools {
		l.Add(fmt.Sprintf("tool-%03d", i), instrument.ToolSize{Bytes: i + 1, EstimatedTokens: 1},
			instrument.ToolSize{Bytes: 100, EstimatedTokens: 20})
	}
	c.ToolsListed(l)
}

const (
	listSize         = names.MetricMCPClientToolListSize
	listTokens       = names.MetricMCPClientToolListTokenEstimate
	definitionSize   = names.MetricMCPClientToolDefinitionSize
	definitionTokens = names.MetricMCPClientToolDefinitionTokenEstimate
	resultSize       = names.MetricMCPClientToolResultSize
)

func TestGaugeShowsSizeOfLatestListUntilClose(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	a, b := instrument.NewClient(rec.Telemetry(), "files", pipe), instrument.NewClient(rec.Telemetry(), "files", pipe)
	check := func(when string, points int, size, tokens int64) {
		t.Helper()
		if got := len(rec.Points(listSize)); got != points {
			t.Errorf("%s: got %d points, want %d", when, got, points)
		}
		if got := rec.Value(listSize); got != size {
			t.Errorf("%s: got %d bytes, want %d", when, got, size)
		}
		if got := rec.Value(listTokens); got != tokens {
			t.Errorf("%s: got %d tokens, want %d", when, got, tokens)
		}
		if got := len(rec.Points(definitionSize)); got != 0 {
			t.Errorf("%s: got %d points of single tools, want none by default", when, got)
		}
	}
	check("before a list", 0, 0, 0)
	lists(a, 3)
	check("one list", 1, 306, 63)
	lists(b, 3)
	check("two clients of one name", 1, 306, 63)
	lists(b, 4)
	check("a larger list of one of them", 1, 410, 84)
	b.Close()
	check("without that one", 1, 306, 63)
	lists(a, 1)
	check("a shorter list", 1, 101, 21)
	a.Close()
	check("without clients", 0, 0, 0)
}

func TestSizesOfToolsNeedOption(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithContextCost(), telemetry.WithToolNameLimit(2))
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	lists(c, 4)
	part := func(metric, tool, part string) int64 {
		return rec.Value(metric, names.KeyGenAIToolName, tool, names.KeyMCPClientToolDefinitionPart, part)
	}
	for _, tc := range []struct {
		metric, tool, part string
		want               int64
	}{
		{definitionSize, "tool-001", names.DefinitionDescription, 2},
		{definitionSize, "tool-001", names.DefinitionInputSchema, 100},
		{definitionSize, names.Other, names.DefinitionDescription, 3 + 4},
		{definitionSize, names.Other, names.DefinitionInputSchema, 200},
		{definitionTokens, "tool-000", names.DefinitionDescription, 1},
		{definitionTokens, names.Other, names.DefinitionInputSchema, 40},
	} {
		if got := part(tc.metric, tc.tool, tc.part); got != tc.want {
			t.Errorf("%s of %s, %s: got %d, want %d", tc.metric, tc.tool, tc.part, got, tc.want)
		}
	}
	lists(c, 1)
	if got := len(rec.Points(definitionSize)); got != 2 {
		t.Errorf("points after a tool was removed: got %d, want 2", got)
	}
}

func TestSizesOfResultsNeedOption(t *testing.T) {
	run := func(opts ...telemetry.Option) *telemetrytest.Recording {
		rec := telemetrytest.Recorder(t, opts...)
		c := instrument.NewClient(rec.Telemetry(), "files", pipe)
		defer c.Close()
		for _, r := range []instrument.Result{{}, {ToolError: true}} {
			returns(t, c, "read", 700, r)
		}
		callTool(t, c, "read", instrument.Result{ErrorType: names.ErrorTimeout}) // no result
		return rec
	}
	if _, ok := run().Metric(resultSize); ok {
		t.Errorf("want no %s by default", resultSize)
	}
	if got := run(telemetry.WithContextCost()).Count(resultSize, names.KeyGenAIToolName, "read"); got != 2 {
		t.Errorf("got %d results, want 2", got)
	}
}

// returns makes a client call a tool with a result of this size.
func returns(t testing.TB, c *instrument.Client, tool string, bytes int, r instrument.Result) {
	_, op := c.StartRequest(t.Context(),
		instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: tool})
	op.Result(bytes)
	op.End(r)
}

// TestSizesOfToolsStayWithinLimit uses fleets whose tools, and whose names, exceed the limits of metrics.
func TestSizesOfToolsStayWithinLimit(t *testing.T) {
	for _, fleetOf := range []struct{ clients, tools, named int }{
		{20, 30, 20},
		{40, 60, 40},     // tools are folded
		{600, 3, 600},    // all tools are folded
		{3000, 2, 1_900}, // names are folded, too
	} {
		t.Run(fmt.Sprintf("%d clients of %d tools", fleetOf.clients, fleetOf.tools), func(t *testing.T) {
			rec := telemetrytest.Recorder(t, telemetry.WithContextCost())
			for _, c := range fleet(t, rec.Telemetry(), fleetOf.clients, func(i int) string { return fmt.Sprint(i % 5) }) {
				lists(c, fleetOf.tools)
				returns(t, c, "tool-000", 1<<10, instrument.Result{})
			}
			checkSets(t, rec.Metrics())
			of, schemas := int64(fleetOf.clients*fleetOf.tools), int64(0)
			for _, p := range rec.Points(definitionSize, names.KeyMCPClientToolDefinitionPart, names.DefinitionInputSchema) {
				schemas += p.Value
			}
			if schemas != 100*of {
				t.Errorf("schemas: got %d bytes in total, want %d", schemas, 100*of)
			}
			if got := rec.Value(listTokens); got != 21*of {
				t.Errorf("lists: got %d tokens in total, want %d", got, 21*of)
			}
			if got := rec.Count(resultSize); got != uint64(fleetOf.clients) {
				t.Errorf("results: got %d, want %d", got, fleetOf.clients)
			}
			if got := len(rec.Points(listSize)); got < fleetOf.named {
				t.Errorf("lists: got %d points, want at least %d", got, fleetOf.named)
			}
		})
	}
}

func TestToolListIsBoundedAndRetainsNoFrameMemory(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithContextCost())
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	l := c.NewToolList()
	for i := range 10_000 {
		l.Add(fmt.Sprint(i, strings.Repeat("x", 1<<10)), instrument.ToolSize{Bytes: 1}, instrument.ToolSize{Bytes: 1})
	}
	c.ToolsListed(l)
	points := rec.Points(definitionSize, names.KeyMCPClientToolDefinitionPart, names.DefinitionInputSchema)
	if len(points) != telemetry.DefaultToolNameLimit+1 {
		t.Errorf("got %d tools, want %d and one for all others", len(points), telemetry.DefaultToolNameLimit)
	}
	for _, p := range points {
		if name, _ := p.Attrs.Value(names.KeyGenAIToolName); len(name.AsString()) > 128+len("…") {
			t.Fatalf("got a name of %d bytes, want it truncated", len(name.AsString()))
		}
	}
	if got := c.ListedTools(); got.Tools != 10_000 || got.Size.Bytes != 20_000 {
		t.Errorf("got %d tools of %d bytes, want all of them", got.Tools, got.Size.Bytes)
	}
}

func TestNilClientHasNoToolList(t *testing.T) {
	c := instrument.NewClient(telemetry.Off(), "files", pipe)
	l := c.NewToolList()
	l.Add("read", instrument.ToolSize{Bytes: 1}, instrument.ToolSize{})
	c.ToolsListed(l)
	if l != nil || c.ListedTools() != nil {
		t.Errorf("got %v and %v, want nothing", l, c.ListedTools())
	}
}

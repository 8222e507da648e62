package mcpclient_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestContextCostOfToolsIsReported(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithContextCost())
	o := &mcpclient.Options{Telemetry: rec.Telemetry()}
	ready(t, o, func(t *testing.T, _ *script, v *conversation, c *mcpclient.Client) {
		const first, second = `{"name":"a","description":"A.","inputSchema": {"type": "object"}}`,
			`{"name":"b","inputSchema":{}}`
		check := func(when string, bytes, points int, want *inspect.ToolList) {
			t.Helper()
			if got := rec.Value(names.MetricMCPClientToolListSize); got != int64(bytes) {
				t.Errorf("%s: got a list of %d bytes, want %d", when, got, bytes)
			}
			if got := len(rec.Points(names.MetricMCPClientToolDefinitionSize)); got != points {
				t.Errorf("%s: got %d parts of tools, want %d", when, got, points)
			}
			tokens := int64(0)
			if want != nil {
				tokens = int64(want.EstimatedTokens)
			}
			if got := rec.Value(names.MetricMCPClientToolListTokenEstimate); got != tokens {
				t.Errorf("%s: got a list of %d tokens, want %d", when, got, tokens)
			}
			if got := rec.Value(names.MetricMCPClientToolDefinitionTokenEstimate); got != tokens {
				t.Errorf("%s: got tools of %d tokens, want %d", when, got, tokens)
			}
			if got := c.Inspect().Tools; (got == nil) != (want == nil) || got != nil && *got != *want {
				t.Errorf("%s: got %v, want %v", when, got, want)
			}
		}
		check("before a list", 0, 0, nil)
		done := background(listTools(t, c))
		v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[`+first+`],"nextCursor":"2"}`)
		f := v.Expect(mcp.MethodListTools)
		check("half a list", 0, 0, nil)
		v.Answer(f, `{"tools":[`+second+`]}`)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		both := len(first) - len("  ") + len(second)
		check("all pages", both, 4, &inspect.ToolList{Tools: 2, Bytes: both, EstimatedTokens: 26})

		done = background(func() error { _, err := c.ListTools(t.Context(), new("2")); return err })
		v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[`+second+`]}`)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		check("a page alone", both, 4, &inspect.ToolList{Tools: 2, Bytes: both, EstimatedTokens: 26})

		v.list(c, listTools(t, c), second)
		check("another list", len(second), 2, &inspect.ToolList{Tools: 1, Bytes: len(second), EstimatedTokens: 9})
	})
}

func TestReportedResultSizeIsJSONSize(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithContextCost())
	o := &mcpclient.Options{Telemetry: rec.Telemetry()}
	ready(t, o, func(t *testing.T, _ *script, v *conversation, c *mcpclient.Client) {
		v.list(c, listTools(t, c), `{"name":"read","inputSchema":{"type":"object"}}`)
		sum := 0
		for _, result := range []string{
			`{"content":[{"type":"text","text":"a file"}]}`, `{"content":[],"isError":true}`,
		} {
			done := background(func() error { _, err := c.CallTool(t.Context(), "read", nil); return err })
			v.Answer(v.Expect(mcp.MethodCallTool), result)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			sum += len(result)
		}
		done := background(func() error { _, err := c.CallTool(t.Context(), "read", nil); return err })
		v.Refuse(v.Expect(mcp.MethodCallTool), mcp.CodeInvalidParams, "no")
		if err := <-done; err == nil {
			t.Error("want the refusal")
		}
		points := rec.Points(names.MetricMCPClientToolResultSize, names.KeyGenAIToolName, "read")
		if len(points) != 1 || points[0].Count != 2 || points[0].Sum != float64(sum) {
			t.Errorf("got %v, want 2 results of %d bytes", points, sum)
		}
	})
}

// The sizes of a list's pages add up to the size of the whole list, including the tools that are reported by name.
func TestPageSizesAddUpToListSize(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithContextCost(), telemetry.WithToolNameLimit(3))
	o := &mcpclient.Options{Telemetry: rec.Telemetry()}
	ready(t, o, func(t *testing.T, _ *script, v *conversation, c *mcpclient.Client) {
		for _, what := range []string{"the first list", "the same list"} {
			done := namesOf(c)
			v.Answer(v.wantPage("none"), toolsPage("a b", `,"nextCursor":"2"`))
			v.Answer(v.wantPage(`"2"`), toolsPage("c d e f g", `,"nextCursor":"3"`))
			v.Answer(v.wantPage(`"3"`), toolsPage("h", ""))
			if got := <-done; got != "a b c d e f g h" {
				t.Errorf("%s: got %q", what, got)
			}
			listed := rec.Value(names.MetricMCPClientToolListTokenEstimate)
			definitions := rec.Value(names.MetricMCPClientToolDefinitionTokenEstimate)
			if listed == 0 || listed != definitions {
				t.Errorf("%s takes %v tokens and its tools %v, want the same", what, listed, definitions)
			}
			if points := rec.Points(names.MetricMCPClientToolDefinitionSize); len(points) != 2*4 {
				t.Errorf("%s: got %d parts of tools, want those of 3 names and of others", what, len(points))
			}
			v.toolsChanged(c)
		}
	})
}

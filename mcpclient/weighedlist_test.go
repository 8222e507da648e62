package mcpclient

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// toolsOf returns tools whose description is this text.
func toolsOf(n int, description string) (all []*mcp.Tool) {
	for i := range n {
		all = append(all, &mcp.Tool{Name: fmt.Sprint("tool-", i), Description: description,
			InputSchema: []byte(`{"type":"object"}`)})
	}
	return all
}

// A page that is the same as in the list before has the same cost, by identity: it was not weighed again.
func TestUnchangedListIsWeighedOnce(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithContextCost())
	ready(t, &Options{Telemetry: rec.Telemetry()}, func(t *testing.T, _ *script, _ *conversation, c *Client) {
		m := &c.tools
		for page := range 2 * weighedPages {
			first := m.costOf(page, toolsOf(3, "A tool."))
			if again := m.costOf(page, toolsOf(3, "A tool.")) == first; again != (page < weighedPages) {
				t.Errorf("page %d: kept is %v, want the first %d pages to be", page, again, weighedPages)
			}
		}
		if n := len(m.weighed); n != weighedPages {
			t.Errorf("%d pages are kept, want %d", n, weighedPages)
		}
		for _, other := range [][]*mcp.Tool{toolsOf(3, "Another tool."), toolsOf(2, "A tool."), nil} {
			if m.costOf(0, toolsOf(3, "A tool.")) == m.costOf(0, other) {
				t.Errorf("a page of %d tools is taken for another one", len(other))
			}
		}
	})
}

// What many pages take is what one list of all has, named tools included.
func TestThePagesOfAListAddUp(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithContextCost(), telemetry.WithToolNameLimit(3))
	ready(t, &Options{Telemetry: rec.Telemetry()}, func(t *testing.T, _ *script, _ *conversation, c *Client) {
		l := c.tools.begin()
		l.whole = true
		all := toolsOf(8, "A tool.")
		for range 2 { // anew, and from what is kept
			l.cost, l.pages = c.core.Telemetry.NewToolList(), 0
			c.tools.weigh(l, all[:2], false)
			c.tools.weigh(l, all[2:7], false)
			c.tools.weigh(l, all[7:], true)
			listed := rec.Value(names.MetricMCPClientToolListTokenEstimate)
			definitions := rec.Value(names.MetricMCPClientToolDefinitionTokenEstimate)
			if listed == 0 || listed != definitions {
				t.Errorf("the list takes %v tokens and its tools %v, want the same", listed, definitions)
			}
			points := rec.Points(names.MetricMCPClientToolDefinitionSize)
			if len(points) != 2*4 {
				t.Errorf("got %d parts of tools, want those of 3 names and of others", len(points))
			}
		}
	})
}

func BenchmarkWeighingAListThatIsTheSame(b *testing.B) {
	tools := toolsOf(1000, strings.Repeat("What a tool does. ", 20))
	c := &Client{}
	c.tools.c = c
	b.ReportAllocs()
	for b.Loop() {
		c.tools.costOf(0, tools)
	}
}

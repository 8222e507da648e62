package mcpclient

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// toolsOf returns n tools with this description.
func toolsOf(n int, description string) (all []*mcp.Tool) {
	for i := range n {
		all = append(all, &mcp.Tool{Name: fmt.Sprint("tool-", i), Description: description,
			InputSchema: []byte(`{"type":"object"}`)})
	}
	return all
}

// An unchanged page has the identical cost value, because it is not weighed again.
func TestUnchangedListIsMeasuredOnce(t *testing.T) {
	m := &offlineClient(t, telemetry.New(telemetry.WithContextCost())).tools
	for page := range 2 * weighedPages {
		first := m.costOf(page, toolsOf(3, "A tool."))
		if again := m.costOf(page, toolsOf(3, "A tool.")) == first; again != (page < weighedPages) {
			t.Errorf("page %d: cached is %v, want the first %d pages cached", page, again, weighedPages)
		}
	}
	if n := len(m.weighed); n != weighedPages {
		t.Errorf("%d pages are cached, want %d", n, weighedPages)
	}
	for _, other := range [][]*mcp.Tool{toolsOf(3, "Another tool."), toolsOf(2, "A tool."), nil} {
		if m.costOf(0, toolsOf(3, "A tool.")) == m.costOf(0, other) {
			t.Errorf("a page of %d tools was confused with another page", len(other))
		}
	}
}

func BenchmarkWeighingAListThatIsTheSame(b *testing.B) {
	tools := toolsOf(1000, strings.Repeat("What a tool does. ", 20))
	m := &offlineClient(b, telemetry.New(telemetry.WithContextCost())).tools
	b.ReportAllocs()
	for b.Loop() {
		m.costOf(0, tools)
	}
}

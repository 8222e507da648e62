package mcpserver_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/internal/weigh"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func mib(bytes int) float64 { return float64(bytes) / (1 << 20) }

// aFrame returns the memory that the server needs to read a frame and decode it in place.
func aFrame(size int) int { return size + 2<<20 }

// Decoding the arguments of a call takes no more memory than the comment of AddTool states, for each type of
// arguments.
func TestArgumentDecodingMemoryIsLimited(t *testing.T) {
	if heap.Raced {
		t.Skip("nothing is measured under the race detector")
	}
	const frame = 6 << 20
	many := func(value string, bytes int) string {
		return `{"x":[` + strings.Repeat(value+",", bytes/(len(value)+1)) + value + `]}`
	}
	s := newServer(t, mcpserver.Options{})
	type numbers struct {
		X []float64 `json:"x"`
	}
	type objects struct {
		X []mcp.Tool `json:"x"`
	}
	for _, err := range []error{
		mcpserver.AddTool(s, &mcp.Tool{Name: "any"},
			func(_ context.Context, in map[string]any) (string, error) { return "ok", nil }),
		mcpserver.AddTool(s, &mcp.Tool{Name: "numbers"},
			func(_ context.Context, in numbers) (string, error) { return "ok", nil }),
		mcpserver.AddTool(s, &mcp.Tool{Name: "objects"},
			func(_ context.Context, in objects) (string, error) { return "ok", nil }),
		s.AddTool(&mcp.Tool{Name: "raw"}, func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult,
			error) {
			return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("ok")}}, nil
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := serveWeb(t, s, nil)
	for _, test := range []struct {
		name, tool, arguments string
		limit                 int
		want                  string
	}{
		{"numbers as any", "any", many("1", frame), aFrame(frame), "more than 128 MiB"},
		{"numbers as a list of numbers", "numbers", many("1", frame), aFrame(frame) + 9*frame, `"ok"`},
		{"objects that a schema validates", "objects", many("{}", frame), aFrame(frame), "more than 128 MiB"},
		{"the largest allowed arguments", "any", many("1", 5<<20), aFrame(frame) + weigh.Free, `"ok"`},
		{"arguments that are not decoded", "raw", many("1", frame), aFrame(frame), `"ok"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			body, headers := askedCall(1, test.tool, test.arguments)
			var p page
			peak, kept := heap.Least(test.limit, func() { p = w.post(body, headers...) })
			t.Logf("| %s | %.1f | %.1f | %.1f | %.1f |", test.name, mib(len(body)), mib(peak), mib(test.limit), mib(kept))
			if peak > test.limit || kept > 1<<20 {
				t.Errorf("%.1f MiB are in use at most and %.1f in the end, want %.1f and 1.0", mib(peak), mib(kept),
					mib(test.limit))
			}
			if p.status != http.StatusOK || !strings.Contains(p.body, test.want) || len(p.body) > 1000 {
				t.Errorf("got %d with %.300s, want a short answer with %q", p.status, p.body, test.want)
			}
			runtime.KeepAlive(body)
		})
	}
}

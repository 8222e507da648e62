package mcpserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// listing returns a batch of n requests for the list of tools.
func listing(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i+1)
	}
	return "[" + b.String()[1:] + "]"
}

// The server sends all answers to a batch together. A small batch must not cause gigabytes of answers.
func TestBatchResponseSizeIsLimited(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const limit = 1 << 20
			s := newWebServer(t, mcpserver.Options{Limits: mcpserver.Limits{Frame: limit, Concurrent: 1}})
			big := &mcp.Tool{Name: "big", Description: strings.Repeat("x", 30<<10), InputSchema: []byte(`{"type":"object"}`)}
			if err := s.AddTool(big, func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, nil
			}); err != nil {
				t.Fatal(err)
			}
			w := serveWeb(t, s, &mcpserver.HTTPOptions{Stateless: stateless})
			headers := []string{"MCP-Protocol-Version", "2025-03-26"}
			if !stateless {
				headers = append(headers, "Mcp-Session-Id", w.open("2025-03-26"))
			}
			if p := w.post(listing(1025), headers...); p.status != 400 {
				t.Errorf("stateless %v: 1,025 requests got %d with %d bytes, want 400", stateless, p.status, len(p.body))
			}
			p := w.post(listing(1024), headers...)
			if p.status != 200 || len(p.body) > 3*limit || strings.Count(p.body, `"id":`) != 1024 {
				t.Errorf("stateless %v: 1,024 requests got %d with %d bytes and %d answers, want all answered in about %d bytes",
					stateless, p.status, len(p.body), strings.Count(p.body, `"id":`), limit)
			}
		})
	}
}

package mcpclient

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestLoopDetectionRetainsNoCallText(t *testing.T) {
	c, observe := observation(t, t.Context(), &LoopOptions{}, false)
	for range 6 {
		observe()
	}
	kept := fmt.Sprintf("%+v", c.cfg.loops.talks)
	for _, text := range []string{"search", "what is the answer", "nothing was found"} {
		if strings.Contains(kept, text) {
			t.Errorf("got %s, want no text of the calls", kept)
		}
	}
}

// observation returns a function that does the work of loop detection for one call. Nil options mean no detection.
// honest means that all calls differ.
func observation(t testing.TB, ctx context.Context, o *LoopOptions, honest bool) (c *Client, observe func()) {
	const args, result = `{"name":"search","arguments":{"query":"what is the answer","limit":7}}`,
		`{"content":[{"type":"text","text":"nothing was found, try other words"}],"isError":false}`
	c = &Client{cfg: new(config)}
	c.tools.c = c
	if o != nil {
		var err error
		if c.cfg.loops, err = newLoopWatch(o); err != nil {
			t.Fatal(err)
		}
	}
	cl := &call{c: c, params: &mcp.CallToolParams{Name: "search"}, result: &mcp.CallToolResult{},
		scratch: []byte(args)}
	cl.Method = mcp.MethodCallTool
	text, n := []byte(result), 0
	trip := watched(func(context.Context, *call) *Error {
		if cl.loop.watched {
			_ = c.cfg.loops.admit(cl)
			cl.loop.heard(text)
			c.cfg.loops.observe(cl, nil)
		}
		return nil
	})
	return c, func() {
		if n++; honest {
			text[40], text[41], cl.scratch[40] = byte('a'+n%26), byte('a'+n/26%26), byte('a'+n%26)
		}
		cl.loop = loopCall{}
		_ = trip(ctx, cl)
	}
}

// The benchmark measures loop detection alone, without the call.
func BenchmarkLoopDetection(b *testing.B) {
	ctx, err := telemetry.ContextWithConversation(b.Context(), telemetry.Conversation{ID: "thread-17"})
	if err != nil {
		b.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		ctx    context.Context
		o      *LoopOptions
		honest bool
	}{
		{"off", context.Background(), nil, true},
		{"honest", context.Background(), &LoopOptions{}, true},
		{"honest conversation", ctx, &LoopOptions{}, true},
		{"honest breaker", context.Background(), &LoopOptions{Break: true}, true},
		{"loop", context.Background(), &LoopOptions{}, false},
	} {
		b.Run(tc.name, func(b *testing.B) {
			_, observe := observation(b, tc.ctx, tc.o, tc.honest)
			b.ReportAllocs()
			for b.Loop() {
				observe()
			}
		})
	}
}

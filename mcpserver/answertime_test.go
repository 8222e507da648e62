package mcpserver_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// slowConn receives one frame. Each Send takes some time.
type slowConn struct{ frames chan []byte }

func (c *slowConn) Receive(context.Context) ([]byte, error) {
	frame, ok := <-c.frames
	if !ok {
		return nil, io.EOF
	}
	return frame, nil
}

func (c *slowConn) Send(context.Context, []byte) error {
	time.Sleep(400 * time.Millisecond)
	return nil
}

func (c *slowConn) Close() error { return nil }

// The client's span may end as soon as the server has sent the answer. The server's span must therefore end earlier.
func TestSpanEndsBeforeResponseIsSent(t *testing.T) {
	for name, tt := range map[string]struct{ span, frame string }{
		"a call": {"tools/call tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool","_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`},
		"a subscription": {"subscriptions/listen",
			`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` +
				`"_meta":{` +
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := telemetrytest.Recorder(t)
				s := withTool(t, mcpserver.Options{Telemetry: rec.Telemetry()}, "tool",
					func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						time.Sleep(2 * time.Second)
						return nil, nil
					})
				c := &slowConn{make(chan []byte, 1)}
				c.frames <- []byte(tt.frame)
				done := make(chan error, 1)
				go func() { done <- s.Serve(t.Context(), c) }()
				time.Sleep(5 * time.Second)
				close(c.frames)
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				want := 2 * time.Second
				if name != "a call" {
					want = 0
				}
				span := rec.Span(tt.span)
				if got := span.EndTime().Sub(span.StartTime()); got != want {
					t.Errorf("want the span to take %v, without the sending, got %v", want, got)
				}
			})
		})
	}
}

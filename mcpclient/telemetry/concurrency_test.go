package telemetry_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// With names, outcomes and peers that are new to everybody at the same time, nothing is lost or counted twice.
func TestManyGoroutinesShareOneClientAndOneServer(t *testing.T) {
	const goroutines, calls = 64, 10
	rec := telemetrytest.Recorder(t, telemetry.WithToolNameLimit(20))
	tel := rec.Telemetry()
	c, s := tel.Client("files", pipe), tel.Server("demo", pipe)
	c.Queue(func() int { return 1 })
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range calls {
				call(t, c, s, g, i)
				if i == g%calls {
					rec.Metrics()
					tel.Client("passing", pipe).Close()
				}
			}
		})
	}
	wg.Wait()
	c.Close()
	s.Close()
	for _, metric := range []string{"mcp.client.operation.duration", "mcp.server.operation.duration"} {
		if n := rec.Count(metric); n != goroutines*calls {
			t.Errorf("%s: got %d samples, want %d", metric, n, goroutines*calls)
		}
		if tools := values(rec, metric, "gen_ai.tool.name"); len(tools) != 21 {
			t.Errorf("%s: got %d tools, want 20 and _OTHER: %v", metric, len(tools), tools)
		}
	}
	if n := rec.Value("mcp_client.protocol.violations"); n != goroutines*calls {
		t.Errorf("violations: got %d, want %d", n, goroutines*calls)
	}
	if n := rec.Value("mcp_client.tombstones"); n != 0 {
		t.Errorf("tombstones: got %d, want 0", n)
	}
}

func call(t *testing.T, c *telemetry.Client, s *telemetry.Server, g, i int) {
	tool := fmt.Sprint("tool", (g+i)%30)
	facts := telemetry.Facts{Network: pipe, MCPVersion: fmt.Sprint("v", i%5)}
	result := telemetry.Result{Code: int64(i), HasCode: i%2 == 0, ToolError: i%3 == 0}
	ctx, op := c.StartRequest(t.Context(), telemetry.Request{Method: "tools/call", TargetKind: telemetry.Tool, Target: tool})
	op.Admit(c.Peer(facts, ""), int64(g*1000+i))
	in := telemetry.Incoming{Method: "tools/call", TargetKind: telemetry.Tool, Target: tool, Known: true, TargetKnown: true,
		ID: fmt.Sprint(g*1000 + i), Peer: s.Peer(facts, ""), Size: 10}
	in.Traceparent, in.Tracestate, in.Baggage = op.TraceContext()
	op.Sent(10)
	_, handling := s.StartHandler(ctx, in)
	handling.Sent(20)
	handling.End(result)
	op.Received(20)
	op.Decoded(time.Microsecond, nil)
	op.End(result)
	c.Transition(telemetry.Transition{Transition: connstate.Transition{To: connstate.State(i % 5)}, Attempt: op.Ref()})
	c.Violation(telemetry.Violation{Direction: telemetry.Received, Reason: "batch"})
	c.Tombstones(1)
	c.Dropped(telemetry.Drop{Reason: telemetry.DropDuplicate, Ref: op.Ref()})
	c.NotificationDropped(fmt.Sprint("acme/", i), telemetry.DropQueueFull)
	c.Tombstones(-1)
}

package instrument_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// Names, outcomes and peers appear in all goroutines at the same time. Nothing may be lost or counted twice.
func TestClientAndServerAreSafeForConcurrentUse(t *testing.T) {
	const goroutines, calls = 64, 10
	rec := telemetrytest.Recorder(t, telemetry.WithToolNameLimit(20))
	tel := rec.Telemetry()
	c, s := instrument.NewClient(tel, "files", pipe), instrument.NewServer(tel, "demo", pipe)
	c.Queue(func() int { return 1 })
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range calls {
				call(t, c, s, g, i)
				if i == g%calls {
					rec.Metrics()
					instrument.NewClient(tel, "passing", pipe).Close()
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
	if n := rec.Value("mcp_client.tombstone.kept"); n != 0 {
		t.Errorf("tombstones: got %d, want 0", n)
	}
}

func call(t *testing.T, c *instrument.Client, s *instrument.Server, g, i int) {
	tool := fmt.Sprint("tool", (g+i)%30)
	facts := instrument.Facts{Network: pipe, MCPVersion: fmt.Sprint("v", i%5)}
	result := instrument.Result{Code: int64(i), HasCode: i%2 == 0, ToolError: i%3 == 0}
	ctx, op := c.StartRequest(t.Context(), instrument.Request{Method: "tools/call", TargetKind: instrument.Tool,
		Target: tool})
	op.Admit(c.Peer(facts, ""), int64(g*1000+i))
	in := instrument.Incoming{Method: "tools/call", TargetKind: instrument.Tool, Target: tool, Known: true,
		TargetKnown: true,
		ID:          fmt.Sprint(g*1000 + i), Peer: s.Peer(facts, ""), Size: 10}
	in.TraceContext = op.TraceContext()
	op.Sent(10)
	_, handling := s.StartHandler(ctx, in)
	handling.Sent(20)
	handling.End(result)
	op.Received(20)
	op.Decoded(time.Microsecond, nil)
	op.End(result)
	c.Transition(instrument.Transition{Transition: connstate.Transition{To: connstate.State(i % 5)}, Attempt: op.Ref()})
	c.Violation(instrument.Violation{Direction: telemetry.DirectionReceived, Reason: "batch"})
	c.Tombstones(1)
	c.Dropped(instrument.Drop{Reason: names.DropDuplicate, Ref: op.Ref()})
	c.NotificationDropped(fmt.Sprint("acme/", i), names.DropQueueFull)
	c.Tombstones(-1)
}

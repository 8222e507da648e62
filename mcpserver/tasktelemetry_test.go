package mcpserver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestTaskHasItsOwnSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		c := newTasker(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		id := c.call("compute", `{"seconds":60}`).TaskID
		request := rec.Span("tools/call compute")
		if !request.EndTime().Equal(request.StartTime()) {
			t.Errorf("the span of the request took %v, want its end with the answer", request.EndTime().Sub(request.StartTime()))
		}
		if n := rec.Value("mcp_server.task.active"); n != 1 {
			t.Errorf("%d active tasks, want 1", n)
		}
		time.Sleep(time.Minute + time.Second)
		c.is(id, mcp.TaskCompleted)
		work := rec.Span("mcp_server.task compute")
		if work.Parent().SpanID() != request.SpanContext().SpanID() || work.EndTime().Sub(work.StartTime()) != time.Minute ||
			work.SpanKind() != trace.SpanKindInternal {
			t.Errorf("the span of the work is %v to %v under %v, want the whole minute below the span of the request",
				work.StartTime(), work.EndTime(), work.Parent())
		}
		if n := rec.Value("mcp_server.task.active"); n != 0 {
			t.Errorf("%d active tasks, want 0", n)
		}
		for status, arguments := range map[string]string{"failed": `{"how":"panic"}`, "completed": `{"how":"error"}`} {
			c.call("strict", arguments)
			if n := rec.Count("mcp_server.task.duration", "gen_ai.tool.name", "strict", "mcp_server.task.status",
				status); n != 1 {
				t.Errorf("the duration of a task that is %s was recorded %d times, want once", status, n)
			}
		}
		c.cancel(c.call("compute", `{"seconds":60}`).TaskID)
		if n := rec.Count("mcp_server.task.duration", "mcp_server.task.status", "cancelled", "error.type",
			"cancelled"); n != 1 {
			t.Errorf("the duration of a task that is cancelled was recorded %d times, want once", n)
		}
		if n := len(rec.Logs("mcp_server.task.end")); n != 4 {
			t.Errorf("%d tasks were logged, want 4", n)
		}
		if err := c.end(time.Minute); err != nil {
			t.Error(err)
		}
	})
}

func TestTaskSpanEndsWithHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := newTaskServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		c := newTaskerOf(t, s)
		c.call("brief", `{"seconds":60}`)
		time.Sleep(10 * time.Second)
		work := rec.Span("mcp_server.task brief")
		if took := work.EndTime().Sub(work.StartTime()); took != 5*time.Second || work.Status().Code != codes.Error {
			t.Errorf("the span took %v with status %v, want an error when the task has expired", took, work.Status())
		}
		if err := c.end(time.Minute); err != nil {
			t.Error(err)
		}
	})
}

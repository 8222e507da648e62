package mcpserver_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const traceParent = `"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`

func TestTracedCallSpanJoinsCallerTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		var inside trace.SpanContext
		s := withTool(t, mcpserver.Options{Telemetry: rec.Telemetry()}, "tool",
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				inside = trace.SpanContextFromContext(ctx)
				return nil, nil
			})
		w := serve(t, t.Context(), s)
		w.send(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"tool","_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
			traceParent + `}}}`)
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		span := rec.Span("tools/call tool")
		if span.SpanKind() != trace.SpanKindServer {
			t.Errorf("the span is of kind %v, want server", span.SpanKind())
		}
		if got := span.Parent().SpanID().String(); got != "b7ad6b7169203331" {
			t.Errorf("the span's parent is %s, want the parent of the request", got)
		}
		if !inside.Equal(span.SpanContext()) {
			t.Errorf("the handler's context carries span %v, want %v", inside.SpanID(), span.SpanContext().SpanID())
		}
		attrs := map[string]string{}
		for _, a := range span.Attributes() {
			attrs[string(a.Key)] = a.Value.String()
		}
		for key, want := range map[string]string{
			"mcp.method.name": "tools/call", "gen_ai.tool.name": "tool", "mcp.protocol.version": "2026-07-28",
			"jsonrpc.request.id": "x", "mcp_server.name": "test",
		} {
			if attrs[key] != want {
				t.Errorf("attribute %s is %q, want %q", key, attrs[key], want)
			}
		}
		if n := rec.Count("mcp.server.operation.duration", "gen_ai.tool.name", "tool"); n != 1 {
			t.Errorf("the duration was recorded %d times, want once", n)
		}
		if n := rec.Value("mcp_server.active_requests"); n != 0 {
			t.Errorf("%d active requests after all, want 0", n)
		}
	})
}

func TestOutcomesInTelemetry(t *testing.T) {
	tests := []struct {
		name, frame, span string
		status            codes.Code
		errorType         string
	}{
		{"success", callOf(1, "greet", `{"name":"x"}`), "tools/call greet", codes.Unset, ""},
		{"tool error", callOf(1, "fail", `{"how":"error"}`), "tools/call fail", codes.Error, "tool_error"},
		{"invalid arguments", callOf(1, "greet", `{}`), "tools/call greet", codes.Error, "tool_error"},
		{"refused", callOf(1, "fail", `{"how":"refuse"}`), "tools/call fail", codes.Error, "-100"},
		{"panic", callOf(1, "fail", `{"how":"panic"}`), "tools/call fail", codes.Error, "-32603"},
		{"unknown tool", callOf(1, "nobody", `{}`), "tools/call _OTHER", codes.Unset, ""},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"x/y"}`, "_OTHER", codes.Unset, ""},
		{"own method", `{"jsonrpc":"2.0","id":1,"method":"example.com/who"}`, "example.com/who", codes.Unset, ""},
		{"ping", pingRequest, "ping", codes.Unset, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := telemetrytest.Recorder(t)
				w := opened(t, t.Context(), newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}))
				w.send(tt.frame)
				if err := w.finish(); err != nil {
					t.Fatal(err)
				}
				span := rec.Span(tt.span)
				if span.Status().Code != tt.status {
					t.Errorf("status %v, want %v", span.Status(), tt.status)
				}
				errorType := ""
				for _, a := range span.Attributes() {
					if a.Key == "error.type" {
						errorType = a.Value.String()
					}
				}
				if errorType != tt.errorType {
					t.Errorf("error.type %q, want %q", errorType, tt.errorType)
				}
			})
		})
	}
}

func TestPanicsAreLoggedAndHiddenFromClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := opened(t, t.Context(), newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}))
		w.send(callOf(1, "fail", `{"how":"panic"}`))
		for _, frame := range w.taken() {
			if strings.Contains(frame, "secret") {
				t.Errorf("the client got the value of a panic: %s", frame)
			}
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		log := rec.Log("mcp_server.handler.panic")
		if got := log.Text("exception.message"); got != "secret" {
			t.Errorf("the log contains the panic %q, want secret", got)
		}
		if stack := log.Text("exception.stacktrace"); !strings.Contains(stack, "tools_test.go") {
			t.Errorf("the log has the stack %q, want the place of the panic", stack)
		}
		if n := rec.Value("mcp_server.handler.panics"); n != 1 {
			t.Errorf("%d panics counted, want 1", n)
		}
	})
}

func TestCancelledRequestsInTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := opened(t, t.Context(), newServer(t,
			mcpserver.Options{Telemetry: rec.Telemetry(), Limits: mcpserver.Limits{Concurrent: 1}}))
		w.send(callOf(1, "sleep", `{"seconds":9}`), callOf(2, "sleep", `{"seconds":9}`))
		for _, id := range []string{"2", "1"} {
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		if n := rec.Count("mcp.server.operation.duration", "error.type", "cancelled"); n != 2 {
			t.Errorf("%d cancelled operations, want that which ran and that which waited", n)
		}
		if n := rec.Value("mcp_server.notification.messages", "mcp.method.name", "notifications/cancelled"); n != 2 {
			t.Errorf("%d notifications counted, want 2", n)
		}
	})
}

func TestViolationsAndStrayResponsesInTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := opened(t, t.Context(), newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}))
		w.send("garbage", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`)
		w.in <- received{err: &mcpserver.FrameTooLargeError{Size: 11, Limit: 10}}
		time.Sleep(time.Minute)
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		for _, reason := range []string{"invalid_json", "batch", "frame_too_large"} {
			if n := rec.Value("mcp_server.protocol.violations", "mcp_server.violation.reason", reason); n != 1 {
				t.Errorf("%d violations %s, want 1", n, reason)
			}
		}
		if n := rec.Value("mcp_server.response.drops"); n != 2 {
			t.Errorf("%d responses dropped, want 2", n)
		}
		if n := rec.Count("mcp.server.session.duration", "mcp.protocol.version", "2025-11-25"); n != 1 {
			t.Errorf("%d sessions ended, want 1", n)
		}
	})
}

func TestNotificationsInTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		w := opened(t, t.Context(), s)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","arguments":{"values":[1,2]},` +
			`"_meta":{"progressToken":1}}}`)
		s.RemoveTools("add")
		time.Sleep(time.Second)
		changed := ""
		for _, frame := range w.taken() {
			if strings.Contains(frame, mcp.NotificationToolListChanged) {
				changed = frame
			}
		}
		if !strings.Contains(changed, `"traceparent":"00-`) {
			t.Errorf("the notification is %s, want the context of its span in it", changed)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		for method, want := range map[string]int64{mcp.NotificationProgress: 2, mcp.NotificationToolListChanged: 1} {
			if n := rec.Value("mcp_server.notification.messages", "mcp.method.name", method, "mcp_server.direction",
				"sent"); n != want {
				t.Errorf("%d notifications %s counted, want %d", n, method, want)
			}
		}
	})
}

func TestLostResponseIsErrorInTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		w := opened(t, t.Context(), s)
		w.block()
		w.send(callOf(1, "greet", `{"name":"x"}`))
		s.RemoveTools("add")
		time.Sleep(100 * time.Millisecond)
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		if n := rec.Count("mcp.server.operation.duration", "error.type", "connection_lost", "mcp.method.name",
			"tools/call"); n != 1 {
			t.Errorf("%d answers were lost, want 1", n)
		}
	})
}

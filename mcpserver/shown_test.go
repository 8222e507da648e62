package mcpserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// The tests of this file cause telemetry that no other test of the server causes. The Recording validates the
// telemetry against the schema.

func TestProtocolViolationsAreCountedByRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := opened(t, t.Context(), newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}))
		w.send(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"x":`+strings.Repeat("[", 1100)+strings.Repeat("]", 1100)+`}}`,
			`{"jsonrpc":"2.0","result":{}}`, `{"jsonrpc":"2.0","id":1,"error":7}`,
			`{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":7}}`)
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		for _, reason := range []string{"too_deep", "missing_id", "invalid_error", "invalid_params"} {
			if got := rec.Value("mcp_server.protocol.violations", "mcp_server.violation.reason", reason); got != 1 {
				t.Errorf("violations %s: got %d, want 1", reason, got)
			}
		}
		if got := rec.Count("mcp_server.message.decode.duration", "error.type", "protocol_violation"); got != 2 {
			t.Errorf("params that cannot be decoded: got %d measured, want 2", got)
		}
	})
}

// TestStrayResponseRecordsReason asks a client, stops waiting, and then receives the client's answer.
func TestStrayResponseRecordsReason(t *testing.T) {
	const answer = `{"jsonrpc":"2.0","id":%d,"result":{"roots":[]}}`
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := withTool(t, mcpserver.Options{Telemetry: rec.Telemetry(), RequestTimeout: time.Second}, "roots", rootsTool)
		w := openedAble(t, s, "2025-11-25")
		w.send(callOf(7, "roots", "{}"))
		time.Sleep(3 * time.Second) // the handler has timed out
		w.send(fmt.Sprintf(answer, 1))
		w.send(callOf(8, "roots", "{}"))
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`)
		w.send(fmt.Sprintf(answer, 2))
		w.send(callOf(9, "roots", "{}"))
		w.send(fmt.Sprintf(answer, 3))
		w.send(fmt.Sprintf(answer, 3))
		w.send(fmt.Sprintf(answer, 99))
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		for _, reason := range []string{"late_timeout", "late_cancelled", "duplicate", "unknown_id"} {
			if got := rec.Value("mcp_server.response.drops", "mcp_server.drop.reason", reason); got != 1 {
				t.Errorf("responses dropped as %s: got %d, want 1", reason, got)
			}
		}
		late := rec.Logs("mcp_server.response.dropped")[0]
		var ask string
		for _, span := range rec.Spans() {
			if span.Name() == mcp.MethodListRoots {
				ask = span.SpanContext().SpanID().String()
				break
			}
		}
		if late.Text("mcp_server.drop.age") != "2" || late.Span.SpanID().String() != ask {
			t.Errorf("the record of a late answer has its age and the span of the question %s: got %v of %v", ask, late.Attrs,
				late.Span.SpanID())
		}
	})
}

func TestResponseToStatelessServerIsUnexpected(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	w := serveWeb(t, newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}), &mcpserver.HTTPOptions{Stateless: true})
	w.post(`{"jsonrpc":"2.0","id":1,"result":{}}`, "MCP-Protocol-Version", "2025-11-25")
	w.end()
	if got := rec.Value("mcp_server.response.drops", "mcp_server.drop.reason", "unexpected"); got != 1 {
		t.Errorf("responses dropped as unexpected: got %d, want 1", got)
	}
}

func TestStrayResponseLoggingIsRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := opened(t, t.Context(), newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}))
		for range 20 {
			w.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		records := rec.Logs("mcp_server.response.dropped")
		if got := records[len(records)-1].Text("mcp_server.suppressed"); len(records) != 6 || got != "15" {
			t.Errorf("five records and one that counts the rest: got %d, the last one for %q", len(records), got)
		}
	})
}

func TestLostNotificationIsRecordedAsConnectionLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		w := opened(t, t.Context(), s)
		w.block()
		s.RemoveTools("add")
		time.Sleep(time.Second)
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		if n := rec.Count("mcp.client.operation.duration", "mcp.method.name", mcp.NotificationToolListChanged, "error.type",
			"connection_lost"); n != 1 {
			t.Errorf("notifications lost: got %d, want 1", n)
		}
		if n := rec.Value("mcp_server.notification.messages", "mcp.method.name", mcp.NotificationToolListChanged); n != 0 {
			t.Errorf("notifications counted as sent: got %d, want 0", n)
		}
	})
}

func TestInputRequiredRecordNamesPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := bare(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		must(t, s.AddPrompt(&mcp.Prompt{Name: "greet"},
			func(ctx context.Context, _ *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
				_, err := nameAndColor(ctx, nil)
				return &mcp.GetPromptResult{}, err
			}))
		w := serve(t, t.Context(), s)
		w.send(asked(1, mcp.MethodGetPrompt, ableMetas, `"name":"greet"`))
		needed(t, w.reply(t))
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		if got := rec.Log("mcp_server.request.input_required").Text("gen_ai.prompt.name"); got != "greet" {
			t.Errorf("the record names the prompt greet, got %q", got)
		}
	})
}

// readOnly is a store of sessions that refuses changes.
type readOnly struct{ store.Sessions }

func (readOnly) Replace(context.Context, string, []byte, int64) error { return errCutOff }

func TestFailedSessionConfirmationIsInTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := serveWeb(t, newWebServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}),
			&mcpserver.HTTPOptions{Sessions: readOnly{store.NewMemorySessions()}, NotResumable: true})
		session := w.post(initializeAs("2025-11-25")).header.Get("Mcp-Session-Id")
		if p := w.post(initialized, "Mcp-Session-Id", session); p.status != 503 {
			t.Errorf("a confirmation that cannot be kept: got %d, want 503", p.status)
		}
		w.end()
		if got := rec.Log("mcp_server.notification.received").Text("error.type"); got != "-32603" {
			t.Errorf("error.type of the notification: got %q, want -32603", got)
		}
		if span := rec.Span(mcp.NotificationInitialized); span.SpanKind() != trace.SpanKindServer ||
			span.Status().Code != codes.Error {
			t.Errorf("its span is one of the server with an error, got %v and %v", span.SpanKind(), span.Status())
		}
	})
}

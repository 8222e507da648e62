package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/relay/downstream"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestRelayedRequestSpanJoinsHostTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		var inside, heard trace.SpanContext
		b := &behind{
			receive: func(r *handed) {
				if r.method == mcp.MethodInitialize {
					r.answer(json.RawMessage(`{"protocolVersion":"2025-06-18"}`), nil)
					return
				}
				inside = trace.SpanContextFromContext(r.ctx)
				asking(r.ctx, r.from, "roots/list", `{ "_meta": {"b": 1, "traceparent": "old"} , "a": 2 }`)
				r.answer(json.RawMessage(`{"content":[],"isError":true}`), nil)
			},
			hear: func(ctx context.Context, _ relay.Message, _ relay.Peer) { heard = trace.SpanContextFromContext(ctx) },
		}
		w := relayed(t, b, downstream.Options{Telemetry: rec.Telemetry()})
		w.send(initializeAs("2025-06-18"))
		w.taken()
		b.taken()
		w.send(requestOf(1, "tools/call", `{"name":"t","_meta":{`+traceParent+`}}`),
			`{"jsonrpc":"2.0","method":"notifications/initialized","params":{"_meta":{`+traceParent+`}}}`)
		out := w.taken()
		wantBehind(t, b, `tools/call {"name":"t","_meta":{`+traceParent+`}}`,
			`notifications/initialized {"_meta":{`+traceParent+`}}`)
		wantEnd(t, w)

		span := rec.Span("tools/call t")
		if got := span.Parent().SpanID().String(); got != "b7ad6b7169203331" {
			t.Errorf("the span's parent is %s, want the parent of the request", got)
		}
		if !inside.Equal(span.SpanContext()) {
			t.Errorf("the receiver's context has the span %v, want %v", inside.SpanID(), span.SpanContext().SpanID())
		}
		if heard.TraceID() != span.SpanContext().TraceID() {
			t.Errorf("a notification is of the trace %v, want %v", heard.TraceID(), span.SpanContext().TraceID())
		}
		attrs := map[string]string{}
		for _, a := range span.Attributes() {
			attrs[string(a.Key)] = a.Value.String()
		}
		for key, want := range map[string]string{
			"mcp.method.name": "tools/call", "gen_ai.tool.name": "t", "mcp.protocol.version": "2025-06-18",
			"jsonrpc.request.id": "1", "error.type": "tool_error", "mcp_server.client.name": "c",
		} {
			if attrs[key] != want {
				t.Errorf("attribute %s is %q, want %q", key, attrs[key], want)
			}
		}
		var ask trace.SpanContext
		for _, s := range rec.SpansNamed("roots/list", trace.SpanKindClient) {
			if s.Parent().SpanID() == inside.SpanID() {
				ask = s.SpanContext()
			}
		}
		want := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"_meta":{"traceparent":"00-%s-%s-01",`+
			`"b": 1},"a": 2}}`, ask.TraceID(), ask.SpanID())
		if len(out) == 0 || out[0] != want {
			t.Errorf("the client got %q, want first %s", out, want)
		}
	})
}

func TestRelayMetricsOmitUnknownNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		b := &behind{receive: func(r *handed) {
			asking(r.ctx, r.from, "acme/ask", `{}`)
			must(t, r.from.Notify(r.ctx, relay.Message{Method: "acme/told"}))
			r.answer(nil, &relay.Error{Object: json.RawMessage(`{"code":7}`), Server: &mcp.Error{Code: 7}})
		}}
		w := relayed(t, b, downstream.Options{Telemetry: rec.Telemetry()})
		w.send(requestOf(1, "acme/do", `{"name":"x"}`), `{"jsonrpc":"2.0","method":"acme/heard"}`)
		w.taken()
		wantEnd(t, w)
		for _, m := range rec.Metrics() {
			if text := fmt.Sprint(m); strings.Contains(text, "acme") {
				t.Errorf("a metric contains a name that a peer invented: %s", text)
			}
		}
		if n := rec.Count("mcp.server.operation.duration", "mcp.method.name", "_OTHER", "error.type", "7"); n != 1 {
			t.Errorf("%d requests of an unknown method were recorded with their error, want 1", n)
		}
	})
}

func TestIsErrorIsFoundAtEitherEndOfLargeResult(t *testing.T) {
	large := `"content":[{"type":"text","text":"` + strings.Repeat("x", 100<<10) + `"}]`
	for _, tt := range []struct {
		result string
		want   uint64
	}{
		{`{"isError":true,` + large + `}`, 1},
		{`{` + large + `,"isError":true}`, 1},
		{`{` + large + `,"isError":false}`, 0},
		{`{` + large + `,"structuredContent":{"isError":true}}`, 0},
		{`{` + large + `}`, 0},
		{`{"isError":"true"}`, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			b := &behind{receive: func(r *handed) { r.answer(json.RawMessage(tt.result), nil) }}
			w := relayed(t, b, downstream.Options{Telemetry: rec.Telemetry()})
			w.send(requestOf(1, "tools/call", `{"name":"x"}`))
			wantSent(t, w, `{"jsonrpc":"2.0","id":1,"result":`+tt.result+`}`)
			wantEnd(t, w)
			if n := rec.Count("mcp.server.operation.duration", "error.type", "tool_error"); n != tt.want {
				t.Errorf("%d errors of a tool were recorded for %.60s…, want %d", n, tt.result, tt.want)
			}
		})
	}
}

func TestRelayedListenRequestEndsWhenAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		b := &behind{}
		w := relayed(t, b, downstream.Options{Telemetry: rec.Telemetry()})
		w.send(asked(1, "subscriptions/listen", bothMetas, ""), asked(2, "subscriptions/listen", bothMetas, ""))
		acknowledged := relay.Message{Method: mcp.NotificationSubscriptionsAcknowledged,
			Params: json.RawMessage(`{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}`)}
		must(t, b.peer(t).Notify(t.Context(), acknowledged))
		acknowledged.Params = nil
		must(t, b.peer(t).Notify(b.last(t).ctx, acknowledged))
		must(t, b.peer(t).Notify(t.Context(), acknowledged)) // this one belongs to no subscription
		if n := rec.Count("mcp.server.operation.duration", "mcp.method.name", "subscriptions/listen"); n != 2 {
			t.Errorf("%d of 2 requests are over with their acknowledgement", n)
		}
		if n := rec.Value("mcp_server.stream.active"); n != 2 {
			t.Errorf("%d streams are open, want 2", n)
		}
		b.calls[0].answer(json.RawMessage(`{}`), nil)
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		b.calls[1].answer(json.RawMessage(`{}`), nil)
		if n := rec.Value("mcp_server.stream.active"); n != 0 {
			t.Errorf("%d streams are open, want none", n)
		}
		wantEnd(t, w)
		if n := len(rec.SpansNamed("subscriptions/listen", trace.SpanKindServer)); n != 2 {
			t.Errorf("got %d spans of subscriptions, want 2", n)
		}
	})
}

package instrument_test

import (
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func notify(t *testing.T, c *instrument.Client, method string) {
	t.Helper()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: method, Notification: true})
	op.Admit(nil, 0)
	op.Sent(10)
	op.End(instrument.Result{})
	_, op = c.StartHandler(t.Context(), instrument.Incoming{Method: method, Notification: true, Known: true, Size: 10})
	op.End(instrument.Result{})
}

func TestFrequentNotificationsHaveNoSpans(t *testing.T) {
	for _, tt := range []struct {
		name   string
		opts   []telemetry.Option
		method string
		spans  int
	}{
		{"by default", nil, "notifications/tools/list_changed", 2},
		{"by default", nil, "notifications/progress", 0},
		{"by default", nil, "notifications/message", 0},
		{"by default", nil, "notifications/cancelled", 0},
		{"nil", []telemetry.Option{telemetry.WithNotificationSpans(nil)}, "notifications/progress", 0},
		{"all", []telemetry.Option{telemetry.WithNotificationSpans(func(string) bool { return true })},
			"notifications/progress", 2},
		{"none", []telemetry.Option{telemetry.WithNotificationSpans(func(string) bool { return false })},
			"notifications/tools/list_changed", 0},
	} {
		t.Run(tt.name+" "+tt.method, func(t *testing.T) {
			rec := telemetrytest.Recorder(t, tt.opts...)
			c := instrument.NewClient(rec.Telemetry(), "files", pipe)
			defer c.Close()
			notify(t, c, tt.method)
			if got := len(rec.Spans()); got != tt.spans {
				t.Errorf("spans: got %d, want %d", got, tt.spans)
			}
			samples := rec.Count("mcp.client.operation.duration") + rec.Count("mcp.server.operation.duration")
			if samples != uint64(tt.spans) {
				t.Errorf("samples of the duration: got %d, want %d as many as spans", samples, tt.spans)
			}
			for _, direction := range []string{"sent", "received"} {
				n := rec.Value("mcp_client.notification.messages", "mcp.method.name", tt.method, "mcp_client.direction", direction)
				if n != 1 {
					t.Errorf("notifications: got %d %s, want 1", n, direction)
				}
				sized := rec.Count("mcp_client.message.size", "mcp_client.message.kind", "notification",
					"mcp_client.direction", direction)
				if sized != 1 {
					t.Errorf("sizes: got %d %s, want 1", sized, direction)
				}
			}
			if n := len(rec.Logs("mcp_client.notification.sent")) + len(rec.Logs("mcp_client.notification.received")); n != 2 {
				t.Errorf("records: got %d, want 2", n)
			}
		})
	}
}

func TestUnsentNotificationIsNotCounted(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "notifications/roots/list_changed",
		Notification: true})
	op.End(instrument.Result{ErrorType: names.ErrorTransportBusy})
	if n := rec.Value("mcp_client.notification.messages"); n != 0 {
		t.Errorf("unsent notifications: got %d, want none counted", n)
	}
	if got := texts(rec.Span("notifications/roots/list_changed").Attributes())["error.type"]; got != "transport_busy" {
		t.Errorf("error.type of the span: got %q, want transport_busy", got)
	}
}

func TestCancellationIsChildOfExportedCall(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, call := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
	ctx, notice := c.StartRequest(t.Context(), instrument.Request{
		Method: "notifications/cancelled", Notification: true, Parent: call.Ref(),
	})
	traceparent := notice.TraceContext().Traceparent
	notice.Sent(30)
	notice.End(instrument.Result{})
	call.End(instrument.Result{ErrorType: names.ErrorTimeout})

	span, parent := rec.Span("notifications/cancelled"), rec.Span("tools/list")
	if !span.Parent().Equal(parent.SpanContext()) {
		t.Errorf("parent of the cancellation: got %v, want %v", span.Parent(), parent.SpanContext())
	}
	if got := trace.SpanContextFromContext(ctx); !got.Equal(span.SpanContext()) {
		t.Errorf("span of the cancellation: got %v, want %v", got, span.SpanContext())
	}
	if want := span.SpanContext().SpanID().String(); len(traceparent) != 55 || traceparent[36:52] != want {
		t.Errorf("traceparent of the cancellation: got %q, want span %s", traceparent, want)
	}
	if n := rec.Count("mcp.client.operation.duration", "mcp.method.name", "notifications/cancelled"); n != 0 {
		t.Errorf("durations of a cancellation: got %d, want none", n)
	}
}

func TestCancellationOfUnexportedCallHasNoSpan(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	unsampled := instrument.Ref{0: 1, 16: 1} // flags 0
	_, notice := c.StartRequest(t.Context(), instrument.Request{
		Method: "notifications/cancelled", Notification: true, Parent: unsampled,
	})
	traceparent := notice.TraceContext().Traceparent
	notice.Sent(30)
	notice.End(instrument.Result{})
	if n := len(rec.Spans()); n != 0 {
		t.Errorf("spans: got %d, want none", n)
	}
	if want := "00-01000000000000000000000000000000-0100000000000000-00"; traceparent != want {
		t.Errorf("traceparent of the cancellation: got %q, want %q", traceparent, want)
	}
}

func TestNotificationWithoutHandlerIsCountedAndLogged(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	c.Notification(telemetry.DirectionReceived, "notifications/message")
	c.Notification(telemetry.DirectionSent, "notifications/initialized")
	c.Notification(telemetry.DirectionReceived, "acme/strange")
	for _, want := range [][2]string{
		{"notifications/message", "received"}, {"notifications/initialized", "sent"}, {"_OTHER", "received"},
	} {
		if n := rec.Value("mcp_client.notification.messages", "mcp.method.name", want[0], "mcp_client.direction",
			want[1]); n != 1 {
			t.Errorf("%s %s: got %d, want 1", want[0], want[1], n)
		}
	}
	if got := rec.Logs("mcp_client.notification.received")[1].Text("mcp.method.name"); got != "acme/strange" {
		t.Errorf("method in the record: got %q, want acme/strange", got)
	}
	if len(rec.Spans()) != 0 {
		t.Errorf("spans without a handler: got %d, want none", len(rec.Spans()))
	}
}

func TestDroppedNotificationIsNotCountedAsReceived(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	c.NotificationDropped("notifications/message", names.DropQueueFull)
	c.NotificationDropped("notifications/message", "lost interest")
	for _, reason := range []string{"queue_full", "_OTHER"} {
		if n := rec.Value("mcp_client.notification.drops", "mcp_client.drop.reason", reason); n != 1 {
			t.Errorf("dropped for %s: got %d, want 1", reason, n)
		}
	}
	if n := rec.Value("mcp_client.notification.messages"); n != 0 {
		t.Errorf("received: got %d, want 0", n)
	}
}

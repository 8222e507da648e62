//lint:file-ignore SA1019 legacy peers have logging

package gosdk_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/adapters/gosdk"
	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func fleetAttribute(attrs []attribute.KeyValue, key string) string {
	for _, a := range attrs {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

func addEcho(s *mcp.Server, name string) {
	mcp.AddTool(s, &mcp.Tool{Name: name},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return text("hello"), nil, nil
		})
}

func TestUnknownNamesAreNotMetricAttributes(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs()
	c := connect(t, s, telemetry.Off(), r.Telemetry(), modern, nil)
	for i := range 300 {
		if _, err := c.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "made-up-" + strconv.Itoa(i)}); err == nil {
			t.Fatal("want an error")
		}
	}
	if _, err := c.session.CallTool(t.Context(),
		&mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "x"}}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range r.Points("mcp.server.operation.duration", "mcp.method.name", "tools/call") {
		name, _ := p.Attrs.Value("gen_ai.tool.name")
		names = append(names, name.AsString())
	}
	if len(names) != 2 {
		t.Errorf("want the one tool that was called and _OTHER, got %q", names)
	}
}

func TestNewToolIsInMetricsAfterListChanged(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs()
	told := make(chan struct{}, 1)
	c := connect(t, s, telemetry.Off(), r.Telemetry(), legacy, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- struct{}{} },
	})
	call := func(tool string) {
		t.Helper()
		if _, err := c.session.CallTool(t.Context(),
			&mcp.CallToolParams{Name: tool, Arguments: map[string]any{"text": "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	call("echo")
	addEcho(s, "late")
	<-told
	call("late")
	if n := r.Count("mcp.server.operation.duration", "gen_ai.tool.name", "late"); n != 1 {
		t.Errorf("want the new tool in the metric, got %v", r.Points("mcp.server.operation.duration"))
	}
}

func TestPanicIsRecordedAndRepanicked(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs()
	mcp.AddTool(s, &mcp.Tool{Name: "panic"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			panic("out of cheese")
		})
	gosdk.InstrumentServer(s, r.Telemetry(), fleet.ServerName)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		// outside the adapter's middleware, as in a program that survives panics
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				if v := recover(); v != nil {
					res, err = nil, fmt.Errorf("recovered: %v", v)
				}
			}()
			return next(ctx, method, req)
		}
	})
	c := connect(t, s, telemetry.Off(), nil, legacy, nil)
	if _, err := c.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "panic"}); err == nil {
		t.Fatal("want an error")
	}
	if got := fleetAttribute(r.Span("tools/call panic").Attributes(), "error.type"); got != "panic" {
		t.Errorf("want error.type panic, got %q", got)
	}
	if n := r.Value("mcp_server.handler.panics", "mcp.method.name", "tools/call"); n != 1 {
		t.Errorf("want one panic, got %d", n)
	}
	if got := r.Log("mcp_server.handler.panic").Text("exception.message"); got != "out of cheese" {
		t.Errorf("want the value in the log, got %q", got)
	}
}

func TestSubscriptionDoesNotKeepSpanOpen(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs()
	connect(t, s, r.Telemetry(), r.Telemetry(), modern, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {},
	})
	spans := &fleet.Spans{Recorded: []*telemetrytest.Recording{r}}
	fleet.Until(t, "the spans of subscriptions/listen to end while it goes on", func() bool {
		return len(fleet.Named(spans.All(), "SERVER", "subscriptions/listen")) == 1 &&
			len(fleet.Named(spans.All(), "CLIENT", "subscriptions/listen")) == 1
	}, func() string { return fmt.Sprint(spans.All()) })
	addEcho(s, "late")
	fleet.Until(t, "the notification, under a span at both ends", func() bool {
		return len(fleet.Named(spans.All(), "SERVER", "notifications/tools/list_changed")) == 1
	}, func() string { return fmt.Sprint(spans.All()) })

}

func TestProgressAndLogMessagesHaveNoSpans(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs()
	mcp.AddTool(s, &mcp.Tool{Name: "busy"},
		func(ctx context.Context, q *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			for i := range 3 {
				err := q.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "t", Progress: float64(i)})
				if err != nil {
					return nil, nil, err
				}
			}
			return text("done"), nil, q.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "error", Data: "oh"})
		})
	c := connect(t, s, r.Telemetry(), r.Telemetry(), legacy, nil)
	if err := c.session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
		t.Fatal(err)
	}
	params := &mcp.CallToolParams{Name: "busy"}
	params.SetProgressToken("t")
	if _, err := c.session.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]int64{"notifications/progress": 3, "notifications/message": 1} {
		fleet.Until(t, method+" to be counted at both ends", func() bool {
			return r.Value("mcp_server.notification.messages", "mcp.method.name", method, "mcp_server.direction",
				"sent") == want &&
				r.Value("mcp_client.notification.messages", "mcp.method.name", method, "mcp_client.direction", "received") == want
		}, func() string { return fmt.Sprint(r.Points("mcp_client.notification.messages")) })
		for _, span := range r.Spans() {
			if span.Name() == method {
				t.Errorf("want no span for %s", method)
			}
		}
	}
}

func TestErrorWithoutCodeIsRecordedAsSent(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs()
	s.AddPrompt(&mcp.Prompt{Name: "broken"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, errors.New("no such luck")
	})
	c := connect(t, s, r.Telemetry(), r.Telemetry(), modern, nil)
	if _, err := c.session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "broken"}); err == nil {
		t.Fatal("want an error")
	}
	spans := fleet.Spans{Recorded: []*telemetrytest.Recording{r}}
	fleet.Until(t, "both spans", func() bool {
		return len(fleet.Named(spans.All(), "SERVER", "prompts/get broken")) == 1
	}, func() string { return fmt.Sprint(spans.All()) })
	for _, kind := range []string{"CLIENT", "SERVER"} {
		s := fleet.Named(spans.All(), kind, "prompts/get broken")[0]
		if s.Attributes["error.type"] != "0" || s.Attributes["gen_ai.prompt.name"] != "broken" || s.Status != "ERROR" {
			t.Errorf("want the code 0 on the %s span, got %v", kind, s.Attributes)
		}
	}
}

func TestServerSessionDurationIsMeasured(t *testing.T) {
	r := telemetrytest.Recorder(t)
	c := connect(t, theirs(), telemetry.Off(), r.Telemetry(), legacy, nil)
	if err := c.session.Close(); err != nil {
		t.Fatal(err)
	}
	fleet.Until(t, "the session's duration", func() bool {
		return r.Count("mcp.server.session.duration", "mcp.protocol.version", legacy) == 1
	}, func() string { return "none" })
}

func TestAnonymousHTTPClientCannotControlTraces(t *testing.T) {
	const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	for name, opts := range map[string][]gosdk.ServerOption{"stranger": nil, "trusted": {gosdk.TrustTraceContext()}} {
		t.Run(name, func(t *testing.T) {
			r := telemetrytest.Recorder(t)
			s := theirs()
			gosdk.InstrumentServer(s, r.Telemetry(), fleet.ServerName, opts...)
			h := httptest.NewServer(sdkHandler(s, legacy))
			defer h.Close()
			tr := &mcp.StreamableClientTransport{Endpoint: h.URL}
			c, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), tr, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			meta := mcp.Meta{"traceparent": "00-" + traceID + "-00f067aa0ba902b7-01"}
			if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Meta: meta, Name: "echo"}); err != nil {
				t.Fatal(err)
			}
			if within := r.Span("tools/call echo").SpanContext().TraceID().String() == traceID; within != (opts != nil) {
				t.Errorf("the span is in the client's trace: %t", within)
			}
		})
	}
}

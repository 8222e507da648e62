package mcpserver_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// changes are all ways to announce a change to all clients, each with the notification that clients get.
var changes = []struct {
	method string
	change func(*mcpserver.Server)
}{
	{mcp.NotificationResourceUpdated, func(s *mcpserver.Server) { s.ResourceUpdated("test://a") }},
	{mcp.NotificationToolListChanged, (*mcpserver.Server).ToolsChanged},
	{mcp.NotificationPromptListChanged, (*mcpserver.Server).PromptsChanged},
	{mcp.NotificationResourceListChanged, (*mcpserver.Server).ResourcesChanged},
}

// newChanging returns a server whose clients may watch test://a and every list.
func newChanging(t *testing.T, tel *telemetry.Telemetry) *mcpserver.Server {
	s := newServer(t, mcpserver.Options{Telemetry: tel})
	must(t, s.AddPrompt(&mcp.Prompt{Name: "greet"},
		func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{}, nil
		}))
	must(t, s.AddResource(&mcp.Resource{URI: "test://a", Name: "a"}, readText))
	return s
}

// checkOneTrace checks that the notifications of one change have one parent span, which is the root of the trace.
func checkOneTrace(t *testing.T, rec *telemetrytest.Recording, method string, clients int) {
	t.Helper()
	parents := rec.SpansNamed("mcp_server.change "+method, trace.SpanKindInternal)
	sent := rec.SpansNamed(method, trace.SpanKindClient)
	if len(parents) != 1 || len(sent) != clients {
		t.Fatalf("%s: got %d spans of the change and %d of notifications, want 1 and %d", method, len(parents), len(sent),
			clients)
	}
	change := parents[0]
	if change.Parent().IsValid() {
		t.Errorf("%s: the span of the change has the parent %v, want none", method, change.Parent().SpanID())
	}
	want := ""
	if method == mcp.NotificationResourceUpdated {
		want = "test://a"
	}
	if got := attributesOf(change); got["mcp.method.name"] != method || got["mcp.resource.uri"] != want {
		t.Errorf("the span of the change has the attributes %v, want the method %s and the URI %q", got, method, want)
	}
	for _, s := range sent {
		if s.Parent().SpanID() != change.SpanContext().SpanID() {
			t.Errorf("%s: a notification has the parent %v, want the span of the change, %v",
				method, s.Parent().SpanID(), change.SpanContext().SpanID())
		}
	}
}

func TestChangeNotificationsShareOneTrace(t *testing.T) {
	for _, c := range changes {
		for _, versions := range [][]mcp.Version{
			{mcp.Version20251125}, {mcp.Version20260728}, {mcp.Version20251125, mcp.Version20260728},
		} {
			synctest.Test(t, func(t *testing.T) {
				rec := telemetrytest.Recorder(t)
				s := newChanging(t, rec.Telemetry())
				clients := make([]*talk, 10)
				for i := range clients {
					v := versions[i%len(versions)]
					clients[i] = speak(t, s, v)
					if v.Era() == mcp.Modern {
						clients[i].send(listenFor(1, `"toolsListChanged":true,"promptsListChanged":true,`+
							`"resourcesListChanged":true,"resourceSubscriptions":["test://a"]`))
					} else {
						clients[i].result("resources/subscribe", `"uri":"test://a"`)
					}
				}
				for range 3 { // within changeWindow, so that one notification reports all changes
					c.change(s)
				}
				time.Sleep(time.Second)
				checkOneTrace(t, rec, c.method, 10)
				for _, client := range clients {
					client.bye()
				}
			})
		}
	}
}

// A notification waits in a backlog until the session has a stream.
func TestDelayedNotificationJoinsTraceOfItsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := newChanging(t, rec.Telemetry())
		w := serveWeb(t, s, nil)
		id := w.open("2025-11-25")
		here := speak(t, s, mcp.Version20251125)
		s.ToolsChanged()
		time.Sleep(time.Minute)
		events := w.stream("GET", "", "Mcp-Session-Id", id)
		if m := events.message(); m.Method != mcp.NotificationToolListChanged {
			t.Errorf("the stream began with %+v, want the change", m)
		}
		time.Sleep(time.Second)
		checkOneTrace(t, rec, mcp.NotificationToolListChanged, 2)
		here.bye()
		events.leave()
		w.end()
	})
}

func TestChangeWithoutSubscribersHasNoSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := newChanging(t, rec.Telemetry())
		legacy, modern := speak(t, s, mcp.Version20251125), speak(t, s, mcp.Version20260728)
		modern.send(listenFor(1, `"toolsListChanged":true`))
		s.ResourceUpdated("test://a")
		time.Sleep(time.Second)
		for _, span := range rec.Spans() {
			if span.SpanKind() == trace.SpanKindInternal {
				t.Errorf("got the span %s, want none", span.Name())
			}
		}
		legacy.bye()
		modern.bye()
	})
}

func TestChangeHasNoSpanWithoutNotificationSpans(t *testing.T) {
	for name, o := range map[string]telemetry.Option{
		"notification spans": telemetry.WithNotificationSpans(func(string) bool { return false }),
		"filter": telemetry.WithFilter(func(_ context.Context, i telemetry.SpanInfo) bool {
			return i.Method != mcp.NotificationToolListChanged
		}),
	} {
		synctest.Test(t, func(t *testing.T) {
			rec := telemetrytest.Recorder(t, o)
			s := newChanging(t, rec.Telemetry())
			c := speak(t, s, mcp.Version20251125)
			s.ToolsChanged()
			time.Sleep(time.Second)
			if out := c.taken(); len(out) != 1 {
				t.Errorf("%s: got %d notifications, want 1", name, len(out))
			}
			for _, span := range rec.Spans() {
				if attributesOf(span)["mcp.method.name"] == mcp.NotificationToolListChanged {
					t.Errorf("%s: got the span %s, want none", name, span.Name())
				}
			}
			c.bye()
		})
	}
}

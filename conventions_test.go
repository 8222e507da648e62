package mcpotel_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// The tests in this file check rows of docs/telemetry/conventions.md on both ends of one connection.

// connection is a client and a server that share a recording of their telemetry.
type connection struct {
	rec    *telemetrytest.Recording
	server *mcpserver.Server
	client *mcpclient.Client
	busy   chan struct{} // receives a value when a call of the tool busy begins to wait
}

// connected connects a client of one revision to a server, in memory or over HTTP.
func connected(t *testing.T, http bool, v mcp.Version) *connection {
	t.Helper()
	rec := telemetrytest.Recorder(t, telemetry.WithNotificationSpans(func(string) bool { return true }))
	c := &connection{busy: make(chan struct{}, 1), rec: rec}
	c.server = mcpserver.New(mcp.Implementation{Name: "test", Version: "1"},
		&mcpserver.Options{Telemetry: c.rec.Telemetry(), Logging: true})
	err := c.server.AddPrompt(&mcp.Prompt{Name: "brief", Arguments: []mcp.PromptArgument{{Name: "city"}}},
		func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	err = c.server.AddCompletion(mcp.PromptRef("brief"), "city",
		func(context.Context, *mcpserver.CompleteRequest) ([]string, error) { return []string{"Oslo"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := c.server.HandleRootsChanged(func(context.Context, *mcpserver.Session) {}); err != nil {
		t.Fatal(err)
	}
	if err := c.server.AddTool(&mcp.Tool{Name: "busy"}, busy(c.busy)); err != nil {
		t.Fatal(err)
	}
	var to transport.Transport = transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		_ = c.server.Serve(ctx,
			p)
	})
	if http {
		site := httptest.NewServer(c.server.HTTPHandler(nil))
		t.Cleanup(site.Close)
		to = &transport.HTTP{URL: site.URL}
	}
	c.client, err = mcpclient.Connect(t.Context(), to,
		&mcpclient.Options{Telemetry: c.rec.Telemetry(), Versions: []mcp.Version{v}, Features: []mcpclient.Feature{
			mcpclient.UseRoots(&mcp.Root{URI: "file:///home"}), mcpclient.HandleToolListChanged(func(context.Context) {}),
			mcpclient.HandleLogMessage(func(context.Context, *mcp.LoggingMessageParams) {}),
		}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// attribute returns an attribute of the span with the name and kind. Exactly one such span must have ended.
func (c *connection) attribute(t *testing.T, name string, kind trace.SpanKind, key string) string {
	t.Helper()
	spans := c.rec.SpansNamed(name, kind)
	if len(spans) != 1 {
		t.Errorf("%v spans named %q: got %d, want 1", kind, name, len(spans))
		return ""
	}
	for _, a := range spans[0].Attributes() {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

func TestCompletionForAPromptNamesThePrompt(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		c := connected(t, false, v)
		if _, err := c.client.Complete(t.Context(), mcp.PromptRef("brief"), mcp.CompleteArgument{Name: "city"},
			nil); err != nil {
			t.Fatal(err)
		}
		_ = c.client.Close()
		for _, kind := range []trace.SpanKind{trace.SpanKindClient, trace.SpanKindServer} {
			if got := c.attribute(t, "completion/complete brief", kind, "gen_ai.prompt.name"); got != "brief" {
				t.Errorf("%s: gen_ai.prompt.name of the %v span: got %q, want brief", v, kind, got)
			}
		}
		for _, metric := range []string{"mcp.client.operation.duration", "mcp.server.operation.duration"} {
			if n := c.rec.Count(metric, "mcp.method.name", "completion/complete", "gen_ai.prompt.name", "brief"); n != 1 {
				t.Errorf("%s: %s for the prompt: got %d points, want 1", v, metric, n)
			}
		}
	}
}

// messages are the messages of a session in which both ends send each kind of message, in the form "kind name" of their
// spans.
var messages = map[mcp.Version][]string{
	mcp.Version20251125: {
		"client initialize", "server initialize", "client notifications/initialized", "server notifications/initialized",
		"client tools/call busy", "server tools/call busy", "client roots/list", "server roots/list",
		"server notifications/message",
		"client notifications/tools/list_changed", "server notifications/tools/list_changed",
		"client notifications/roots/list_changed", "server notifications/roots/list_changed",
	},
	mcp.Version20260728: {
		"client server/discover", "server server/discover", "client tools/call busy", "server tools/call busy",
		"client subscriptions/listen", "server subscriptions/listen",
		"client notifications/subscriptions/acknowledged",
		"server notifications/message",
		"client notifications/tools/list_changed", "server notifications/tools/list_changed",
		"client notifications/roots/list_changed", "server notifications/roots/list_changed",
	},
}

// busy returns a handler that asks for roots, logs, reports progress and waits until its caller cancels the call.
func busy(running chan<- struct{}) mcpserver.ToolHandler {
	return func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		var roots mcp.ListRootsResult
		if err := r.AskAll(ctx, mcpserver.AskListRoots("roots", &roots)); err != nil {
			return nil, err
		}
		if err := r.Log(ctx, mcp.LevelError, "busy", "a message"); err != nil {
			return nil, err
		}
		if err := r.Progress(ctx, 1, 2, "half"); err != nil {
			return nil, err
		}
		running <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

// converse makes a client and a server exchange all messages.
func converse(t *testing.T, c *connection) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	progress := make(chan struct{}, 1)
	go func() {
		<-c.busy
		<-progress
		cancel()
	}()
	if err := c.client.SetLogLevel(ctx, mcp.LevelDebug); err != nil {
		t.Fatal(err)
	}
	_, err := c.client.CallTool(ctx, "busy", nil,
		mcpclient.WithProgress(func(*mcp.ProgressParams) { progress <- struct{}{} }))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v, want the cancellation by its caller", err)
	}
	if err := c.client.Notify(t.Context(), mcp.NotificationRootsListChanged, nil); err != nil {
		t.Error(err)
	}
}

// spanEnds is a span processor that puts a token into the channel when a span ends.
type spanEnds chan struct{}

func (e spanEnds) OnEnd(sdktrace.ReadOnlySpan) {
	select {
	case e <- struct{}{}:
	default:
	}
}

func (e spanEnds) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (e spanEnds) Shutdown(context.Context) error                  { return nil }
func (e spanEnds) ForceFlush(context.Context) error                { return nil }

// kinds returns the messages with a recorded span.
func (c *connection) kinds() map[string]bool {
	all := map[string]bool{}
	for _, s := range c.rec.Spans() {
		all[s.SpanKind().String()+" "+s.Name()] = true
	}
	return all
}

func TestTelemetryOfEachMessageHasProtocolVersionAndSession(t *testing.T) {
	for v, all := range messages {
		for _, http := range []bool{false, true} {
			want := all
			if !http || v == mcp.Version20251125 { // over HTTP, a modern client closes the stream
				want = append(slices.Clone(all), "client notifications/cancelled", "server notifications/cancelled")
			}
			c := connected(t, http, v)
			ended := make(spanEnds, 1)
			c.rec.TracerProvider().RegisterSpanProcessor(ended)
			converse(t, c)
			var missing []string
			late := time.After(10 * time.Second)
			for waiting := true; waiting; {
				seen := c.kinds()
				if !seen["server notifications/tools/list_changed"] {
					c.server.ToolsChanged()
				}
				if missing = slices.DeleteFunc(slices.Clone(want), func(m string) bool { return seen[m] }); len(missing) == 0 {
					break
				}
				select {
				case <-ended:
				case <-late:
					waiting = false
				}
			}
			_ = c.client.Close()
			if len(missing) > 0 {
				t.Errorf("%s over HTTP %t: no spans of %q", v, http, missing)
			}
			for _, s := range c.rec.Spans() {
				attrs := map[string]string{}
				for _, a := range s.Attributes() {
					attrs[string(a.Key)] = a.Value.String()
				}
				if s.SpanKind() == trace.SpanKindInternal {
					continue // does not belong to a single message
				}
				version := string(v)
				if v == mcp.Version20260728 && !http && s.SpanKind() == trace.SpanKindServer &&
					s.Name() == mcp.NotificationRootsListChanged {
					version = "" // neither the notification nor a session or request has a version
				}
				if got := attrs["mcp.protocol.version"]; got != version {
					t.Errorf("%s over HTTP %t: version of the %v span %s: got %q", v, http, s.SpanKind(), s.Name(), got)
				}
				session := http && v == mcp.Version20251125
				if got := attrs["mcp.session.id"]; (got != "") != session {
					t.Errorf("%s over HTTP %t: session of the %v span %s: got %q, want one: %t", v, http, s.SpanKind(), s.Name(),
						got, session)
				}
			}
		}
	}
}

func TestAcknowledgementIsPartOfTheTraceOfItsSubscription(t *testing.T) {
	c := connected(t, false, mcp.Version20260728)
	changed := make(chan struct{}, 1)
	c.client.Handle(mcpclient.HandlePromptListChanged(func(context.Context) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}))
	for sent := 0; ; sent++ {
		nothing := func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) { return nil, nil }
		if err := c.server.AddPrompt(&mcp.Prompt{Name: fmt.Sprint("p", sent)}, nothing); err != nil {
			t.Fatal(err)
		}
		if err := c.client.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(changed) > 0 {
			break
		}
	}
	_ = c.client.Close()
	asked := c.rec.SpansNamed("subscriptions/listen", trace.SpanKindServer)
	told := c.rec.SpansNamed("notifications/subscriptions/acknowledged", trace.SpanKindClient)
	parents := map[trace.SpanID]int{} // the added handler may replace the client's first subscription
	for _, span := range told {
		parents[span.Parent().SpanID()]++
	}
	if len(asked) == 0 || len(told) != len(asked) {
		t.Errorf("got %d spans of subscriptions and %d of acknowledgements, want one of each", len(asked), len(told))
	}
	for _, span := range asked {
		if n := parents[span.SpanContext().SpanID()]; n != 1 {
			t.Errorf("got %d acknowledgements in the trace of a subscription, want 1", n)
		}
	}
}

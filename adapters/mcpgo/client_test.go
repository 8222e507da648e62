//lint:file-ignore SA1019 legacy peers have ping and resources/subscribe

package mcpgo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/adapters/mcpgo"
	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// piped is a server of mcp-go in this process, on pipes. Closing the pipes ends the connection.
type piped struct {
	tr   transport.Interface // transport of the client
	out  *io.PipeWriter      // the server's messages
	done chan struct{}
}

func pipe(t testing.TB, s *server.MCPServer) piped {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	p := piped{transport.NewIO(fromServer, toServer, io.NopCloser(new(nothing))), toClient, make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(p.done)
		_ = server.NewStdioServer(s).Listen(ctx, fromClient, toClient)
	}()
	t.Cleanup(func() {
		cancel()
		_ = toServer.Close()
		_ = toClient.Close()
		<-p.done
	})
	return p
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

func attributeOf(attrs []attribute.KeyValue, key string) string {
	for _, a := range attrs {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

// received returns a server and a channel with the _meta of the requests that it receives.
func received() (*server.MCPServer, chan map[string]any) {
	metas := make(chan map[string]any, 100)
	hooks := &server.Hooks{}
	hooks.AddOnRequestInitialization(func(_ context.Context, _ any, message any) error {
		var q struct {
			Method string
			Params struct {
				Meta map[string]any `json:"_meta"`
			}
		}
		if err := json.Unmarshal(message.(json.RawMessage), &q); err != nil {
			return err
		}
		if q.Method != "initialize" && q.Method != "server/discover" {
			metas <- q.Params.Meta
		}
		return nil
	})
	return theirs(server.WithHooks(hooks), server.WithPromptCapabilities(false),
		server.WithResourceCapabilities(true, true)), metas
}

func TestTraceContextKeepsUserMeta(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		r := telemetrytest.Recorder(t)
		s, metas := received()
		c := connect(t, mcpgo.WrapTransport(pipe(t, s).tr, r.Telemetry(), fleet.ClientName), version)
		q := mcp.CallToolRequest{}
		q.Params.Name = "echo"
		q.Params.Meta = &mcp.Meta{ProgressToken: "token",
			AdditionalFields: map[string]any{"example.com/key": "value", "traceparent": "another's"}}
		before := maps.Clone(q.Params.Meta.AdditionalFields)
		if _, err := c.CallTool(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if after := q.Params.Meta.AdditionalFields; !reflect.DeepEqual(after, before) {
			t.Errorf("want the caller's _meta as it was, %v, got %v", before, after)
		}
		span := r.Span("tools/call echo").SpanContext()
		want := fmt.Sprintf("00-%s-%s-01", span.TraceID(), span.SpanID())
		if meta := <-metas; meta["example.com/key"] != "value" || meta["progressToken"] != "token" ||
			meta["traceparent"] != want {
			t.Errorf("want the user's keys and the CLIENT span %s in _meta, got %v", want, meta)
		}
	})
}

func TestEveryRequestCarriesTheTraceContext(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s, metas := received()
	c := connect(t, mcpgo.WrapTransport(pipe(t, s).tr, r.Telemetry(), fleet.ClientName), legacy)
	for method, call := range map[string]func(context.Context) error{
		"ping":       c.Ping,
		"tools/list": func(ctx context.Context) error { _, err := c.ListTools(ctx, mcp.ListToolsRequest{}); return err },
		"prompts/list": func(ctx context.Context) error {
			_, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{})
			return err
		},
		"resources/list": func(ctx context.Context) error {
			_, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
			return err
		},
		"resources/subscribe": func(ctx context.Context) error {
			q := mcp.SubscribeRequest{}
			q.Params.URI = "test://x"
			_ = c.Subscribe(ctx, q) // fails: there is no such resource
			return nil
		},
	} {
		if err := call(t.Context()); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		if meta := <-metas; meta["traceparent"] == nil {
			t.Errorf("want a traceparent in the _meta of %s, got %v", method, meta)
		}
	}
}

func TestConnectionIsObservedFromAttemptToEnd(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		r := telemetrytest.Recorder(t)
		tr := mcpgo.WrapTransport(pipe(t, theirs()).tr, r.Telemetry(), fleet.ClientName)
		connect(t, tr, version)
		r.Span("mcp_client.connect")
		if n := r.Value("mcp_client.connection.state", "mcp_client.connection.state", "ready"); n != 1 {
			t.Errorf("want one client that is ready, got %d", n)
		}
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
		for _, reason := range []string{"transport_up", "negotiated", "stop_requested", "transport_closed"} {
			if n := r.Value("mcp_client.connection.transitions", "mcp_client.connection.reason", reason); n != 1 {
				t.Errorf("want one transition for %s, got %d", reason, n)
			}
		}
		sessions := r.Count("mcp.client.session.duration", "mcp.protocol.version", version)
		if want := uint64(map[string]int{modern: 0, legacy: 1}[version]); sessions != want {
			t.Errorf("want %d sessions, got %d", want, sessions)
		}
	})
}

func TestServerDeathIsLostConnection(t *testing.T) {
	r := telemetrytest.Recorder(t)
	p := pipe(t, theirs())
	c := connect(t, mcpgo.WrapTransport(transportOf(p), r.Telemetry(), fleet.ClientName), legacy)
	called := make(chan error, 1)
	go func() {
		q := mcp.CallToolRequest{}
		q.Params.Name = "wait"
		_, err := c.CallTool(t.Context(), q)
		called <- err
	}()
	fleet.Until(t, "the call to be on its way", func() bool {
		return r.Value("mcp_client.active_requests", "mcp.method.name", "tools/call") == 1
	}, func() string { return "none" })
	if err := p.out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-called; err == nil {
		t.Fatal("want the call to fail")
	}
	if got := attributeOf(r.Span("tools/call wait").Attributes(), "error.type"); got != "connection_lost" {
		t.Errorf("want the call to be lost, got %q", got)
	}
	if n := r.Value("mcp_client.connection.transitions", "mcp_client.connection.reason", "transport_down"); n != 1 {
		t.Errorf("want a lost connection, got %d", n)
	}
}

func transportOf(p piped) transport.Interface { return p.tr }

func TestCancellationSpanIsChildOfItsCall(t *testing.T) {
	r := telemetrytest.Recorder(t)
	c := connect(t, mcpgo.WrapTransport(pipe(t, theirs()).tr, r.Telemetry(), fleet.ClientName), legacy)
	url, handled := fleet.Handled(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		select {
		case <-handled:
			cancel()
		case <-ctx.Done():
		}
	}()
	q := mcp.CallToolRequest{}
	q.Params.Name, q.Params.Arguments = "wait", map[string]any{"url": url}
	if _, err := c.CallTool(ctx, q); err == nil {
		t.Fatal("want an error")
	}
	spans := fleet.Spans{Recorded: []*telemetrytest.Recording{r}}
	call := r.Span("tools/call wait").SpanContext()
	fleet.Until(t, "the cancellation", func() bool {
		found := fleet.Named(spans.All(), "CLIENT", "notifications/cancelled")
		return len(found) == 1 && found[0].ParentID == call.SpanID().String()
	}, func() string { return fmt.Sprint(spans.All()) })
}

func TestNotificationMetricsAndSpansFollowSchema(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs()
	c := connect(t, mcpgo.WrapTransport(pipe(t, s).tr, r.Telemetry(), fleet.ClientName), legacy)
	got := make(chan string, 10)
	c.OnNotification(func(n mcp.JSONRPCNotification) { got <- n.Method })
	s.SendNotificationToAllClients("notifications/progress", map[string]any{"progressToken": "t", "progress": 1})
	s.SendNotificationToAllClients("notifications/tools/list_changed", nil)
	<-got
	<-got
	spans := fleet.Spans{Recorded: []*telemetrytest.Recording{r}}
	fleet.Until(t, "both to be counted, and one span", func() bool {
		return r.Value("mcp_client.notification.messages", "mcp.method.name", "notifications/progress",
			"mcp_client.direction",
			"received") == 1 &&
			r.Value("mcp_client.notification.messages", "mcp.method.name", "notifications/tools/list_changed") == 1 &&
			len(fleet.Named(spans.All(), "SERVER", "notifications/tools/list_changed")) == 1 &&
			len(fleet.Named(spans.All(), "SERVER", "notifications/progress")) == 0
	}, func() string { return fmt.Sprint(r.Points("mcp_client.notification.messages"), spans.All()) })
	if n := r.Value("mcp_client.notification.messages", "mcp.method.name", "notifications/initialized",
		"mcp_client.direction",
		"sent"); n != 1 {
		t.Errorf("want the client's own notification to be counted, got %d", n)
	}
}

func TestSubscriptionIsStreamWithoutOpenSpan(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs(server.WithToolCapabilities(true))
	mcpgo.InstrumentServer(s, r.Telemetry(), fleet.ServerName)
	c := connect(t, mcpgo.WrapTransport(pipe(t, s).tr, r.Telemetry(), fleet.ClientName), modern)
	stop, err := c.ListenAsync(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	spans := fleet.Spans{Recorded: []*telemetrytest.Recording{r}}
	fleet.Until(t, "the spans of subscriptions/listen to end while it goes on", func() bool {
		return len(fleet.Named(spans.All(), "SERVER", "subscriptions/listen")) == 1 &&
			len(fleet.Named(spans.All(), "CLIENT", "subscriptions/listen")) == 1 && r.Value("mcp_client.stream.active") == 1
	}, func() string { return fmt.Sprint(spans.All()) })
	stop()
	if n := r.Count("mcp_client.stream.duration", "mcp_client.stream.kind", "listen"); n != 1 {
		t.Errorf("want a stream that ended, got %d", n)
	}
}

func TestHTTPErrorStatusIsRecorded(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusServiceUnavailable} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			r := telemetrytest.Recorder(t)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
			t.Cleanup(s.Close)
			tr, err := transport.NewStreamableHTTP(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			c := client.NewClient(mcpgo.WrapTransport(tr, r.Telemetry(), fleet.ClientName, mcpgo.WithEndpoint(s.URL)))
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err == nil {
				t.Fatal("want an error")
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if n := r.Count("mcp.client.operation.duration", "error.type", strconv.Itoa(status), "server.address",
				"127.0.0.1"); n == 0 {
				t.Errorf("want requests that failed with %d, got %v", status, r.Points("mcp.client.operation.duration"))
			}
		})
	}
}

func TestConcurrentCallsMayShareParams(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		r := telemetrytest.Recorder(t)
		c := connect(t, mcpgo.WrapTransport(pipe(t, theirs()).tr, r.Telemetry(), fleet.ClientName), version)
		q := mcp.CallToolRequest{}
		q.Params.Name, q.Params.Meta = "echo", &mcp.Meta{AdditionalFields: map[string]any{"a": "b"}}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 20 {
					if _, err := c.CallTool(t.Context(), q); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if n := r.Count("mcp.client.operation.duration", "gen_ai.tool.name", "echo"); n != 80 {
			t.Errorf("want 80 calls in the metric, got %d", n)
		}
	})
}

func TestCallsWorkWithTelemetryOff(t *testing.T) {
	s := theirs()
	mcpgo.InstrumentServer(s, telemetry.Off(), fleet.ServerName)
	c := connect(t, mcpgo.WrapTransport(pipe(t, s).tr, telemetry.Off(), fleet.ClientName), modern)
	q := mcp.CallToolRequest{}
	q.Params.Name = "echo"
	if _, err := c.CallTool(t.Context(), q); err != nil {
		t.Fatal(err)
	}
}

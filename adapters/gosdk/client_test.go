package gosdk_test

import (
	"context"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/adapters/gosdk"
	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// connected holds a client and a server in one process.
type connected struct {
	client  *gosdk.Client
	session *mcp.ClientSession
	server  *mcp.Server
	there   *mcp.ServerSession
	wire    net.Conn // the server's end of the connection
}

// connect connects an observed client to a server. The server is observed if its telemetry is not nil.
func connect(t *testing.T, s *mcp.Server, client, server *telemetry.Telemetry, version string,
	o *mcp.ClientOptions) connected {
	t.Helper()
	far, near := net.Pipe()
	accept := s.Connect
	if server != nil {
		accept = gosdk.InstrumentServer(s, server, fleet.ServerName).Connect
	}
	there, err := accept(context.Background(), &mcp.IOTransport{Reader: far, Writer: far}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := gosdk.InstrumentClient(mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, o), client, fleet.ClientName)
	session, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: near, Writer: near},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return connected{c, session, s, there, far}
}

// received returns a server and a channel with the _meta that one of its methods receives.
func received(method string) (*mcp.Server, chan map[string]any) {
	s, metas := theirs(), make(chan map[string]any, 100)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, m string, req mcp.Request) (mcp.Result, error) {
			if m == method {
				metas <- maps.Clone(req.GetParams().GetMeta())
			}
			return next(ctx, m, req)
		}
	})
	return s, metas
}

func TestTraceContextKeepsUserMeta(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		r := telemetrytest.Recorder(t)
		s, metas := received("tools/call")
		c := connect(t, s, r.Telemetry(), nil, version, nil)

		params := &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "x"}}
		params.SetMeta(map[string]any{"example.com/key": "value", "traceparent": "another caller's"})
		params.SetProgressToken("token")
		if version == modern { // find out which members the SDK itself adds
			if _, err := c.session.CallTool(t.Context(), params); err != nil {
				t.Fatal(err)
			}
			<-metas
		}
		before := maps.Clone(params.GetMeta())

		member, _ := baggage.NewMember("tenant", "blue")
		bag, _ := baggage.New(member)
		if _, err := c.session.CallTool(baggage.ContextWithBaggage(t.Context(), bag), params); err != nil {
			t.Fatal(err)
		}
		if after := params.GetMeta(); !reflect.DeepEqual(after, before) {
			t.Errorf("want the caller's _meta as it was, %v, got %v", before, after)
		}
		meta := <-metas
		if meta["example.com/key"] != "value" || meta["progressToken"] != "token" || meta["baggage"] != "tenant=blue" {
			t.Errorf("want the user's keys and the baggage in _meta, got %v", meta)
		}
		spans := fleet.Named((&fleet.Spans{Recorded: []*telemetrytest.Recording{r}}).All(), "CLIENT", "tools/call echo")
		last := spans[len(spans)-1]
		if want := "00-" + last.TraceID + "-" + last.ID + "-01"; meta["traceparent"] != want {
			t.Errorf("want the CLIENT span in _meta, %s, got %v", want, meta["traceparent"])
		}
	})
}

func TestConcurrentCallsMayShareParams(t *testing.T) {
	r := telemetrytest.Recorder(t)
	// legacy, because in modern sessions the SDK itself writes to the params
	c := connect(t, theirs(), r.Telemetry(), r.Telemetry(), legacy, nil)
	params := &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "x"}, Meta: mcp.Meta{"a": "b"}}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				if _, err := c.session.CallTool(t.Context(), params); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := r.Count("mcp.client.operation.duration", "gen_ai.tool.name", "echo"); n != 80 {
		t.Errorf("want 80 calls in the metric, got %d", n)
	}
}

func TestRequestsWithoutParamsCarryTheTraceContextToo(t *testing.T) {
	for method, call := range map[string]func(context.Context, *mcp.ClientSession) error{
		"tools/list": func(ctx context.Context, s *mcp.ClientSession) error { _, err := s.ListTools(ctx, nil); return err },
		"prompts/list": func(ctx context.Context, s *mcp.ClientSession) error {
			_, err := s.ListPrompts(ctx, nil)
			return err
		},
		"resources/list": func(ctx context.Context, s *mcp.ClientSession) error {
			_, err := s.ListResources(ctx, nil)
			return err
		},
		"resources/templates/list": func(ctx context.Context, s *mcp.ClientSession) error {
			_, err := s.ListResourceTemplates(ctx, nil)
			return err
		},
		"ping": func(ctx context.Context, s *mcp.ClientSession) error { return s.Ping(ctx, nil) },
	} {
		t.Run(method, func(t *testing.T) {
			r := telemetrytest.Recorder(t)
			s, metas := received(method)
			c := connect(t, s, r.Telemetry(), nil, legacy, nil)
			if err := call(t.Context(), c.session); err != nil {
				t.Fatal(err)
			}
			if meta := <-metas; meta["traceparent"] == nil {
				t.Errorf("want a traceparent in the _meta of %s, got %v", method, meta)
			}
		})
	}
}

func TestConnectionIsObservedFromAttemptToEnd(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		r := telemetrytest.Recorder(t)
		c := connect(t, theirs(), r.Telemetry(), nil, version, nil)
		attempt := r.Span("mcp_client.connect")
		if !slices.ContainsFunc(attempt.Attributes(), func(a attribute.KeyValue) bool {
			return a.Key == "mcp_client.server.name"
		}) {
			t.Errorf("attributes of the attempt: got %v, want what the server calls itself", attempt.Attributes())
		}
		handshake := map[string]string{modern: "server/discover", legacy: "initialize"}[version]
		if got := r.Span(handshake).Parent().SpanID(); got != attempt.SpanContext().SpanID() {
			t.Errorf("want the attempt as the parent of %s, got %s", handshake, got)
		}
		if n := r.Value("mcp_client.connection.state", "mcp_client.connection.state", "ready"); n != 1 {
			t.Errorf("want one client that is ready, got %d", n)
		}
		if err := c.session.Close(); err != nil {
			t.Fatal(err)
		}
		fleet.Until(t, "the end of the connection", func() bool {
			return r.Value("mcp_client.connection.transitions", "mcp_client.connection.reason", "transport_closed") == 1
		}, func() string { return "none" })
		sessions := r.Count("mcp.client.session.duration", "mcp.protocol.version", version)
		if want := uint64(map[string]int{modern: 0, legacy: 1}[version]); sessions != want {
			t.Errorf("want %d sessions, got %d", want, sessions)
		}
		if _, left := r.Metric("mcp_client.connection.state"); left {
			t.Errorf("want no client in the gauge when it is closed")
		}
	})
}

func TestServerDeathIsLostConnection(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		r := telemetrytest.Recorder(t)
		s := theirs()
		c := connect(t, s, r.Telemetry(), nil, version, nil)
		called := make(chan error, 1)
		go func() {
			_, err := c.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait"})
			called <- err
		}()
		fleet.Until(t, "the call to be on its way", func() bool {
			return r.Value("mcp_client.active_requests", "mcp.method.name", "tools/call") == 1
		}, func() string { return "none" })
		if err := c.wire.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-called; err == nil {
			t.Fatal("want the call to fail")
		}
		if got := r.Span("tools/call wait"); fleetAttribute(got.Attributes(), "error.type") != "connection_lost" {
			t.Errorf("want the call to be lost, got %v", got.Attributes())
		}
		fleet.Until(t, "the transition", func() bool {
			return r.Value("mcp_client.connection.transitions", "mcp_client.connection.reason", "transport_down") == 1
		}, func() string { return "none" })
	})
}

func TestCallAfterCloseIsLostWithoutReconnect(t *testing.T) {
	r := telemetrytest.Recorder(t)
	c := connect(t, theirs(), r.Telemetry(), nil, legacy, nil)
	if err := c.session.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := c.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo"}); err == nil {
			t.Fatal("want an error")
		}
	}
	if n := r.Count("mcp.client.operation.duration", "error.type", "connection_lost"); n != 3 {
		t.Errorf("want 3 lost calls, got %d", n)
	}
	if n := r.Value("mcp_client.connection.transitions", "mcp_client.connection.to", "initializing"); n != 1 {
		t.Errorf("want one connection, got %d", n)
	}
}

func TestPlainSDKClientIsObserved(t *testing.T) {
	r := telemetrytest.Recorder(t)
	far, near := mcp.NewInMemoryTransports()
	if _, err := theirs().Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil)
	gosdk.InstrumentClient(c, r.Telemetry(), "plain")
	session, err := c.Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.CallTool(t.Context(),
		&mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "x"}}); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	r.Span("tools/call echo")
	fleet.Until(t, "the end of the connection", func() bool {
		return r.Value("mcp_client.connection.transitions", "mcp_client.name", "plain", "mcp_client.connection.reason",
			"transport_closed") == 1
	}, func() string { return "none" })
}

func TestRefusedConnectionIsFailedAttempt(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusServiceUnavailable} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			r := telemetrytest.Recorder(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
			}))
			t.Cleanup(server.Close)
			c := gosdk.InstrumentClient(mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil), r.Telemetry(),
				"refused")
			if _, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL, MaxRetries: -1},
				nil); err == nil {
				t.Fatal("want an error")
			}
			if n := r.Value("mcp_client.connection.transitions", "mcp_client.connection.reason", "refused"); n != 1 {
				t.Errorf("want one transition to the end, got %d", n)
			}
			if n := r.Count("mcp.client.operation.duration", "error.type", strconv.Itoa(status)); n == 0 {
				t.Errorf("want requests that failed with %d, got %v", status, r.Points("mcp.client.operation.duration"))
			}
			if got := r.Span("mcp_client.connect").Status().Code.String(); got != "Error" {
				t.Errorf("want a failed attempt, got %s", got)
			}
		})
	}
}

func TestServerRequestDoesNotJoinConnectTrace(t *testing.T) {
	r := telemetrytest.Recorder(t)
	ctx, start := r.TracerProvider().Tracer("test").Start(t.Context(), "startup")
	heard := make(chan trace.SpanContext, 1)
	far, near := mcp.NewInMemoryTransports()
	there, err := theirs().Connect(t.Context(), far, nil) // the server is not observed, so it writes no trace context
	if err != nil {
		t.Fatal(err)
	}
	c := gosdk.InstrumentClient(mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			heard <- trace.SpanContextFromContext(ctx)
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	}), r.Telemetry(), "c")
	session, err := c.Connect(ctx, near, &mcp.ClientSessionOptions{ProtocolVersion: legacy})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	start.End()
	if _, err := there.Elicit(t.Context(), &mcp.ElicitParams{Message: "?"}); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got.TraceID() == start.SpanContext().TraceID() || !got.IsValid() {
		t.Errorf("want a trace of the question's own, not that of the caller that connected, got %v", got)
	}
	if got := r.Span("elicitation/create"); got.Parent().IsValid() || len(got.Links()) > 0 {
		t.Errorf("want no parent and no link, got %v and %v", got.Parent(), got.Links())
	}
}

func TestCallsWorkWithTelemetryOff(t *testing.T) {
	c := connect(t, theirs(), telemetry.Off(), telemetry.Off(), modern, nil)
	if _, err := c.session.CallTool(t.Context(),
		&mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "x"}}); err != nil {
		t.Fatal(err)
	}
}

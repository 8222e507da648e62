package mcpgo_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/adapters/mcpgo"
	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	ourtransport "github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// theirs returns mcp-go's server with the tools of the fleet.
func theirs(options ...server.ServerOption) *server.MCPServer {
	s := server.NewMCPServer(fleet.ServerName, "1", options...)
	s.AddTool(mcp.NewTool("echo"), func(_ context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(q.GetString("text", "")), nil
	})
	s.AddTool(mcp.NewTool("fail"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError(fleet.ErrFailed.Error()), nil
	})
	s.AddTool(mcp.NewTool("wait"), func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fleet.Wait(ctx, q.GetString("url", ""))
	})
	s.AddTool(mcp.NewTool("ask"), func(_ context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer := server.ElicitationResponse(q.Params.InputResponses, "name")
		if answer == nil {
			return server.NewInputRequestBuilder("state of "+q.Params.Name).Elicit("name", mcp.ElicitationParams{
				Message: fleet.Question, RequestedSchema: json.RawMessage(fleet.Form),
			}).ToolResult(), nil
		}
		content, _ := answer.Content.(map[string]any)
		name, _ := content["name"].(string)
		return mcp.NewToolResultText("Hello, " + name), nil
	})
	return s
}

// user answers the fleet's question.
type user struct{}

func (user) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{"name": fleet.User},
	}}, nil
}

// dialTheirs connects a client of mcp-go.
func dialTheirs(t *testing.T, tr transport.Interface, tel *telemetry.Telemetry, version, url string) fleet.Call {
	t.Helper()
	if tel != nil {
		tr = mcpgo.WrapTransport(tr, tel, fleet.ClientName, mcpgo.WithEndpoint(url))
	}
	return calling(connect(t, tr, version))
}

func connect(t testing.TB, tr transport.Interface, version string, options ...client.ClientOption) *client.Client {
	t.Helper()
	c := client.NewClient(tr, append(options, client.WithElicitationHandler(user{}),
		client.WithProtocolVersion(version))...)
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	q := mcp.InitializeRequest{}
	q.Params.ClientInfo = mcp.Implementation{Name: fleet.ClientName, Version: "1"}
	if _, err := c.Initialize(context.Background(), q); err != nil {
		t.Fatal(err)
	}
	return c
}

func calling(c *client.Client) fleet.Call {
	return func(ctx context.Context, tool string, arguments map[string]any) (string, bool, error) {
		q := mcp.CallToolRequest{}
		q.Params.Name, q.Params.Arguments = tool, arguments
		res, err := c.CallTool(ctx, q)
		if err != nil {
			return "", false, err
		}
		content, ok := res.Content[0].(mcp.TextContent)
		if !ok {
			return "", false, errors.New("the content is no text")
		}
		return content.Text, res.IsError, nil
	}
}

// TestMain makes the test binary a server if fleet.Child started it.
func TestMain(m *testing.M) {
	fleet.Served(map[string]func(context.Context, *telemetry.Telemetry) error{
		"ours": func(ctx context.Context, tel *telemetry.Telemetry) error { return fleet.Ours(tel).ServeStdio(ctx) },
		"theirs": func(ctx context.Context, tel *telemetry.Telemetry) error {
			s := theirs()
			mcpgo.InstrumentServer(s, tel, fleet.ServerName)
			return listen(ctx, s)
		},
		"plain": func(ctx context.Context, _ *telemetry.Telemetry) error { return listen(ctx, theirs()) },
	})
	os.Exit(m.Run())
}

func listen(ctx context.Context, s *server.MCPServer) error {
	return server.NewStdioServer(s).Listen(ctx, os.Stdin, os.Stdout)
}

// eras runs a test once for each era.
func eras(t *testing.T, test func(t *testing.T, version string)) {
	for _, version := range []string{modern, legacy} {
		t.Run(version, func(t *testing.T) { test(t, version) })
	}
}

func TestInProcess(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		r := telemetrytest.Recorder(t)
		s := theirs()
		mcpgo.InstrumentServer(s, r.Telemetry(), fleet.ServerName)
		tr := transport.NewInProcessTransportWithOptions(s, transport.WithElicitationHandler(user{}))
		fleet.Test(t, &fleet.Pair{
			Call:  calling(connect(t, mcpgo.WrapTransport(tr, r.Telemetry(), fleet.ClientName), version)),
			Spans: &fleet.Spans{Recorded: []*telemetrytest.Recording{r}}, Version: version, NoAsking: true,
		})
	})
}

func TestOverPipes(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		r := telemetrytest.Recorder(t)
		fleet.Test(t, &fleet.Pair{
			Call: both(t, r.Telemetry(), version), Spans: &fleet.Spans{Recorded: []*telemetrytest.Recording{r}},
			Version: version, Network: "pipe",
		})
	})
}

func TestOverStdio(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server string
		dial   func(t *testing.T, command string, env []string, tel *telemetry.Telemetry, version string) fleet.Call
		pair   fleet.Pair
	}{
		{"mcp-go with ours", "ours", commandTheirs, fleet.Pair{}},
		{"mcp-go with mcp-go", "theirs", commandTheirs, fleet.Pair{}},
		{"mcp-go with a plain mcp-go", "plain", commandTheirs, fleet.Pair{PlainServer: true}},
		{"ours with mcp-go", "theirs", commandOurs, fleet.Pair{}},
		{"a plain mcp-go with mcp-go", "theirs", commandPlain, fleet.Pair{PlainClient: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eras(t, func(t *testing.T, version string) {
				r := telemetrytest.Recorder(t)
				p := tt.pair
				p.Spans = &fleet.Spans{Recorded: []*telemetrytest.Recording{r}}
				if !p.PlainServer {
					p.Spans.Sink = fleet.Sink(t)
				}
				command, env := fleet.Child(t, tt.server, p.Spans.Sink)
				p.Call = tt.dial(t, command, env, r.Telemetry(), version)
				p.Version, p.Network = version, "pipe"
				fleet.Test(t, &p)
			})
		})
	}
}

func commandTheirs(t *testing.T, command string, env []string, tel *telemetry.Telemetry, version string) fleet.Call {
	tr := transport.Interface(transport.NewStdio(command, env))
	if tel != nil {
		tr = mcpgo.WrapTransport(tr, tel, fleet.ClientName)
	}
	return calling(connect(t, tr, version))
}

func commandPlain(t *testing.T, command string, env []string, _ *telemetry.Telemetry, version string) fleet.Call {
	return commandTheirs(t, command, env, nil, version)
}

func commandOurs(t *testing.T, command string, env []string, tel *telemetry.Telemetry, version string) fleet.Call {
	return fleet.Dial(t, ourtransport.Stdio{Command: command, Env: append(os.Environ(), env...)}, tel, version)
}

func TestOverHTTP(t *testing.T) {
	ours := func(t *testing.T, tel *telemetry.Telemetry) http.Handler {
		s := fleet.Ours(tel)
		t.Cleanup(func() {
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			_ = s.Shutdown(ended) // cuts the calls whose end it has not received
		})
		return s.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
	}
	observed := func(_ *testing.T, tel *telemetry.Telemetry) http.Handler {
		s := theirs()
		mcpgo.InstrumentServer(s, tel, fleet.ServerName, mcpgo.TrustTraceContext())
		return server.NewStreamableHTTPServer(s)
	}
	plain := func(*testing.T, *telemetry.Telemetry) http.Handler { return server.NewStreamableHTTPServer(theirs()) }
	streamable := func(t *testing.T, url string, tel *telemetry.Telemetry, version string) fleet.Call {
		tr, err := transport.NewStreamableHTTP(url)
		if err != nil {
			t.Fatal(err)
		}
		return dialTheirs(t, tr, tel, version, url)
	}
	for _, tt := range []struct {
		name   string
		server func(*testing.T, *telemetry.Telemetry) http.Handler
		dial   func(t *testing.T, url string, tel *telemetry.Telemetry, version string) fleet.Call
		pair   fleet.Pair
	}{
		{"mcp-go with ours", ours, streamable, fleet.Pair{Unheard: true}},
		{"mcp-go with mcp-go", observed, streamable, fleet.Pair{}},
		{"mcp-go with a plain mcp-go", plain, streamable, fleet.Pair{PlainServer: true}},
		{"ours with mcp-go", observed, func(t *testing.T, url string, tel *telemetry.Telemetry, version string) fleet.Call {
			return fleet.Dial(t, &ourtransport.HTTP{URL: url}, tel, version)
		}, fleet.Pair{}},
		{"a plain mcp-go with mcp-go", observed,
			func(t *testing.T, url string, _ *telemetry.Telemetry, version string) fleet.Call {
				return streamable(t, url, nil, version)
			}, fleet.Pair{PlainClient: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eras(t, func(t *testing.T, version string) {
				r := telemetrytest.Recorder(t)
				p := tt.pair
				p.Spans = &fleet.Spans{Recorded: []*telemetrytest.Recording{r}}
				p.HTTPSpans = true
				p.Unheard = p.Unheard && version == legacy // in the modern era, mcp-go disconnects, which ends the request
				s := httptest.NewServer(withSpans(p.Spans.Tracer(), tt.server(t, r.Telemetry())))
				t.Cleanup(s.Close)
				p.Call = tt.dial(t, s.URL, r.Telemetry(), version)
				p.Version, p.Network = version, "tcp"
				fleet.Test(t, &p)
			})
		})
	}
}

// withSpans gives each HTTP request a span, as otelhttp does.
func withSpans(tracer trace.Tracer, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := tracer.Start(r.Context(), "HTTP", trace.WithSpanKind(trace.SpanKindServer), trace.WithNewRoot())
		defer span.End()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// both returns a function that calls a server on pipes in this process. Client and server are observed.
func both(t testing.TB, tel *telemetry.Telemetry, version string) fleet.Call {
	t.Helper()
	s := theirs()
	mcpgo.InstrumentServer(s, tel, fleet.ServerName)
	return calling(connect(t, mcpgo.WrapTransport(pipe(t, s).tr, tel, fleet.ClientName), version))
}

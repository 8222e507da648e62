package gosdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/adapters/gosdk"
	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// theirs returns the SDK's server with the tools of the fleet.
func theirs() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: fleet.ServerName, Version: "1"}, nil)
	type none struct{}
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct {
		Text string `json:"text"`
	}) (*mcp.CallToolResult, any, error) {
		return text(in.Text), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "fail"},
		func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
			return nil, nil, fleet.ErrFailed
		})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, in struct {
		URL string `json:"url,omitempty"`
	}) (*mcp.CallToolResult, any, error) {
		return nil, nil, fleet.Wait(ctx, in.URL)
	})
	s.AddTool(&mcp.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, ask)
	return s
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// ask asks the user for a name, in the way of the client's revision.
func ask(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	question := &mcp.ElicitParams{Mode: "form", Message: fleet.Question, RequestedSchema: json.RawMessage(fleet.Form)}
	if r.ProtocolVersion() < modern {
		answer, err := r.Session.Elicit(ctx, question)
		if err != nil {
			return nil, err
		}
		return text("Hello, " + answer.Content["name"].(string)), nil
	}
	if answer, ok := r.Params.InputResponses["name"].(*mcp.ElicitResult); ok {
		return text("Hello, " + answer.Content["name"].(string)), nil
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": question}}, nil
}

// dialTheirs connects a client of the SDK.
func dialTheirs(t *testing.T, tr mcp.Transport, tel *telemetry.Telemetry, version string) fleet.Call {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: fleet.ClientName, Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": fleet.User}}, nil
		},
	})
	connect := c.Connect
	if tel != nil {
		connect = gosdk.InstrumentClient(c, tel, fleet.ClientName).Connect
	}
	session, err := connect(t.Context(), tr, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return calling(session)
}

func calling(session *mcp.ClientSession) fleet.Call {
	return func(ctx context.Context, tool string, arguments map[string]any) (string, bool, error) {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			return "", false, err
		}
		content, ok := res.Content[0].(*mcp.TextContent)
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
			gosdk.InstrumentServer(s, tel, fleet.ServerName)
			return s.Run(ctx, &mcp.StdioTransport{})
		},
		"plain": func(ctx context.Context, _ *telemetry.Telemetry) error {
			return theirs().Run(ctx, &mcp.StdioTransport{})
		},
	})
	os.Exit(m.Run())
}

// eras runs a test once for each era.
func eras(t *testing.T, test func(t *testing.T, version string)) {
	for _, version := range []string{modern, legacy} {
		t.Run(version, func(t *testing.T) { test(t, version) })
	}
}

func TestSDKWithSDKInMemory(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		r := telemetrytest.Recorder(t)
		fleet.Test(t, &fleet.Pair{
			Call: both(t, r.Telemetry(), version), Spans: &fleet.Spans{Recorded: []*telemetrytest.Recording{r}},
			Version: version, OneSpan: true,
		})
	})
}

func TestOurClientWithSDKServerInMemory(t *testing.T) {
	eras(t, func(t *testing.T, version string) {
		r := telemetrytest.Recorder(t)
		s := gosdk.InstrumentServer(theirs(), r.Telemetry(), fleet.ServerName)
		call := fleet.Dial(t, transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
			if session, err := s.Connect(ctx, frames{peer}, nil); err == nil {
				_ = session.Wait()
			}
		}), r.Telemetry(), version)
		fleet.Test(t, &fleet.Pair{Call: call, Spans: &fleet.Spans{Recorded: []*telemetrytest.Recording{r}}, Version: version})
	})
}

// frames makes the end of an in-memory connection of this module a transport of the SDK.
type frames struct{ *transport.Peer }

func (f frames) Connect(context.Context) (mcp.Connection, error) { return f, nil }
func (f frames) SessionID() string                               { return "" }

func (f frames) Read(ctx context.Context) (jsonrpc.Message, error) {
	frame, err := f.Receive(ctx)
	if err != nil {
		return nil, err
	}
	return jsonrpc.DecodeMessage(frame)
}

func (f frames) Write(ctx context.Context, m jsonrpc.Message) error {
	frame, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return f.Send(ctx, frame)
}

func TestOverStdio(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server string
		dial   func(t *testing.T, command string, env []string, tel *telemetry.Telemetry, version string) fleet.Call
		pair   fleet.Pair
	}{
		{"SDK with ours", "ours", commandTheirs, fleet.Pair{OneSpan: true}},
		{"SDK with SDK", "theirs", commandTheirs, fleet.Pair{OneSpan: true}},
		{"SDK with a plain SDK", "plain", commandTheirs, fleet.Pair{OneSpan: true, PlainServer: true}},
		{"ours with SDK", "theirs", commandOurs, fleet.Pair{}},
		{"a plain SDK with SDK", "theirs", commandPlain, fleet.Pair{PlainClient: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eras(t, func(t *testing.T, version string) {
				r := telemetrytest.Recorder(t)
				p := tt.pair
				p.Spans = &fleet.Spans{Recorded: []*telemetrytest.Recording{r}, Sink: fleet.Sink(t)}
				if p.PlainServer {
					p.Spans.Sink = nil
				}
				command, env := fleet.Child(t, tt.server, p.Spans.Sink)
				p.Call = tt.dial(t, command, append(os.Environ(), env...), r.Telemetry(), version)
				p.Version, p.Network = version, "pipe"
				fleet.Test(t, &p)
			})
		})
	}
}

func commandTheirs(t *testing.T, command string, env []string, tel *telemetry.Telemetry, version string) fleet.Call {
	cmd := exec.Command(command)
	cmd.Env, cmd.Stderr = env, os.Stderr
	return dialTheirs(t, &mcp.CommandTransport{Command: cmd}, tel, version)
}

func commandPlain(t *testing.T, command string, env []string, _ *telemetry.Telemetry, version string) fleet.Call {
	return commandTheirs(t, command, env, nil, version)
}

func commandOurs(t *testing.T, command string, env []string, tel *telemetry.Telemetry, version string) fleet.Call {
	return fleet.Dial(t, transport.Stdio{Command: command, Env: env}, tel, version)
}

func TestOverHTTP(t *testing.T) {
	ours := func(tel *telemetry.Telemetry, _ string) http.Handler {
		return fleet.Ours(tel).HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
	}
	sdk := func(tel *telemetry.Telemetry, version string) http.Handler {
		s := theirs()
		gosdk.InstrumentServer(s, tel, fleet.ServerName, gosdk.TrustTraceContext())
		return sdkHandler(s, version)
	}
	plain := func(_ *telemetry.Telemetry, version string) http.Handler { return sdkHandler(theirs(), version) }
	streamable := func(t *testing.T, url string, tel *telemetry.Telemetry, version string) fleet.Call {
		return dialTheirs(t, &mcp.StreamableClientTransport{Endpoint: url}, tel, version)
	}
	for _, tt := range []struct {
		name   string
		server func(tel *telemetry.Telemetry, version string) http.Handler
		dial   func(t *testing.T, url string, tel *telemetry.Telemetry, version string) fleet.Call
		pair   fleet.Pair
	}{
		{"SDK with ours", ours, streamable, fleet.Pair{OneSpan: true}},
		{"SDK with SDK", sdk, streamable, fleet.Pair{OneSpan: true}},
		{"SDK with a plain SDK", plain, streamable, fleet.Pair{OneSpan: true, PlainServer: true}},
		{"ours with SDK", sdk, func(t *testing.T, url string, tel *telemetry.Telemetry, version string) fleet.Call {
			return fleet.Dial(t, &transport.HTTP{URL: url}, tel, version)
		}, fleet.Pair{}},
		{"a plain SDK with SDK", sdk, func(t *testing.T, url string, _ *telemetry.Telemetry, version string) fleet.Call {
			return streamable(t, url, nil, version)
		}, fleet.Pair{PlainClient: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eras(t, func(t *testing.T, version string) {
				r := telemetrytest.Recorder(t)
				p := tt.pair
				p.Spans = &fleet.Spans{Recorded: []*telemetrytest.Recording{r}}
				p.HTTPSpans = true
				server := httptest.NewServer(withSpans(p.Spans.Tracer(), tt.server(r.Telemetry(), version)))
				t.Cleanup(server.Close)
				p.Call = tt.dial(t, server.URL, r.Telemetry(), version)
				p.Version, p.Network = version, "tcp"
				fleet.Test(t, &p)
			})
		})
	}
}

// sdkHandler returns the SDK's HTTP handler: with sessions for the legacy era, and without sessions for the modern era.
func sdkHandler(s *mcp.Server, version string) http.Handler {
	return gosdk.HTTPHandler(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: version == modern, PropagateRequestCancellation: true}))
}

// withSpans gives each HTTP request a span, as otelhttp does.
func withSpans(tracer trace.Tracer, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := tracer.Start(r.Context(), "HTTP", trace.WithSpanKind(trace.SpanKindServer), trace.WithNewRoot())
		defer span.End()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// both returns a function that calls a server in this process. Client and server are observed.
func both(t *testing.T, tel *telemetry.Telemetry, version string) fleet.Call {
	t.Helper()
	there, here := mcp.NewInMemoryTransports()
	if _, err := gosdk.InstrumentServer(theirs(), tel, fleet.ServerName).
		Connect(context.Background(), there, nil); err != nil {
		t.Fatal(err)
	}
	return dialTheirs(t, here, tel, version)
}

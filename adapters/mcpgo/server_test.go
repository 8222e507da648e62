package mcpgo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/adapters/mcpgo"
	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func call(t *testing.T, s *server.MCPServer, tool string) (*mcp.CallToolResult, error) {
	t.Helper()
	q := mcp.CallToolRequest{}
	q.Params.Name = tool
	return connect(t, pipe(t, s).tr, legacy).CallTool(t.Context(), q)
}

func TestHandlerContextHasServerSpan(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs()
	spans := make(chan [2]trace.SpanContext, 1)
	s.AddTool(mcp.NewTool("look"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		derived, cancel := context.WithCancel(context.WithValue(ctx, t, t))
		defer cancel()
		spans <- [2]trace.SpanContext{trace.SpanContextFromContext(ctx), trace.SpanContextFromContext(derived)}
		return mcp.NewToolResultText("seen"), nil
	})
	mcpgo.InstrumentServer(s, r.Telemetry(), fleet.ServerName)
	if _, err := call(t, s, "look"); err != nil {
		t.Fatal(err)
	}
	fleet.Until(t, "the SERVER span", func() bool {
		return r.Count("mcp.server.operation.duration", "gen_ai.tool.name", "look") == 1
	}, func() string { return "none" })
	want := r.Span("tools/call look").SpanContext().SpanID()
	if got := <-spans; got[0].SpanID() != want || got[1].SpanID() != want {
		t.Errorf("want the handler under the SERVER span %s, got %v", want, got)
	}
}

func TestUserHooksAreKept(t *testing.T) {
	r := telemetrytest.Recorder(t)
	hooks, heard := &server.Hooks{}, make(chan string, 10)
	hooks.AddOnSuccess(func(_ context.Context, _ any, method mcp.MCPMethod, _, _ any) { heard <- string(method) })
	s := theirs(server.WithHooks(hooks))
	mcpgo.InstrumentServer(s, r.Telemetry(), fleet.ServerName)
	if _, err := call(t, s, "echo"); err != nil {
		t.Fatal(err)
	}
	if first, second := <-heard, <-heard; first != "initialize" || second != "tools/call" {
		t.Errorf("want the user's hooks to hear of both requests, got %s and %s", first, second)
	}
}

func TestPanicIsRecordedAndLeftToServerRecovery(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs(server.WithRecovery())
	s.AddTool(mcp.NewTool("panic"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic("out of cheese")
	})
	mcpgo.InstrumentServer(s, r.Telemetry(), fleet.ServerName)
	if _, err := call(t, s, "panic"); err == nil {
		t.Fatal("want an error")
	}
	fleet.Until(t, "the SERVER span", func() bool {
		return r.Count("mcp.server.operation.duration", "gen_ai.tool.name", "panic") == 1
	}, func() string { return "none" })
	if got := attributeOf(r.Span("tools/call panic").Attributes(), "error.type"); got != "-32603" {
		t.Errorf("want the internal error that the client gets, got %q", got)
	}
	if n := r.Value("mcp_server.handler.panics", "mcp.method.name", "tools/call"); n != 1 {
		t.Errorf("want one panic, got %d", n)
	}
	if got := r.Log("mcp_server.handler.panic").Text("exception.message"); got != "out of cheese" {
		t.Errorf("want the value in the log, got %q", got)
	}
}

func TestGoexitInHandlerEndsItsOperation(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs()
	s.AddTool(mcp.NewTool("exit"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		runtime.Goexit()
		return nil, nil
	})
	mcpgo.InstrumentServer(s, r.Telemetry(), fleet.ServerName)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.HandleMessage(t.Context(),
			json.RawMessage(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"exit"}}`))
	}()
	<-done
	if n := r.Count("mcp.server.operation.duration", "gen_ai.tool.name", "exit", "error.type", "panic"); n != 1 {
		t.Errorf("want one operation that ended with the handler, got %d", n)
	}
	if n := r.Value("mcp_server.handler.panics", "mcp.method.name", "tools/call"); n != 1 {
		t.Errorf("want the end of the goroutine counted once, got %d", n)
	}
}

func TestUnknownNamesAreNotMetricAttributes(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs()
	mcpgo.InstrumentServer(s, r.Telemetry(), fleet.ServerName)
	c := connect(t, pipe(t, s).tr, modern)
	for i := range 300 {
		q := mcp.CallToolRequest{}
		q.Params.Name = "made-up-" + strconv.Itoa(i)
		if _, err := c.CallTool(t.Context(), q); err == nil {
			t.Fatal("want an error")
		}
	}
	q := mcp.CallToolRequest{}
	q.Params.Name = "echo"
	if _, err := c.CallTool(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	fleet.Until(t, "all calls", func() bool {
		return r.Count("mcp.server.operation.duration", "mcp.method.name", "tools/call") == 301
	}, func() string { return "fewer" })
	if points := r.Points("mcp.server.operation.duration", "mcp.method.name", "tools/call"); len(points) != 2 {
		t.Errorf("want the one tool that was called and _OTHER, got %v", points)
	}
}

func TestRequestsRefusedBeforeParsingAreObserved(t *testing.T) {
	for _, tt := range []struct{ message, name, code string }{
		{`{"jsonrpc":"2.0","id":7,"method":"no/such"}`, "_OTHER", "-32601"},
		{`{"jsonrpc":"2.0","id":7,"method":"prompts/list"}`, "prompts/list", "-32601"},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":7}`, "tools/call", "-32600"},
	} {
		t.Run(tt.message, func(t *testing.T) {
			r := telemetrytest.Recorder(t)
			s := theirs()
			mcpgo.InstrumentServer(s, r.Telemetry(), fleet.ServerName)
			answer := s.HandleMessage(t.Context(), json.RawMessage(tt.message))
			if _, refused := answer.(mcp.JSONRPCError); !refused {
				t.Fatalf("want an error, got %v", answer)
			}
			spans := r.Spans()
			if len(spans) != 1 || attributeOf(spans[0].Attributes(), "rpc.response.status_code") != tt.code {
				t.Fatalf("want one span with the code %s, got %v", tt.code, spans)
			}
		})
	}
}

// TestWrappedSessionKeepsInterfaces compares the sessions that handlers get with mcp-go's own sessions: mcp-go
// finds the abilities of a session by type assertions.
func TestWrappedSessionKeepsInterfaces(t *testing.T) {
	for _, tt := range []struct {
		name string
		dial func(t *testing.T, s *server.MCPServer) transport.Interface
	}{
		{"stdio", func(t *testing.T, s *server.MCPServer) transport.Interface { return pipe(t, s).tr }},
		{"http", func(t *testing.T, s *server.MCPServer) transport.Interface {
			h := httptest.NewServer(server.NewStreamableHTTPServer(s))
			t.Cleanup(h.Close)
			tr, err := transport.NewStreamableHTTP(h.URL)
			if err != nil {
				t.Fatal(err)
			}
			return tr
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := telemetrytest.Recorder(t)
			hooks, sessions := &server.Hooks{}, make(chan server.ClientSession, 2)
			hooks.AddBeforeAny(func(ctx context.Context, _ any, method mcp.MCPMethod, _ any) { // runs before the adapter's hook
				if method == mcp.MethodToolsCall {
					sessions <- server.ClientSessionFromContext(ctx)
				}
			})
			s := theirs(server.WithHooks(hooks))
			s.AddTool(mcp.NewTool("look"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				sessions <- server.ClientSessionFromContext(ctx)
				return mcp.NewToolResultText("seen"), nil
			})
			mcpgo.InstrumentServer(s, r.Telemetry(), fleet.ServerName)
			q := mcp.CallToolRequest{}
			q.Params.Name = "look"
			if _, err := connect(t, tt.dial(t, s), legacy).CallTool(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			plain, ours := reflect.TypeOf(<-sessions), reflect.TypeOf(<-sessions)
			if plain == ours {
				t.Fatalf("want a session of ours in the handler, got %v", ours)
			}
			for m := range plain.Methods() {
				if twin, ok := ours.MethodByName(m.Name); !ok ||
					fmt.Sprint(twin.Type.NumIn(), twin.Type.NumOut()) != fmt.Sprint(m.Type.NumIn(), m.Type.NumOut()) {
					t.Errorf("want %s on the session that handlers get", m.Name)
				}
			}
		})
	}
}

func TestServerSessionDurationIsMeasured(t *testing.T) {
	r := telemetrytest.Recorder(t)
	s := theirs()
	mcpgo.InstrumentServer(s, r.Telemetry(), fleet.ServerName)
	p := pipe(t, s)
	c := connect(t, p.tr, legacy)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	<-p.done
	if n := r.Count("mcp.server.session.duration", "mcp.protocol.version", legacy); n != 1 {
		t.Errorf("want one session, got %d", n)
	}
}

func TestAnonymousHTTPClientCannotControlTraces(t *testing.T) {
	const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	for name, opts := range map[string][]mcpgo.ServerOption{"stranger": nil, "trusted": {mcpgo.TrustTraceContext()}} {
		t.Run(name, func(t *testing.T) {
			r := telemetrytest.Recorder(t)
			s := theirs()
			mcpgo.InstrumentServer(s, r.Telemetry(), fleet.ServerName, opts...)
			h := httptest.NewServer(server.NewStreamableHTTPServer(s, server.WithStateLess(true)))
			defer h.Close()
			resp, err := http.Post(h.URL, "application/json",
				strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo",`+
					`"_meta":{"traceparent":"00-`+traceID+`-00f067aa0ba902b7-01"}}}`))
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			fleet.Until(t, "the SERVER span", func() bool {
				return r.Count("mcp.server.operation.duration", "gen_ai.tool.name", "echo") == 1
			},
				func() string { return resp.Status })
			if within := r.Span("tools/call echo").SpanContext().TraceID().String() == traceID; within != (opts != nil) {
				t.Errorf("the span is in the client's trace: %t", within)
			}
		})
	}
}

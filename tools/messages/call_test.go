package messages

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// offering returns a server with the tools of these tests.
func offering(t *testing.T, o *mcpserver.Options) *mcptest.Server {
	t.Helper()
	s := mcptest.NewServer(t, o)
	err := errors.Join(
		mcpserver.AddTool(s.Server, &mcp.Tool{Name: "forecast"},
			func(_ context.Context, in struct {
				City string `json:"city"`
			}) (string, error) {
				return in.City, nil
			}),
		mcpserver.AddTool(s.Server, &mcp.Tool{Name: "stuck"}, func(ctx context.Context, _ struct{}) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}),
		mcpserver.AddTool(s.Server, &mcp.Tool{Name: "refuses"}, func(context.Context, struct{}) (string, error) {
			return "", errors.New("there is no forecast for the moon")
		}),
		s.AddTool(&mcp.Tool{Name: "fails"},
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, errors.New("database is down")
			}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// calling returns a test of a call to a server with tools. The test returns the error of the call.
func calling(call func(ctx context.Context, c *mcpclient.Client, s *mcptest.Server) error,
	set ...func(*mcpclient.Options)) func(t *testing.T) error {
	return func(t *testing.T) error {
		s := offering(t, nil)
		o := &mcpclient.Options{Telemetry: telemetry.Off()}
		for _, set := range set {
			set(o)
		}
		return call(t.Context(), connected(t, s, o), s)
	}
}

// callTool returns a test of a tool call.
func callTool(name string, arguments any, options ...mcpclient.CallOption) func(context.Context, *mcpclient.Client,
	*mcptest.Server) error {
	return func(ctx context.Context, c *mcpclient.Client, _ *mcptest.Server) error {
		result, err := c.CallTool(ctx, name, arguments, options...)
		if err == nil {
			err = result.Err()
		}
		return err
	}
}

// answered returns a test of a call to a server whose response the function answer sends.
func answered(answer func(c *mcptest.Conversation, call mcptest.Message), set ...func(*mcpclient.Options),
) func(t *testing.T) error {
	return func(t *testing.T) error {
		script := mcptest.NewScript(t)
		o := &mcpclient.Options{Telemetry: telemetry.Off()}
		for _, set := range set {
			set(o)
		}
		c, err := mcpclient.New(script, o)
		if err != nil {
			t.Fatal(err)
		}
		defer stop(t, c)
		server := script.Accept().Handshake(mcp.Version20251125)
		if err := c.WaitForReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		result := make(chan error, 1)
		go func() { result <- callTool("forecast", nil)(t.Context(), c, nil) }()
		answer(server, server.Expect(mcp.MethodCallTool))
		return <-result
	}
}

var callMessages = chapter{"a call", []complaint{
	{"while the client connects", func(t *testing.T) error {
		script := mcptest.NewScript(t)
		c, err := mcpclient.New(script, &mcpclient.Options{Telemetry: telemetry.Off()})
		if err != nil {
			t.Fatal(err)
		}
		defer stop(t, c)
		script.Accept().Expect(mcp.MethodDiscover)
		return c.Ping(t.Context())
	}},
	{"between two attempts", func(t *testing.T) error {
		return unready(t, func(c *mcpclient.Client) error { return c.Ping(t.Context()) })
	}},
	{"between two attempts, with WaitForReady", func(t *testing.T) error {
		return unready(t, func(c *mcpclient.Client) error {
			return c.Ping(t.Context(), mcpclient.WaitForReady(), mcpclient.WithTimeout(50*time.Millisecond))
		})
	}},
	{"after Close", calling(func(ctx context.Context, c *mcpclient.Client, _ *mcptest.Server) error {
		return errors.Join(c.Close(), c.Ping(ctx))
	})},
	{"after Shutdown", calling(func(ctx context.Context, c *mcpclient.Client, _ *mcptest.Server) error {
		return errors.Join(c.Shutdown(ctx), c.Ping(ctx))
	})},
	{"after the client has given up", func(t *testing.T) error {
		c, err := mcpclient.New(transport.Stdio{Command: "mcp-no-such-server"}, once())
		if err != nil {
			t.Fatal(err)
		}
		defer stop(t, c)
		<-c.Done()
		return c.Ping(t.Context())
	}},
	{"no answer in time", calling(callTool("stuck", nil, mcpclient.WithTimeout(10*time.Millisecond)))},
	{"no answer in the time of all calls", calling(callTool("stuck", nil),
		func(o *mcpclient.Options) { o.RequestTimeout = 10 * time.Millisecond })},
	{"no answer in the time of a call that may be repeated", calling(callTool("stuck", nil,
		mcpclient.WithTimeout(10*time.Millisecond), mcpclient.Retry(2)))},
	{"no answer within the caller's context", calling(func(ctx context.Context, c *mcpclient.Client,
		s *mcptest.Server) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		return callTool("stuck", nil)(ctx, c, s)
	})},
	{"the caller has left", calling(func(ctx context.Context, c *mcpclient.Client, s *mcptest.Server) error {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return callTool("stuck", nil)(ctx, c, s)
	})},
	{"the server is killed", answered(func(c *mcptest.Conversation, _ mcptest.Message) { c.Close() })},
	{"a process exits during the call", func(t *testing.T) error {
		c := connected(t, shell(`read -r probe; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'
			read -r initialize; echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},`+
			`"serverInfo":{"name":"x","version":"1"}}}'
			read -r initialized; read -r call; echo 'segmentation fault' >&2; exit 139`), nil)
		return callTool("forecast", nil)(t.Context(), c, nil)
	}},
	{"the server is busy", calling(func(ctx context.Context, c *mcpclient.Client, s *mcptest.Server) error {
		s.Busy(100, 0)
		return callTool("forecast", nil)(ctx, c, s)
	})},
	{"the server does not read", func(t *testing.T) error {
		c := connected(t, shell(`read -r probe; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'
			read -r initialize; echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},`+
			`"serverInfo":{"name":"x","version":"1"}}}'
			read -r initialized; exec sleep 60`), &mcpclient.Options{Telemetry: telemetry.Off(), Limits: mcpclient.Limits{SendQueue: 1000}})
		large := map[string]any{"text": strings.Repeat("x", 1<<20)}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first := make(chan struct{})
		go func() { defer close(first); _ = callTool("forecast", large)(ctx, c, nil) }()
		defer func() { <-first }()
		defer cancel()
		var err error
		for err == nil || !errors.Is(err, mcpclient.ErrBackpressure) {
			err = callTool("forecast", large, mcpclient.WithTimeout(time.Second))(ctx, c, nil)
		}
		return err
	}},
	{"an answer over the limit", answered(func(c *mcptest.Conversation, call mcptest.Message) {
		c.Answer(call, `{"content":[{"type":"text","text":"`+strings.Repeat("x", 5000)+`"}]}`)
	}, func(o *mcpclient.Options) { o.Limits.Frame = 4096 })},
	{"an answer over the limit, with SkipOversize", answered(func(c *mcptest.Conversation, call mcptest.Message) {
		c.Answer(call, `{"content":[{"type":"text","text":"`+strings.Repeat("x", 5000)+`"}]}`)
	}, func(o *mcpclient.Options) { o.Limits.Frame, o.Limits.SkipOversize = 4096, true })},
	{"a request over the server's limit",
		calling(callTool("forecast", map[string]any{"city": strings.Repeat("x", 17<<20)}))},
	{"an answer that is no result of the method", answered(func(c *mcptest.Conversation, call mcptest.Message) {
		c.Answer(call, `{"content":"sunny"}`)
	})},
	{"an answer with both a result and an error", answered(func(c *mcptest.Conversation, call mcptest.Message) {
		c.Send(`{"jsonrpc":"2.0","id":` + string(call.ID) + `,"result":{},"error":{"code":1,"message":"x"}}`)
	})},
	{"unknown tool", calling(callTool("forcast", nil))},
	{"unknown tool of a member of a group", func(t *testing.T) error {
		return grouped(t, "weather_forcast")
	}},
	{"unknown member of a group", func(t *testing.T) error { return grouped(t, "wether_forecast") }},
	{"unknown client of a group", func(t *testing.T) error {
		g := group(t)
		_, err := g.Client("wether")
		return err
	}},
	{"arguments that are no object", calling(callTool("forecast", []string{"Oslo"}))},
	{"arguments that are JSON text in a string", calling(callTool("forecast", `{"city":"Oslo"}`))},
	{"arguments that cannot be encoded", calling(callTool("forecast", map[string]any{"city": func() {}}))},
	{"arguments that the tool's schema refuses", calling(callTool("forecast", map[string]any{"city": 7}))},
	{"an argument is missing", calling(callTool("forecast", nil))},
	{"the tool says no", calling(callTool("refuses", nil))},
	{"the handler fails", calling(callTool("fails", nil))},
	{"output that breaks its schema", func(t *testing.T) error {
		s := mcptest.NewServer(t, nil)
		tool := &mcp.Tool{Name: "forecast", InputSchema: []byte(`{"type":"object"}`),
			OutputSchema: []byte(`{"type":"object","properties":{"celsius":{"type":"number"}},"required":["celsius"]}`)}
		err := s.AddTool(tool, func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: []byte(`{"celsius":"warm"}`)}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c := connected(t, s, nil)
		_, err = mcpclient.CallToolAs[map[string]any](t.Context(), c, "forecast", nil)
		return err
	}},
	{"a method that the server does not have", calling(func(ctx context.Context, c *mcpclient.Client,
		_ *mcptest.Server) error {
		return c.Call(ctx, "sales/forecast", nil, nil)
	})},
	{"a prompt of a server without prompts", calling(func(ctx context.Context, c *mcpclient.Client,
		_ *mcptest.Server) error {
		_, err := c.GetPrompt(ctx, "greet", nil)
		return err
	})},
	{"a log level of a server that does not log", answeredBy(func(ctx context.Context, c *mcpclient.Client) error {
		return c.SetLogLevel(ctx, mcp.LevelInfo)
	})},
	{"a resource that changes, of a server that tells no changes", answeredBy(func(ctx context.Context,
		c *mcpclient.Client) error {
		return c.SubscribeResource(ctx, "file:///a")
	})},
	{"roots of a client without", calling(func(ctx context.Context, c *mcpclient.Client, _ *mcptest.Server) error {
		return c.SetRoots(ctx)
	})},
}}

// answeredBy returns a test of an operation of a client with a legacy server that has only tools.
func answeredBy(do func(context.Context, *mcpclient.Client) error) func(t *testing.T) error {
	return func(t *testing.T) error {
		script := mcptest.NewScript(t)
		c, err := mcpclient.New(script, &mcpclient.Options{Telemetry: telemetry.Off()})
		if err != nil {
			t.Fatal(err)
		}
		defer stop(t, c)
		script.Accept().Handshake(mcp.Version20251125)
		if err := c.WaitForReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		return do(t.Context(), c)
	}
}

// unready returns the error of an operation of a client after its first attempt to connect has failed.
func unready(t *testing.T, do func(c *mcpclient.Client) error) error {
	s := mcptest.NewServer(t, nil)
	s.Refuse(errors.New("connect to mcp.example.com: connection refused"))
	c, err := mcpclient.New(s, &mcpclient.Options{Telemetry: telemetry.Off(), Backoff: mcpclient.Backoff{Min: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, c)
	if err := c.WaitForState(t.Context(), connstate.Backoff); err != nil {
		t.Fatal(err)
	}
	return do(c)
}

func group(t *testing.T) *mcpclient.Group {
	t.Helper()
	g, err := mcpclient.NewGroup([]mcpclient.Member{
		{Name: "weather", Transport: offering(t, nil)}, {Name: "github", Transport: offering(t, nil)},
	}, &mcpclient.GroupOptions{Options: &mcpclient.Options{Telemetry: telemetry.Off()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	if err := g.WaitForReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

// grouped returns the error of a tool call to a group.
func grouped(t *testing.T, tool string) error {
	_, err := group(t).CallTool(t.Context(), tool, nil)
	return err
}

package benchmarks

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// operations are typical uses of a client: lists, reads and calls of each kind are among them.
var operations = []struct {
	name string
	do   func(context.Context, *mcpclient.Client) error
}{
	{"ListTools", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.ListTools(ctx, nil)
		return err
	}},
	{"Tools", func(ctx context.Context, c *mcpclient.Client) error {
		for _, err := range c.Tools(ctx) {
			return err
		}
		return nil
	}},
	{"CallTool", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.CallTool(ctx, "echo", listedPath{})
		return err
	}},
	{"CallToolAs", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := mcpclient.CallToolAs[listedPath](ctx, c, "echo", listedPath{})
		return err
	}},
	{"CallToolRaw", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.CallToolRaw(ctx, &mcp.CallToolParams{Name: "echo", Arguments: listedPath{}})
		return err
	}},
	{"ListResources", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.ListResources(ctx, nil)
		return err
	}},
	{"ReadResource", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.ReadResource(ctx, "file:///motd")
		return err
	}},
	{"Resources", func(ctx context.Context, c *mcpclient.Client) error { return whole(c.Resources(ctx)) }},
	{"ListResourceTemplates", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.ListResourceTemplates(ctx, nil)
		return err
	}},
	{"ResourceTemplates", func(ctx context.Context, c *mcpclient.Client) error {
		return whole(c.ResourceTemplates(ctx))
	}},
	{"SubscribeResource", func(ctx context.Context, c *mcpclient.Client) error {
		return errors.Join(c.SubscribeResource(ctx, "file:///motd"), c.UnsubscribeResource(ctx, "file:///motd"))
	}},
	{"ListPrompts", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.ListPrompts(ctx, nil)
		return err
	}},
	{"Prompts", func(ctx context.Context, c *mcpclient.Client) error { return whole(c.Prompts(ctx)) }},
	{"GetPrompt", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.GetPrompt(ctx, "greet", nil)
		return err
	}},
	{"Complete", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.Complete(ctx, mcp.PromptRef("greet"), mcp.CompleteArgument{Name: "name"}, nil)
		return err
	}},
	{"Call", func(ctx context.Context, c *mcpclient.Client) error {
		return c.Call(ctx, "example.com/do", nil, nil)
	}},
	{"Notify", func(ctx context.Context, c *mcpclient.Client) error {
		return errors.Join(c.Notify(ctx, "notifications/example", nil), c.Call(ctx, "example.com/do", nil, nil))
	}},
	{"StartTool and Task.Wait", func(ctx context.Context, c *mcpclient.Client) error {
		task, err := c.StartTool(ctx, "echo", listedPath{})
		if err == nil {
			_, err = task.Wait(ctx)
		}
		return err
	}},
	{"SetLogLevel", func(ctx context.Context, c *mcpclient.Client) error { return c.SetLogLevel(ctx, mcp.LevelError) }},
	{"Server: progress and log", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.CallTool(ctx, "talk", nil, mcpclient.WithProgress(func(*mcp.ProgressParams) {}))
		return err
	}},
	{"Server: ask for roots", func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.CallTool(ctx, "ask", nil)
		return err
	}},
	{"Ping", func(ctx context.Context, c *mcpclient.Client) error { return c.Ping(ctx) }},
}

// whole returns the error of a list.
func whole[T any](list iter.Seq2[T, error]) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// offer adds prompts, templates and tools that use the server's side of a call.
func offer(s *mcpserver.Server) error {
	return errors.Join(
		s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "many", URITemplate: "file:///many/{x}"},
			func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{}, nil
			}),
		s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []mcp.PromptArgument{{Name: "name"}}},
			func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return &mcp.GetPromptResult{}, nil
			}),
		s.AddCompletion(mcp.PromptRef("greet"), "name",
			func(context.Context, *mcpserver.CompleteRequest) ([]string, error) { return []string{"Ada"}, nil }),
		s.HandleRequest("example.com/do",
			func(context.Context, *mcpserver.Request) (any, error) { return struct{}{}, nil }),
		s.AddTool(&mcp.Tool{Name: "talk"},
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, errors.Join(r.Progress(ctx, 1, 2, ""), r.Log(ctx, mcp.LevelError, "", "x"))
			}),
		s.AddTool(&mcp.Tool{Name: "ask"},
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				var roots mcp.ListRootsResult
				return &mcp.CallToolResult{}, mcpserver.RequestFrom(ctx).AskAll(ctx, mcpserver.AskListRoots("roots", &roots))
			}),
	)
}

// echoing returns a client and a server in memory with this telemetry.
func echoing(t *testing.T, tel *telemetry.Telemetry, v mcp.Version) *mcpclient.Client {
	t.Helper()
	s := mcpserver.New(mcp.Implementation{Name: "echo", Version: "1"}, &mcpserver.Options{Telemetry: tel, Logging: true,
		Capabilities: mcp.ServerCapabilities{Resources: &mcp.ResourcesCapability{Subscribe: true}}})
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "echo"},
		func(_ context.Context, in listedPath) (listedPath, error) { return in, nil })
	if err != nil {
		t.Fatal(err)
	}
	err = s.AddResource(&mcp.Resource{Name: "motd", URI: "file:///motd"},
		func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: "hello"}}}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if err := offer(s); err != nil {
		t.Fatal(err)
	}
	c, err := mcpclient.Connect(t.Context(),
		transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) }),
		&mcpclient.Options{Telemetry: tel, Versions: []mcp.Version{v}, Features: []mcpclient.Feature{
			mcpclient.UseRoots(&mcp.Root{URI: "file:///home"}), mcpclient.UseTasks(nil),
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A feature that is not turned on, and a signal that is not received, allocate nothing: each operation with all
// defaults allocates as much as without telemetry. One span in 256 is started for automatic instrumentation, and the
// runtime adds allocations of its own, so the results may differ by a fraction.
func TestTelemetryAllocatesNothingWithoutAnSDK(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20260728, mcp.Version20251125} {
		off, on := echoing(t, telemetry.Off(), v), echoing(t, telemetry.New(), v)
		for _, op := range operations {
			switch {
			case v == mcp.Version20251125:
			case op.name == "Ping": // the modern protocol has no ping
				continue
			case op.name == "SubscribeResource": // opens a stream; the flight recorders of both ends allocate 7 times for it
				continue
			}
			count := func(c *mcpclient.Client) float64 {
				var err error
				n := testing.AllocsPerRun(300, func() {
					if e := op.do(t.Context(), c); e != nil {
						err = e
					}
				})
				if err != nil {
					t.Fatalf("%s: %v", op.name, err)
				}
				return n
			}
			without, with := count(off), count(on)
			for range 5 { // the runtime does not add allocations in every run
				if with <= without {
					break
				}
				without, with = max(without, count(off)), min(with, count(on))
			}
			if with > without {
				t.Errorf("%s of %s: got %v allocations with telemetry and no SDK, want the %v without", op.name, v, with, without)
			}
		}
	}
}

//lint:file-ignore SA1019 legacy peers have ping and resources/subscribe

package mcpgo_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpotel/mcpotel/adapters/mcpgo"
	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestEveryCallFailureIsObservedOnce(t *testing.T) {
	fleet.EveryFailure(t, &fleet.SDK{Versions: []string{legacy, modern}, Connect: everyWay, EndsEarly: true})
}

func everyWay(t *testing.T, server net.Conn, tel *telemetry.Telemetry, version string) []fleet.Way {
	tr := transport.NewIO(server, server, io.NopCloser(new(nothing)))
	c := connect(t, mcpgo.WrapTransport(tr, tel, "c"), version)
	return []fleet.Way{
		{Name: "CallTool", Method: "tools/call", Target: "x", Call: func(ctx context.Context) error {
			_, err := c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "x"}})
			return err
		}},
		{Name: "ListTools", Method: "tools/list", Call: func(ctx context.Context) error {
			_, err := c.ListTools(ctx, mcp.ListToolsRequest{})
			return err
		}},
		{Name: "ListToolsByPage", Method: "tools/list", Call: func(ctx context.Context) error {
			_, err := c.ListToolsByPage(ctx, mcp.ListToolsRequest{})
			return err
		}},
		{Name: "IterTools", Method: "tools/list", Call: func(ctx context.Context) error {
			return whole(c.IterTools(ctx, mcp.ListToolsRequest{}))
		}},
		{Name: "ListPrompts", Method: "prompts/list", Call: func(ctx context.Context) error {
			_, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{})
			return err
		}},
		{Name: "GetPrompt", Method: "prompts/get", Target: "x", Call: func(ctx context.Context) error {
			_, err := c.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "x"}})
			return err
		}},
		{Name: "ListResources", Method: "resources/list", Call: func(ctx context.Context) error {
			_, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
			return err
		}},
		{Name: "ListResourceTemplates", Method: "resources/templates/list", Call: func(ctx context.Context) error {
			_, err := c.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
			return err
		}},
		{Name: "ReadResource", Method: "resources/read", Call: func(ctx context.Context) error {
			_, err := c.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "file:///x"}})
			return err
		}},
		{Name: "Complete", Method: "completion/complete", Target: "x", Call: func(ctx context.Context) error {
			q := mcp.CompleteRequest{}
			q.Params.Ref = mcp.PromptReference{Type: "ref/prompt", Name: "x"}
			_, err := c.Complete(ctx, q)
			return err
		}},
		{Name: "SetLevel", Method: "logging/setLevel", Legacy: true, Call: func(ctx context.Context) error {
			return c.SetLevel(ctx, mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: "info"}})
		}},
		{Name: "Subscribe", Method: "resources/subscribe", Legacy: true, Call: func(ctx context.Context) error {
			return c.Subscribe(ctx, mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: "file:///x"}})
		}},
		{Name: "Unsubscribe", Method: "resources/unsubscribe", Legacy: true, Call: func(ctx context.Context) error {
			return c.Unsubscribe(ctx, mcp.UnsubscribeRequest{Params: mcp.UnsubscribeParams{URI: "file:///x"}})
		}},
		{Name: "Ping", Method: "ping", Legacy: true, Call: func(ctx context.Context) error { return c.Ping(ctx) }},
	}
}

// whole returns the error of a list.
func whole[T any](list iter.Seq2[T, error]) (failed error) {
	for _, err := range list {
		failed = errors.Join(failed, err)
	}
	return failed
}

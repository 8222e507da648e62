//lint:file-ignore SA1019 legacy peers have logging, subscriptions and ping

package gosdk_test

import (
	"context"
	"errors"
	"iter"
	"net"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/adapters/gosdk"
	"github.com/mcpotel/mcpotel/internal/testsupport/fleet"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestEveryCallFailureIsObservedOnce(t *testing.T) {
	fleet.EveryFailure(t, &fleet.SDK{Versions: []string{legacy, modern}, Connect: everyWay})
}

func everyWay(t *testing.T, server net.Conn, tel *telemetry.Telemetry, version string) []fleet.Way {
	c := gosdk.InstrumentClient(mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil), tel, "c")
	s, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: server, Writer: server},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return []fleet.Way{
		{Name: "CallTool", Method: "tools/call", Target: "x", Call: func(ctx context.Context) error {
			_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "x"})
			return err
		}},
		{Name: "ListTools", Method: "tools/list", Call: func(ctx context.Context) error {
			_, err := s.ListTools(ctx, nil)
			return err
		}},
		{Name: "Tools", Method: "tools/list", Call: func(ctx context.Context) error { return whole(s.Tools(ctx, nil)) }},
		{Name: "ListPrompts", Method: "prompts/list", Call: func(ctx context.Context) error {
			_, err := s.ListPrompts(ctx, nil)
			return err
		}},
		{Name: "GetPrompt", Method: "prompts/get", Target: "x", Call: func(ctx context.Context) error {
			_, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "x"})
			return err
		}},
		{Name: "ListResources", Method: "resources/list", Call: func(ctx context.Context) error {
			_, err := s.ListResources(ctx, nil)
			return err
		}},
		{Name: "ListResourceTemplates", Method: "resources/templates/list", Call: func(ctx context.Context) error {
			_, err := s.ListResourceTemplates(ctx, nil)
			return err
		}},
		{Name: "ReadResource", Method: "resources/read", Call: func(ctx context.Context) error {
			_, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///x"})
			return err
		}},
		{Name: "Complete", Method: "completion/complete", Target: "x", Call: func(ctx context.Context) error {
			_, err := s.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "x"}})
			return err
		}},
		{Name: "SetLoggingLevel", Method: "logging/setLevel", Legacy: true, Call: func(ctx context.Context) error {
			return s.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "info"})
		}},
		{Name: "Subscribe", Method: "resources/subscribe", Legacy: true, Call: func(ctx context.Context) error {
			return s.Subscribe(ctx, &mcp.SubscribeParams{URI: "file:///x"})
		}},
		{Name: "Unsubscribe", Method: "resources/unsubscribe", Legacy: true, Call: func(ctx context.Context) error {
			return s.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: "file:///x"})
		}},
		{Name: "Ping", Method: "ping", Legacy: true, Call: func(ctx context.Context) error { return s.Ping(ctx, nil) }},
	}
}

// whole returns the error of a list.
func whole[T any](list iter.Seq2[T, error]) (failed error) {
	for _, err := range list {
		failed = errors.Join(failed, err)
	}
	return failed
}

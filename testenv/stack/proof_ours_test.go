package stack_test

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// ours is this module's client.
type ours struct{ *mcpclient.Client }

// connectOurs connects the client, which answers every question.
func connectOurs(ctx context.Context, tr transport.Transport, version mcp.Version, p *otlp.Providers,
	opts ...telemetry.Option) (client, error) {
	c, err := mcpclient.Connect(ctx, tr, &mcpclient.Options{
		Name: "proof", Versions: []mcp.Version{version}, Telemetry: p.Telemetry(opts...),
		Timeouts: mcpclient.Timeouts{Close: 10 * time.Second},
		Features: []mcpclient.Feature{
			mcpclient.UseTasks(&mcpclient.TaskOptions{PollMin: 20 * time.Millisecond}),
			mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": "Ada"}}, nil
			}),
		},
	})
	if err != nil {
		return nil, err
	}
	// If calls may become tasks, the client lists the tools of a legacy server once, before the first call. The outcome of
	// this call does not matter.
	_, _ = c.CallTool(trace.ContextWithSpan(ctx, noop.Span{}), "add", map[string]any{})
	return ours{c}, nil
}

func (o ours) call(ctx context.Context, c *calling) (string, error) {
	options := []mcpclient.CallOption{mcpclient.WithProgress(func(*mcp.ProgressParams) {})}
	if c.timeout > 0 {
		options = append(options, mcpclient.WithTimeout(c.timeout))
	}
	arguments, err := json.Marshal(c.arguments)
	if err != nil {
		return "", err
	}
	if c.arguments == nil {
		arguments = []byte("{}")
	}
	r, err := o.CallTool(ctx, c.tool, json.RawMessage(arguments), options...)
	switch failed, ok := errors.AsType[*mcpclient.Error](err); {
	case ok:
		return failed.ErrorType(), err
	case err != nil:
		return "", err
	case r.IsError:
		return "tool_error", nil
	}
	return "ok", nil
}

func (o ours) close(ctx context.Context) error { return o.Close() }

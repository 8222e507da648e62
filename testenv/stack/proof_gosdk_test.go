package stack_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/adapters/gosdk"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// theirs is the client of the official Go SDK with the adapter.
type theirs struct{ *mcp.ClientSession }

// connectTheirs connects the client, which answers every question.
func connectTheirs(ctx context.Context, tr mcp.Transport, pr *pair, p *otlp.Providers,
	opts ...telemetry.Option) (client, error) {
	c := mcp.NewClient(&mcp.Implementation{Name: "proof", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
	})
	s, err := gosdk.InstrumentClient(c, p.Telemetry(opts...), "proof").
		Connect(ctx, tr, &mcp.ClientSessionOptions{ProtocolVersion: string(pr.version())})
	if err != nil {
		return nil, err
	}
	return theirs{s}, nil
}

func (th theirs) call(ctx context.Context, c *calling) (string, error) {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	arguments := c.arguments
	if arguments == nil {
		arguments = map[string]any{}
	}
	r, err := th.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: arguments})
	wire, isWire := errors.AsType[*jsonrpc.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout", err
	case errors.Is(err, context.Canceled):
		return "cancelled", err
	case isWire:
		return strconv.FormatInt(wire.Code, 10), err
	case err != nil:
		return "", err
	case r.IsError:
		return "tool_error", nil
	}
	return "ok", nil
}

// close waits for the end of the connection, so that a server process can export its data.
func (th theirs) close(context.Context) error { return th.Close() }

func theirsOverStdio(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	s := shopProcess(t, pr.serverName())
	cmd := exec.Command(s.Command)
	cmd.Env, cmd.Stderr = s.Env, os.Stderr
	return connectTheirs(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: 10 * time.Second}, pr, p)
}

func theirsOverHTTP(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	return connectTheirs(ctx, &mcp.StreamableClientTransport{Endpoint: shopURL(t, shopHandler(t, pr.serverName()))}, pr, p)
}

// theirCallings are the calls that the SDK shows to the adapter in the same way. The SDK answers the questions of a
// modern server internally, so all rounds are below one span.
func theirCallings(p *pair) []calling {
	var all []calling
	for _, c := range callings(p) {
		switch {
		case c.name == "task" || c.name == "resumed stream":
			continue
		case p.modern && (c.name == "one question" || c.name == "three questions"):
			c.below = askedInside(c.arguments["times"].(int))
		}
		c.times++
		all = append(all, c)
	}
	return all
}

func askedInside(questions int) func(*pair) []node {
	return func(p *pair) []node {
		n := p.request("order", "", nil)
		for round := range questions + 1 {
			result := any("input_required")
			if round == questions {
				result = nil
			}
			n.below = append(n.below, p.served("order", "", map[string]any{"mcp_server.result.type": result}))
		}
		return []node{n}
	}
}

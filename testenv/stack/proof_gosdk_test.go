package stack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/adapters/gosdk"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// officialPairs are the official Go SDK's client, with the adapter, and a shop of ours.
func officialPairs() (all []*pair) {
	for _, p := range []pair{
		{name: "official SDK, stdio", connect: officialOverStdio, clientAttributes: map[string]any{"network.transport": "pipe"}},
		{name: "official SDK, HTTP", connect: officialOverHTTP, clientAttributes: map[string]any{"network.transport": "tcp", "network.protocol.name": "http"}},
	} {
		for _, modern := range []bool{true, false} {
			p := p
			p.modern = modern
			p.name += ", " + string(p.version())
			p.closesToCancel = true // or by a notification that the SDK sends past its middleware: in either case it has no span
			p.serverAttributes = p.clientAttributes
			p.clientAttributes = with(p.clientAttributes, map[string]any{"jsonrpc.request.id": nil})
			p.callings = officialCallings(&p)
			all = append(all, &p)
		}
	}
	return all
}

// officialCallings are the callings, as the SDK makes them: it has no tasks, and one span for all rounds of a call.
func officialCallings(p *pair) []calling {
	all := callings(p)
	for i := range all {
		switch c := &all[i]; {
		case c.tool == "brew":
			c.below = answered("brew")
		case c.tool == "order" && p.modern:
			questions := 1
			if c.name == "three questions" {
				questions = 3
			}
			c.below = inOneSpan(questions)
		}
	}
	return all
}

// inOneSpan is a call of a modern server that asks so many questions, one in each round but the last.
func inOneSpan(questions int) func(*pair) []node {
	return func(p *pair) []node {
		var rounds []node
		for range questions {
			rounds = append(rounds, p.served("order", "", map[string]any{"mcp_server.result.type": "input_required"}))
		}
		return []node{p.request("order", "", nil, append(rounds, p.served("order", "", map[string]any{"mcp_server.result.type": nil}))...)}
	}
}

func officialOverStdio(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	shop := shopProcess(t, pr.serverName())
	cmd := exec.Command(shop.Command, shop.Args...)
	cmd.Env, cmd.Stderr = shop.Env, os.Stderr
	sent := new(cancellations)
	return connectOfficial(ctx, &sdk.LoggingTransport{Transport: &sdk.CommandTransport{Command: cmd}, Writer: sent}, sent, pr, p)
}

func officialOverHTTP(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	sent := new(cancellations)
	if pr.modern {
		sent = nil // a call is cancelled by the end of its request
	}
	return connectOfficial(ctx, &sdk.StreamableClientTransport{
		Endpoint: shopURL(t, shopHandler(t, pr.serverName())), HTTPClient: &http.Client{Transport: sent},
	}, sent, pr, p)
}

// cancellations counts the notifications that say so. The SDK sends them when the call has returned already, and not any more
// if its session is closed by then; nil counts none.
type cancellations struct{ atomic.Int64 }

var cancelled = []byte(`"notifications/cancelled"`)

// Write hears what a LoggingTransport has sent.
func (c *cancellations) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("write: ")) && bytes.Contains(line, cancelled) {
		c.Add(1)
	}
	return len(line), nil
}

// RoundTrip sends an HTTP request.
func (c *cancellations) RoundTrip(r *http.Request) (*http.Response, error) {
	is := false
	if c != nil && r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		is = bytes.Contains(text, cancelled)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if is {
		c.Add(1)
	}
	return answer, err
}

// official is the SDK's client.
type official struct {
	*sdk.ClientSession
	left atomic.Int64 // calls that nobody waited for
	sent *cancellations
}

// connectOfficial connects the SDK's client, which answers every question.
func connectOfficial(ctx context.Context, tr sdk.Transport, sent *cancellations, pr *pair, p *otlp.Providers) (client, error) {
	c := sdk.NewClient(&sdk.Implementation{Name: "official", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
	})
	session, err := gosdk.InstrumentClient(c, p.Telemetry(), "proof").
		Connect(ctx, tr, &sdk.ClientSessionOptions{ProtocolVersion: string(pr.version())})
	if err != nil {
		return nil, err
	}
	return &official{ClientSession: session, sent: sent}, nil
}

func (o *official) call(ctx context.Context, c *calling) (string, error) {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	params := &sdk.CallToolParams{Name: c.tool, Arguments: c.arguments}
	if c.arguments == nil {
		params.Arguments = map[string]any{}
	}
	params.SetProgressToken(c.name)
	r, err := o.CallTool(ctx, params)
	refused, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		o.left.Add(1)
		return "timeout", err
	case errors.Is(err, context.Canceled):
		o.left.Add(1)
		return "cancelled", err
	case ok:
		return strconv.FormatInt(refused.Code, 10), err
	case err != nil:
		return "", err
	case r.IsError:
		return "tool_error", nil
	}
	return "ok", nil
}

func (o *official) close(ctx context.Context) error {
	if o.sent != nil && !within(ctx, func() bool { return o.sent.Load() == o.left.Load() }) {
		return fmt.Errorf("%d calls were left, %d cancelled: %w", o.left.Load(), o.sent.Load(), context.Cause(ctx))
	}
	err := o.Close()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return nil // the shop's word about itself, not the SDK's
	}
	return err
}

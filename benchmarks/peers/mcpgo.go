package peers

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// MCPGo is the client of mcp-go, with default options except for the revision, which avoids a probe.
var MCPGo = workload.Peer{
	Name: "mcpgo",
	Stdio: func(ctx context.Context, command, env []string) (workload.Client, error) {
		t := transport.NewStdioWithOptions(command[0], nil, command[1:], transport.WithCommandStderrWriter(os.Stderr),
			transport.WithCommandFunc(
				func(_ context.Context, name string, _, args []string) (*exec.Cmd, error) { // the default adds our environment
					cmd := exec.Command(name, args...)
					cmd.Env = env
					return cmd, nil
				}))
		return connectMCPGo(ctx, t, nil)
	},
	Pipe: func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) (workload.Client, error) {
		t := transport.NewIO(r, w, io.NopCloser(strings.NewReader(""))) // closes w, not r
		return connectMCPGo(ctx, t, r.Close)
	},
	HTTP: func(ctx context.Context, url string) (workload.Client, error) {
		web := pool(ctx)
		t, err := transport.NewStreamableHTTP(url, transport.WithHTTPBasicClient(web))
		if err != nil {
			return nil, err
		}
		return connectMCPGo(ctx, t, func() error {
			web.CloseIdleConnections()
			return nil
		})
	},
}

// connectMCPGo connects over a transport. after, if not nil, is called after the connection is closed.
func connectMCPGo(ctx context.Context, t transport.Interface, after func() error) (workload.Client, error) {
	ctx = context.WithoutCancel(ctx)
	c := &mcpGoClient{client.NewClient(t, client.WithProtocolVersion(string(workload.EraOf(ctx)))), after,
		workload.ArgumentsOf(ctx)}
	if err := c.client.Start(ctx); err != nil {
		return nil, err
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = string(workload.EraOf(ctx))
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcpgo", Version: "1.0"}
	if _, err := c.client.Initialize(ctx, hello); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

type mcpGoClient struct {
	client    *client.Client
	after     func() error
	arguments any
}

func (c *mcpGoClient) Call(ctx context.Context, tool string) (int, error) {
	var q mcp.CallToolRequest
	q.Params.Name, q.Params.Arguments = tool, c.arguments
	r, err := c.client.CallTool(ctx, q)
	if err != nil {
		return 0, err
	}
	return mcpGoContent(r), nil
}

// Records decodes the JSON of the structured content, which mcp-go has kept besides its maps.
func (c *mcpGoClient) Records(ctx context.Context, tool string) (*workload.Records, error) {
	var q mcp.CallToolRequest
	q.Params.Name, q.Params.Arguments = tool, c.arguments
	r, err := c.client.CallTool(ctx, q)
	if err != nil {
		return nil, err
	}
	out := new(workload.Records)
	return out, json.Unmarshal(r.RawStructuredContent, out)
}

// mcpGoContent counts the bytes of content, images as base64.
func mcpGoContent(r *mcp.CallToolResult) (content int) {
	for _, c := range r.Content {
		switch c := c.(type) {
		case mcp.TextContent:
			content += len(c.Text)
		case mcp.ImageContent:
			content += len(c.Data)
		}
	}
	return content
}

func (c *mcpGoClient) List(ctx context.Context) (int, error) {
	r, err := c.client.ListToolsByPage(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return 0, err
	}
	return len(r.Tools), nil
}

func (c *mcpGoClient) Close() error {
	err := c.client.Close()
	if c.after != nil {
		err = errors.Join(err, c.after())
	}
	return err
}

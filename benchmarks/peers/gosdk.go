package peers

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// GoSDK is the client of the official Go SDK, with default options except for the revision, which avoids a probe.
var GoSDK = workload.Peer{
	Name: "gosdk",
	Stdio: func(ctx context.Context, command, env []string) (workload.Client, error) {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env, cmd.Stderr = env, os.Stderr
		return connectGoSDK(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	},
	Pipe: func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) (workload.Client, error) {
		return connectGoSDK(ctx, &mcp.IOTransport{Reader: r, Writer: w}, nil)
	},
	HTTP: func(ctx context.Context, url string) (workload.Client, error) {
		client := pool(ctx)
		return connectGoSDK(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: client},
			client.CloseIdleConnections)
	},
}

// connectGoSDK connects over a transport. after, if not nil, is called after the connection is closed.
func connectGoSDK(ctx context.Context, t mcp.Transport, after func()) (workload.Client, error) {
	c := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1.0"}, nil)
	session, err := c.Connect(context.WithoutCancel(ctx), t,
		&mcp.ClientSessionOptions{ProtocolVersion: string(workload.EraOf(ctx))})
	if err != nil {
		return nil, err
	}
	return &goSDKClient{session, after, workload.ArgumentsOf(ctx)}, nil
}

type goSDKClient struct {
	session   *mcp.ClientSession
	after     func()
	arguments any
}

func (c *goSDKClient) Call(ctx context.Context, tool string) (int, error) {
	r, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: c.arguments})
	if err != nil {
		return 0, err
	}
	return goSDKContent(r), nil
}

// Records encodes the structured content, which the SDK has decoded into maps, and decodes the JSON again.
func (c *goSDKClient) Records(ctx context.Context, tool string) (*workload.Records, error) {
	r, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: c.arguments})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r.StructuredContent)
	if err != nil {
		return nil, err
	}
	out := new(workload.Records)
	return out, json.Unmarshal(text, out)
}

// goSDKContent counts the bytes of content. The SDK has decoded the base64 of images; they count with their encoded
// size.
func goSDKContent(r *mcp.CallToolResult) (content int) {
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			content += len(c.Text)
		case *mcp.ImageContent:
			content += (len(c.Data) + 2) / 3 * 4
		}
	}
	return content
}

func (c *goSDKClient) List(ctx context.Context) (int, error) {
	r, err := c.session.ListTools(ctx, nil)
	if err != nil {
		return 0, err
	}
	return len(r.Tools), nil
}

func (c *goSDKClient) Close() error {
	err := c.session.Close()
	if c.after != nil {
		c.after()
	}
	return err
}

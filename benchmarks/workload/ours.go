package workload

import (
	"context"
	"io"
	"os"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Ours is this project's client in its default configuration: default options, telemetry with the global providers, and
// no SDK.
var Ours = OursWith("ours", telemetry.New)

// Absent is [Ours] without telemetry.
var Absent = OursWith("absent", func(...telemetry.Option) *telemetry.Telemetry { return telemetry.Off() })

// OursWith is [Ours] with another name, and with the telemetry that tel returns for each connection.
func OursWith(name string, tel func(...telemetry.Option) *telemetry.Telemetry) Peer {
	connect := func(ctx context.Context, t transport.Transport) (Client, error) {
		observed := tel()
		if in := InstallationOf(ctx); in != nil {
			observed = in.telemetry()
		}
		c, err := mcpclient.Connect(ctx, t, &mcpclient.Options{
			ClientInfo: mcp.Implementation{Name: "ours", Version: "1.0"}, Telemetry: observed,
		})
		if err != nil {
			return nil, err
		}
		return &oursClient{c, ArgumentsOf(ctx)}, nil
	}
	return Peer{
		Name: name, Observes: true,
		Stdio: func(ctx context.Context, command, env []string) (Client, error) {
			return connect(ctx, transport.Stdio{Command: command[0], Args: command[1:], Env: env, Stderr: toStderr})
		},
		Pipe: func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) (Client, error) {
			return connect(ctx, Streams(r, w))
		},
		HTTP: func(ctx context.Context, url string) (Client, error) {
			return connect(ctx, &transport.HTTP{URL: url, Client: HTTPClientOf(ctx)})
		},
	}
}

func toStderr(line string) { _, _ = os.Stderr.WriteString(line + "\n") }

type oursClient struct {
	c         *mcpclient.Client
	arguments any
}

func (o *oursClient) Call(ctx context.Context, tool string) (content int, err error) {
	r, err := o.c.CallTool(ctx, tool, o.arguments)
	if err != nil {
		return 0, err
	}
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			content += len(c.Text)
		case *mcp.ImageContent:
			content += len(c.Data)
		}
	}
	return content, nil
}

func (o *oursClient) Records(ctx context.Context, tool string) (*Records, error) {
	r, err := mcpclient.CallToolAs[Records](ctx, o.c, tool, o.arguments)
	return &r, err
}

func (o *oursClient) List(ctx context.Context) (int, error) {
	page, err := o.c.ListTools(ctx, nil)
	if err != nil {
		return 0, err
	}
	return len(page.Tools), nil
}

func (o *oursClient) Close() error { return o.c.Close() }

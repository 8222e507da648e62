package workload

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// OursServer is this project's server: default options, telemetry with the global providers, and no SDK. One server
// handles all connections.
var OursServer = OursServerWith("ours", telemetry.New)

// AbsentServer is [OursServer] without telemetry.
var AbsentServer = OursServerWith("absent", func(...telemetry.Option) *telemetry.Telemetry { return telemetry.Off() })

// OursServerWith is [OursServer] with another name, and with the telemetry that tel returns.
func OursServerWith(name string, tel func(...telemetry.Option) *telemetry.Telemetry) Server {
	one := sync.OnceValues(func() (*mcpserver.Server, error) { return newOursServer(tel()) })
	return Server{
		Name: name,
		Pipe: func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error {
			s, err := one()
			if err != nil {
				return err
			}
			return s.Serve(ctx, mcpserver.NewStreamConn(r, w, 0))
		},
		HTTP: func() http.Handler {
			s, err := one()
			if err != nil {
				panic(err)
			}
			return s.HTTPHandler(&mcpserver.HTTPOptions{Stateless: true, TrustTraceContext: true})
		},
	}
}

func newOursServer(tel *telemetry.Telemetry) (*mcpserver.Server, error) {
	s := mcpserver.New(mcp.Implementation{Name: "ours", Version: "1.0"}, &mcpserver.Options{Telemetry: tel})
	err := s.AddTool(&mcp.Tool{Name: TinyTool},
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(HelloText)}}, nil
		})
	if err == nil {
		err = mcpserver.AddTool(s, &mcp.Tool{Name: EchoTool}, func(_ context.Context, in Arguments) (string, error) {
			return in.Text, nil
		})
	}
	return s, err
}

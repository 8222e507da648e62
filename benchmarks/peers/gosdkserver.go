package peers

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// GoSDKServer is a server of the official Go SDK. Over HTTP, one server handles all requests, so that it prepares
// schemas only once.
var GoSDKServer = workload.Server{
	Name: "gosdk",
	Pipe: func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error {
		return newGoSDKServer().Run(ctx, &mcp.IOTransport{Reader: r, Writer: w})
	},
	HTTP: func() http.Handler {
		s := newGoSDKServer()
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
			&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	},
}

func newGoSDKServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1.0"}, nil)
	s.AddTool(&mcp.Tool{Name: workload.TinyTool, InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: workload.HelloText}}}, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: workload.EchoTool},
		func(_ context.Context, _ *mcp.CallToolRequest, in workload.Arguments) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
		})
	return s
}

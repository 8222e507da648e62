package peers

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// MCPGoServer is a server of mcp-go. Unlike the other servers, it does not validate arguments against a schema: this is
// the default of mcp-go (see server.WithInputSchemaValidation).
var MCPGoServer = workload.Server{
	Name: "mcpgo",
	Pipe: func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error {
		err := server.NewStdioServer(newMCPGoServer()).Listen(ctx, r, w)
		return errors.Join(err, r.Close(), w.Close())
	},
	HTTP: func() http.Handler {
		return server.NewStreamableHTTPServer(newMCPGoServer(), server.WithStateLess(true))
	},
}

func newMCPGoServer() *server.MCPServer {
	s := server.NewMCPServer("mcpgo", "1.0", server.WithToolCapabilities(false))
	s.AddTool(mcp.NewTool(workload.TinyTool), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(workload.HelloText), nil
	})
	s.AddTool(mcp.NewTool(workload.EchoTool, mcp.WithString("text", mcp.Required())),
		mcp.NewTypedToolHandler(func(_ context.Context, _ mcp.CallToolRequest, in workload.Arguments) (*mcp.CallToolResult,
			error) {
			return mcp.NewToolResultText(in.Text), nil
		}))
	return s
}

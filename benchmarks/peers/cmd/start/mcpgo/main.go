// Command mcpgo connects to the server at its argument, makes a call and ends.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string) error {
	c, err := client.NewStreamableHttpClient(url)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Start(ctx); err != nil {
		return err
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = "2025-11-25"
	hello.Params.ClientInfo = mcp.Implementation{Name: "start", Version: "1.0"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return err
	}
	var call mcp.CallToolRequest
	call.Params.Name, call.Params.Arguments = "tiny", map[string]any{"text": "hello, world"}
	_, err = c.CallTool(ctx, call)
	return err
}

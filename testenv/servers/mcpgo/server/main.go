// Command server is a server on mcp-go with one tool. It serves standard input and output or, with the argument
// streamable, stateless or sse, HTTP on a free port of the loopback interface, or on the port in MCPOTEL_PORT.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	s := server.NewMCPServer("mcpgo", "1.0.0", server.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("add", mcp.WithDescription("adds two numbers"),
		mcp.WithNumber("a", mcp.Required()), mcp.WithNumber("b", mcp.Required())), add)
	if len(os.Args) < 2 {
		if err := server.ServeStdio(s); err != nil {
			log.Fatal(err)
		}
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+cmp.Or(os.Getenv("MCPOTEL_PORT"), "0"))
	if err != nil {
		log.Fatal(err)
	}
	address := "http://" + listener.Addr().String()
	fmt.Fprintln(os.Stderr, "listening on "+address)
	log.Fatal(http.Serve(listener, handler(s, os.Args[1], address)))
}

// handler serves /mcp, or /sse and /message.
func handler(s *server.MCPServer, kind, address string) http.Handler {
	switch kind {
	case "streamable":
		return server.NewStreamableHTTPServer(s)
	case "stateless":
		return server.NewStreamableHTTPServer(s, server.WithStateLess(true))
	case "sse":
		return server.NewSSEServer(s, server.WithBaseURL(address))
	}
	log.Fatalf("unknown kind %q: want streamable, stateless or sse", kind)
	return nil
}

func add(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	a, b := r.GetFloat("a", 0), r.GetFloat("b", 0)
	return mcp.NewToolResultText(fmt.Sprintf("%g + %g = %g", a, b, a+b)), nil
}

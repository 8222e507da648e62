package mcpserver_test

import (
	"context"
	"fmt"
	"log"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Counter is a whole server in one value: its tools, and the data of each session.
type Counter struct{}

// Init gives each session its own count.
func (Counter) Init(_ context.Context, s *mcpserver.Session) error {
	s.SetValue(countKey{}, new(atomic.Int64)) // calls of one session may run concurrently
	return nil
}

type countKey struct{}

// Terminate is called when the session has ended.
func (Counter) Terminate(_ context.Context, s *mcpserver.Session, reason error) {
	fmt.Println("the count of", s.Client().Name, "was", s.Value(countKey{}).(*atomic.Int64).Load())
}

// ListTools returns the only tool.
func (Counter) ListTools(context.Context, *mcpserver.ListRequest) (*mcp.ListToolsResult, error) {
	return &mcp.ListToolsResult{Tools: []*mcp.Tool{{Name: "count", Description: "Counts its calls."}}}, nil
}

// CallTool calls the tool.
func (Counter) CallTool(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	if r.Name != "count" {
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: "unknown tool: " + r.Name}
	}
	session := r.Session()
	if session == nil { // a modern client has no session
		return nil, &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "there is nothing to count in"}
	}
	n := session.Value(countKey{}).(*atomic.Int64).Add(1)
	return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(fmt.Sprint(n))}}, nil
}

func ExampleServer_Implement() {
	s := mcpserver.New(mcp.Implementation{Name: "counter", Version: "1.0"}, nil)
	if err := s.Implement(Counter{}); err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	ask(s, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count"}}`)
	// Unordered output:
	// {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"count","description":"Counts its calls.","inputSchema":{"type":"object"}}]}}
	// the count of example was 0
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"1"}]}}
	// the count of example was 1
}

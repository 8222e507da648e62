package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// newWebServer returns a server with additional tools for tests over HTTP.
func newWebServer(t testing.TB, o mcpserver.Options) *mcpserver.Server {
	t.Helper()
	s := newServer(t, o)
	for tool, h := range map[*mcp.Tool]mcpserver.ToolHandler{
		{Name: "needy"}: needy,
		{Name: "pause"}: pause,
		{Name: "query", InputSchema: json.RawMessage(`{"type":"object","properties":{
			"region":{"type":"string","x-mcp-header":"Region"},
			"limit":{"type":"integer","x-mcp-header":"Limit"},
			"dry":{"type":"boolean","x-mcp-header":"Dry"}}}`)}: echo,
	} {
		if err := s.AddTool(tool, h); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// needy requires a capability that no client has.
func needy(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, &mcp.Error{
		Code: mcp.CodeMissingClientCapability, Message: "needs sampling",
		Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
	}
}

// pause closes its stream and answers a second later.
func pause(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	if err := mcpserver.RequestFrom(ctx).CloseStream(ctx, 500*time.Millisecond); err != nil {
		return nil, err
	}
	time.Sleep(time.Second)
	return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("late")}}, nil
}

package mcpgo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The programs in docs/guides/migrate-mcpgo.md before the migration.

func clientBefore(ctx context.Context, url, city string) (w weather, err error) {
	// docs:client
	c, err := client.NewStreamableHttpClient(url)
	if err != nil {
		return w, err
	}
	defer c.Close()
	if err := c.Start(ctx); err != nil {
		return w, err
	}
	begin := mcp.InitializeRequest{}
	begin.Params.ClientInfo = mcp.Implementation{Name: "orders", Version: "1.0"}
	begin.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	if _, err := c.Initialize(ctx, begin); err != nil {
		return w, err
	}

	for tool, err := range c.IterTools(ctx, mcp.ListToolsRequest{}) {
		if err != nil {
			return w, err
		}
		fmt.Println(tool.Name)
	}
	call := mcp.CallToolRequest{}
	call.Params.Name = "forecast"
	call.Params.Arguments = map[string]any{"city": city}
	result, err := c.CallTool(ctx, call)
	if err != nil {
		return w, err
	}
	if result.IsError {
		text, _ := mcp.AsTextContent(result.Content[0])
		return w, errors.New(text.Text)
	}
	structured, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return w, err
	}
	err = json.Unmarshal(structured, &w)
	// docs:end
	return w, err
}

// docs:tool

func forecast(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	city, err := request.RequireString("city")
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	if city != "Oslo" {
		return mcp.NewToolResultError("ask for Oslo"), nil
	}
	return mcp.NewToolResultStructuredOnly(weather{Celsius: 4}), nil
}

// docs:end

func serverBefore() http.Handler {
	// docs:server
	s := server.NewMCPServer("weather", "1.0")
	s.AddTool(mcp.NewTool("forecast", mcp.WithDescription("The weather."),
		mcp.WithString("city", mcp.Required(), mcp.Description("the name of the city")),
		mcp.WithOutputSchema[weather](),
	), forecast)
	handler := server.NewStreamableHTTPServer(s)
	// docs:end
	return handler
}

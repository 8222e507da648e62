package gosdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The programs in docs/guides/migrate-gosdk.md before the migration.

func clientBefore(ctx context.Context, url, city string) (w weather, err error) {
	// docs:client
	client := mcp.NewClient(&mcp.Implementation{Name: "orders", Version: "1.0"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		return w, err
	}
	defer session.Close()

	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return w, err
		}
		fmt.Println(tool.Name)
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "forecast", Arguments: map[string]any{"city": city}})
	if err != nil {
		return w, err
	}
	if result.IsError {
		text, _ := result.Content[0].(*mcp.TextContent)
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

func forecast(_ context.Context, _ *mcp.CallToolRequest, in query) (*mcp.CallToolResult, weather, error) {
	if in.City != "Oslo" {
		return nil, weather{}, errors.New("ask for Oslo")
	}
	return nil, weather{Celsius: 4}, nil
}

// docs:end

func serverBefore() http.Handler {
	// docs:server
	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "forecast", Description: "The weather."}, forecast)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	// docs:end
	return handler
}

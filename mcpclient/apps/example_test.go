package apps_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/apps"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	served "github.com/mcpotel/mcpotel/mcpserver/apps"
)

// A host fetches the view of a tool, calls the tool, and has both to show.
func ExampleFetch() {
	server := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	view := &served.View{URI: "ui://weather/forecast", HTML: "<!doctype html><title>Forecast</title>"}
	err := served.AddTool(server, &mcp.Tool{Name: "forecast"}, view, func(context.Context, struct{}) (string, error) {
		return "sunny, 22 °C", nil // what a client without views shows
	})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	client, err := mcpclient.Connect(ctx,
		transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = server.Serve(ctx, peer) }),
		&mcpclient.Options{Capabilities: mcp.ClientCapabilities{Extensions: apps.Capability()}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Stop(ctx)
	for tool, err := range apps.ModelTools(ctx, client) {
		if err != nil {
			log.Fatal(err)
		}
		page, err := apps.Fetch(ctx, client, tool)
		if err != nil {
			log.Fatal(err)
		}
		result, err := client.CallTool(ctx, tool.Name, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(page.HTML)
		fmt.Println(result.Text())
	}
	// Output:
	// <!doctype html><title>Forecast</title>
	// sunny, 22 °C
}

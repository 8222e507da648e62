package apps_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/app"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/apps"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	served "github.com/mcpotel/mcpotel/mcpserver/apps"
)

// A host fetches the view of a tool and calls the tool, so that it can show both.
func ExampleFetch() {
	server := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	view := &served.View{URI: "ui://weather/forecast", HTML: "<!doctype html><title>Forecast</title>"}
	err := served.AddTool(server, &mcp.Tool{Name: "forecast"}, view, func(context.Context, struct{}) (string, error) {
		return "sunny, 22 °C", nil // text for clients that cannot show views
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
	defer client.Close()
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

// A host with several servers shows its model the tools of all servers, and makes the model's calls by the tools' names
// in the group. The view of each tool can talk only to its own server.
func ExampleCallModelTool() {
	ctx := context.Background()
	group, err := mcpclient.NewGroup([]mcpclient.Member{
		{Name: "north", Transport: mapServer("north")},
		{Name: "south", Transport: mapServer("south")},
	}, &mcpclient.GroupOptions{Options: &mcpclient.Options{
		Capabilities: mcp.ClientCapabilities{Extensions: apps.Capability()},
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer group.Close()
	if err := group.WaitForReady(ctx); err != nil {
		log.Fatal(err)
	}

	for tool, err := range apps.ModelTools(ctx, group) {
		if err != nil {
			log.Fatal(err)
		}
		client, err := group.Client(tool.Member) // the client of the server that owns the view
		if err != nil {
			log.Fatal(err)
		}
		view, err := apps.Fetch(ctx, client, &tool.Tool)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tool.Name, view.URI, view.HTML)

		// The view calls a tool when its user turns the wheel:
		if _, err := apps.CallTool(ctx, client, "zoom", nil); err != nil {
			log.Fatal(err)
		}
	}

	// The model calls a tool:
	result, err := apps.CallModelTool(ctx, group, "south_map", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	_, err = apps.CallModelTool(ctx, group, "south_zoom", nil)
	fmt.Println(err)
	// Output:
	// north_map ui://map <p>north
	// south_map ui://map <p>south
	// the map of the south
	// call tool "south_zoom" for a model: the tool is not visible to the caller
}

// mapServer is a server with a tool for models that has a view, and with a tool for that view only.
func mapServer(region string) transport.Transport {
	server := mcpserver.New(mcp.Implementation{Name: region, Version: "1.0"}, nil)
	view := &served.View{URI: "ui://map", HTML: "<p>" + region}
	err := served.AddTool(server, &mcp.Tool{Name: "map"}, view, func(context.Context, struct{}) (string, error) {
		return "the map of the " + region, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	zoom, err := served.ForTool(&mcp.Tool{Name: "zoom"}, view.URI, app.App)
	if err != nil {
		log.Fatal(err)
	}
	err = mcpserver.AddTool(server, zoom, func(context.Context, struct{}) (string, error) { return "closer", nil })
	if err != nil {
		log.Fatal(err)
	}
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = server.Serve(ctx, peer) })
}

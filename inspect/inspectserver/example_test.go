package inspectserver_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/mcpotel/mcpotel/inspect/inspectserver"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// inMemory is a transport to s.
func inMemory(s *mcpserver.Server) transport.Transport {
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) })
}

// An agent asks why a tool call failed.
func ExampleNew() {
	ctx := context.Background()
	weather := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	err := mcpserver.AddTool(weather, &mcp.Tool{Name: "radar"}, func(context.Context, struct{}) (string, error) {
		return "", errors.New("the radar is being repaired")
	})
	if err != nil {
		log.Fatal(err)
	}
	client, err := mcpclient.Connect(ctx, inMemory(weather), &mcpclient.Options{Name: "weather"})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if _, err := client.CallTool(ctx, "radar", nil); err != nil {
		log.Fatal(err)
	}

	// docs:agent
	server, err := inspectserver.New(&inspectserver.Options{Clients: []inspectserver.Client{client}})
	if err != nil {
		log.Fatal(err)
	}
	// docs:end
	agent, err := mcpclient.Connect(ctx, inMemory(server), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	why, err := agent.CallTool(ctx, "explain", map[string]any{"tool": "radar"})
	if err != nil {
		log.Fatal(err)
	}
	var x struct {
		Operation string `json:"operation"`
		Causes    []struct {
			ID   string `json:"id"`
			Sure string `json:"sure"`
		} `json:"causes"`
	}
	if err := why.Decode(&x); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Operation, x.Causes)
	// Output: tools/call radar [{tool_error certain}]
}

package inspect_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// stuck returns the methods of the calls that have been in flight for too long.
func stuck(c inspect.Client) (methods []string) {
	for _, call := range c.Calls {
		methods = append(methods, call.Method)
	}
	return methods
}

// A health check inspects the current state of a client.
func Example() {
	ctx := context.Background()
	asked, answered := make(chan struct{}), make(chan struct{})
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	err := s.AddTool(&mcp.Tool{Name: "forecast"},
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			close(asked)
			<-answered
			return nil, nil
		})
	if err != nil {
		log.Fatal(err)
	}
	server := transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) })
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Name: "forecasts"})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	done := make(chan error)
	go func() { _, err := client.CallTool(ctx, "forecast", nil); done <- err }()
	<-asked
	now := client.Inspect()
	fmt.Println(now.Name, now.State, stuck(now))

	close(answered)
	fmt.Println(<-done, stuck(client.Inspect()))
	// Output:
	// forecasts ready [tools/call]
	// <nil> []
}

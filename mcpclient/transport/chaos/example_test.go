package chaos_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// The first call is slow, and the server rejects it as busy at first. Every third call fails.
func Example() {
	server := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1"}, nil)
	tool := func(context.Context, struct{}) (string, error) { return "sunny", nil }
	if err := mcpserver.AddTool(server, &mcp.Tool{Name: "forecast"}, tool); err != nil {
		fmt.Println(err)
		return
	}
	whole := transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = server.Serve(ctx, p) })
	broken, err := chaos.Wrap(whole, &chaos.Plan{Faults: []chaos.Fault{
		{Kind: chaos.Latency, Tool: "forecast", Delay: 10 * time.Millisecond, Limit: 1},
		{Kind: chaos.Busy, Tool: "forecast", RetryAfter: time.Millisecond, Limit: 1},
		{Kind: chaos.Error, Tool: "forecast", Every: 3},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, broken, &mcpclient.Options{Telemetry: telemetry.Off()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	for range 3 {
		result, err := client.CallTool(ctx, "forecast", nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(result.Text())
	}
	// Output:
	// sunny
	// sunny
	// tools/call: server error -32603: injected by the plan of faults
}

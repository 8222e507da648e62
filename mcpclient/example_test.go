package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

type query struct {
	City string `json:"city"`
}

type weather struct {
	Sky     string `json:"sky"`
	Celsius int    `json:"celsius"`
}

// weatherServer is a server in the same process. A real server is usually a child process, see [transport.Stdio].
func weatherServer() transport.Transport {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "weather"}, func(_ context.Context, q query) (weather, error) {
		if q.City == "" {
			return weather{}, errors.New("which city?")
		}
		return weather{Sky: "clear", Celsius: 21}, nil
	})
	if err != nil {
		panic(err)
	}
	return inMemory(s)
}

// inMemory connects clients to a server in the same process, as in a test. A program uses [transport.Stdio] or
// [transport.HTTP] instead.
func inMemory(s *mcpserver.Server) transport.Transport {
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) })
}

// awaitSubscription waits until a client has subscribed to changes of the server. A client subscribes in the
// background, after it is ready.
func awaitSubscription(s *mcpserver.Server) {
	for s.Inspect().Subscriptions == 0 {
		runtime.Gosched()
	}
}

// withTool returns a server with one tool, which may send requests to the client.
func withTool(name string, tool func(ctx context.Context, _ struct{}) (string, error)) transport.Transport {
	s := mcpserver.New(mcp.Implementation{Name: "example", Version: "1.0"}, &mcpserver.Options{Logging: true})
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: name}, tool); err != nil {
		panic(err)
	}
	return inMemory(s)
}

func Example() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, weatherServer(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	fmt.Println(client.ServerInfo().Name, client.ProtocolVersion())
	for tool, err := range client.Tools(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("tool", tool.Name)
	}
	result, err := client.CallTool(ctx, "weather", query{City: "Oslo"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// weather 2026-07-28
	// tool weather
	// {"sky":"clear","celsius":21}
}

func ExampleCallToolAs() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, weatherServer(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	w, err := mcpclient.CallToolAs[weather](ctx, client, "weather", query{City: "Oslo"})
	fmt.Println(w.Sky, w.Celsius, err)

	_, err = mcpclient.CallToolAs[weather](ctx, client, "weather", query{})
	if e, ok := errors.AsType[*mcp.ToolError](err); ok {
		fmt.Println("the tool says:", e.Result.Text())
	}
	// Output:
	// clear 21 <nil>
	// the tool says: which city?
}

func ExampleSafeToRetry() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, weatherServer(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := client.Close(); err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.CallTool(ctx, "weather", query{City: "Oslo"})
	fmt.Println(errors.Is(err, mcpclient.ErrShutdown), mcpclient.SafeToRetry(err))
	// Output: true true
}

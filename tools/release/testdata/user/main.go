// A user's program with each module of this repository. It prints the versions of the modules, and the version of the
// instrumentation scope.
package main

import (
	"context"
	"fmt"
	"log"
	"runtime/debug"
	"strings"

	"github.com/mark3labs/mcp-go/server"
	gosdkmcp "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/adapters/gosdk"
	"github.com/mcpotel/mcpotel/adapters/mcpgo"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otelsetup"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/redisstore"
)

type query struct {
	City string `json:"city"`
}

func forecast(_ context.Context, in query) (string, error) { return "rain in " + in.City, nil }

func main() {
	gosdk.InstrumentServer(gosdkmcp.NewServer(&gosdkmcp.Implementation{Name: "a", Version: "1"}, nil),
		telemetry.New(), "a")
	mcpgo.InstrumentServer(server.NewMCPServer("b", "1"), telemetry.New(), "b")
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}) // the program sends nothing to this address
	defer client.Close()
	store := redisstore.New(client, nil)
	defer store.Close()

	ctx := context.Background()
	providers, err := otelsetup.Setup(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer providers.Shutdown(ctx) // there is no Collector, so exports are lost

	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1"}, &mcpserver.Options{
		Tasks: &mcpserver.TaskOptions{Store: store.Tasks()},
	})
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, forecast); err != nil {
		log.Fatal(err)
	}
	c, err := mcpclient.Connect(ctx, transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		_ = s.Serve(ctx, peer)
	}), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	result, err := c.CallTool(ctx, "forecast", query{City: "Oslo"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)

	fmt.Println("scope", telemetry.Version)
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if strings.HasPrefix(module.Path, "github.com/mcpotel/") {
			fmt.Println(module.Path, module.Version, module.Replace)
		}
	}
}

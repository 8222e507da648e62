package mcpclient_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func ExampleWithoutCache() {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"},
		&mcpserver.Options{Cache: mcpserver.Cache{TTL: time.Hour}})
	weather := func(context.Context, query) (weather, error) { return weather{}, nil }
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "weather"}, weather); err != nil {
		fmt.Println(err)
		return
	}
	requests := 0
	counting := transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		_ = s.Serve(ctx, counter{peer, &requests})
	})
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, counting, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	list := func(options ...mcpclient.CallOption) {
		before := requests
		tools, err := client.ListTools(ctx, nil, options...)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(tools.Tools), "tool,", requests-before, "requests")
	}
	list()
	list()
	list(mcpclient.WithoutCache())
	// Output:
	// 1 tool, 1 requests
	// 1 tool, 0 requests
	// 1 tool, 1 requests
}

// counter counts the client's requests.
type counter struct {
	*transport.Peer
	n *int
}

func (c counter) Receive(ctx context.Context) ([]byte, error) {
	frame, err := c.Peer.Receive(ctx)
	if err == nil {
		*c.n++
	}
	return frame, err
}

package mcpclient_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func ExampleClient_SubscribeResource() {
	var lamps atomic.Int64
	s := mcpserver.New(mcp.Implementation{Name: "stock", Version: "1.0"}, nil)
	err := s.AddResource(&mcp.Resource{URI: "stock://lamps", Name: "lamps"},
		func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			text := fmt.Sprint(lamps.Load(), " lamps")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: text}}}, nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	updated := make(chan string, 1)
	client, err := mcpclient.Connect(ctx, inMemory(s), &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) { updated <- uri }),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	if err := client.SubscribeResource(ctx, "stock://lamps"); err != nil {
		fmt.Println(err)
		return
	}
	lamps.Store(3)
	s.ResourceUpdated("stock://lamps") // called in the server

	r, err := client.ReadResource(ctx, <-updated)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Contents[0].URI, r.Contents[0].Text)
	// Output: stock://lamps 3 lamps
}

func ExampleHandleToolListChanged() {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	clear := func(context.Context, query) (weather, error) { return weather{Sky: "clear"}, nil }
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "weather"}, clear); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	changed := make(chan struct{}, 1)
	client, err := mcpclient.Connect(ctx, inMemory(s), &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleToolListChanged(func(context.Context) {
			select {
			case changed <- struct{}{}:
			default: // the program has not read the previous signal yet; it will list the tools after this change too
			}
		}),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	awaitSubscription(s)
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, clear); err != nil { // called in the server
		fmt.Println(err)
		return
	}
	<-changed
	for tool, err := range client.Tools(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tool.Name)
	}
	// Output:
	// weather
	// forecast
}

func ExampleLogMessagesTo() {
	server := withTool("query", func(ctx context.Context, _ struct{}) (string, error) {
		r := mcpserver.RequestFrom(ctx)
		if err := r.Log(ctx, mcp.LevelDebug, "db", "a plan"); err != nil { // below the level that the client requests
			return "", err
		}
		return "3 rows", r.Log(ctx, mcp.LevelWarning, "db", map[string]any{"slow": true})
	})
	logger := slog.New(slog.NewTextHandler(os.Stdout,
		&slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	ctx := context.Background()
	said := make(chan struct{}, 1)
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.LogMessagesTo(logger),
		mcpclient.HandleLogMessage(func(context.Context, *mcp.LoggingMessageParams) { said <- struct{}{} }),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	if err := client.SetLogLevel(ctx, mcp.LevelInfo); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := client.CallTool(ctx, "query", nil); err != nil {
		fmt.Println(err)
		return
	}
	<-said
	// Output: level=WARN msg="server log message" logger=db data="{\"slow\":true}"
}

func ExampleUseRoots() {
	server := withTool("build", func(ctx context.Context, _ struct{}) (string, error) {
		roots, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
		if err != nil {
			return "", err
		}
		return "working in " + roots[0].URI, nil
	})
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.UseRoots(&mcp.Root{URI: "file:///home/me/project", Name: "project"}),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	for range 2 {
		r, err := client.CallTool(ctx, "build", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Text())
		if err := client.SetRoots(ctx, &mcp.Root{URI: "file:///home/me/other"}); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// working in file:///home/me/project
	// working in file:///home/me/other
}

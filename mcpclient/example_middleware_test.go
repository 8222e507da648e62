package mcpclient_test

import (
	"context"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// HandlerMiddleware sees all requests of the server to the client.
func ExampleOptions_handlerMiddleware() {
	server := withTool("build", func(ctx context.Context, _ struct{}) (string, error) {
		roots, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
		return fmt.Sprint(len(roots), " roots"), err
	})
	noted := func(next mcpclient.RequestHandler) mcpclient.RequestHandler {
		return func(ctx context.Context, r *mcpclient.Request) (any, error) {
			fmt.Println("the server asks for", r.Method)
			return next(ctx, r)
		}
	}
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{
		Features:          []mcpclient.Feature{mcpclient.UseRoots(&mcp.Root{URI: "file:///srv"})},
		HandlerMiddleware: []func(mcpclient.RequestHandler) mcpclient.RequestHandler{noted},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	result, err := client.CallTool(ctx, "build", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// the server asks for roots/list
	// 1 roots
}

// If a tool only reads, middleware may call it again after a failure.
func ExampleMiddleware() {
	again := func(next mcpclient.CallFunc) mcpclient.CallFunc {
		return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
			err := next(ctx, method, params, result, options...)
			if r, ok := result.(*mcp.CallToolResult); ok && err == nil && r.IsError {
				fmt.Println(method, "says:", r.Text())
				params.(*mcp.CallToolParams).Arguments = query{City: "Oslo"}
				err = next(ctx, method, params, result, options...)
			}
			return err
		}
	}
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, weatherServer(), &mcpclient.Options{Middleware: []mcpclient.Middleware{again}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	result, err := client.CallTool(ctx, "weather", query{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// tools/call says: which city?
	// {"sky":"clear","celsius":21}
}

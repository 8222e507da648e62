package mcpclient_test

import (
	"context"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// A tool that only reads may be called again when it fails.
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
	defer client.Stop(ctx)

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

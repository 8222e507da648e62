package mcpserver_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func ExampleOptions_middleware() {
	// This middleware rejects calls of tools after closing time.
	closed := func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
		return func(ctx context.Context, r *mcpserver.Request) (any, error) {
			if r.Method == mcp.MethodCallTool {
				return nil, &mcp.Error{Code: mcp.CodeInternalError, Message: "closed"}
			}
			result, err := next(ctx, r)
			fmt.Println(r.Method, "for", r.Client().Name, "error:", err)
			return result, err
		}
	}
	s := mcpserver.New(mcp.Implementation{Name: "shop", Version: "1.0"}, &mcpserver.Options{
		Limits:     mcpserver.Limits{Total: 100}, // concurrent requests of all clients together
		Middleware: []func(mcpserver.RequestHandler) mcpserver.RequestHandler{closed},
	})
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "buy"},
		func(context.Context, struct{}) (string, error) { return "bought", nil })
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	ask(s, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"buy"}}`)
	// Output:
	// initialize for  error: <nil>
	// ping for example error: <nil>
	// {"jsonrpc":"2.0","id":1,"result":{}}
	// initialize for  error: <nil>
	// {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"closed"}}
}

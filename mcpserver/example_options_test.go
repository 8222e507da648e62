package mcpserver_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Two processes serve one address. The first round of a call reaches one process, and the second round reaches the
// other process. The other process can decrypt the state that the first process has sent to the client.
func ExampleOptions_stateKeys() {
	key := []byte("a secret of exactly 32 bytes, ok") // a real program generates the key with crypto/rand
	type name struct {
		Name string `json:"name"`
	}
	var processes []http.Handler
	for i := range 2 {
		s := mcpserver.New(mcp.Implementation{Name: "greeter", Version: "1.0"}, &mcpserver.Options{StateKeys: [][]byte{key}})
		addTool(s, "greet", func(ctx context.Context, _ struct{}) (string, error) {
			begun, err := mcpserver.Once(ctx, "begun", func() (int, error) { return i, nil })
			if err != nil {
				return "", err
			}
			in, action, err := mcpserver.ElicitAs[name](ctx, "Who are you?")
			if err != nil || action != mcp.ElicitAccept {
				return string(action), err
			}
			return fmt.Sprintf("begun by process %d, ended by %d: hello, %s", begun, i, in.Name), nil
		})
		handler := s.HTTPHandler(nil)
		defer handler.Shutdown(context.Background())
		processes = append(processes, handler)
	}
	var calls atomic.Int64
	balancer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") != mcp.MethodCallTool {
			processes[0].ServeHTTP(w, r)
			return
		}
		processes[(calls.Add(1)-1)%2].ServeHTTP(w, r)
	}))
	defer balancer.Close()

	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, &transport.HTTP{URL: balancer.URL},
		&mcpclient.Options{Features: []mcpclient.Feature{
			mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": "Ada"}}, nil
			}),
		}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	result, err := client.CallTool(ctx, "greet", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output: begun by process 0, ended by 1: hello, Ada
}

// Clients may cache lists that stay the same for a while.
func ExampleOptions_cacheTTL() {
	counted := func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
		return func(ctx context.Context, r *mcpserver.Request) (any, error) {
			if r.Method == mcp.MethodListTools {
				fmt.Println("asked for the tools")
			}
			return next(ctx, r)
		}
	}
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, &mcpserver.Options{
		Cache:      mcpserver.Cache{TTL: time.Hour},
		Middleware: []func(mcpserver.RequestHandler) mcpserver.RequestHandler{counted},
	})
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, forecast); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	client := clientOf(s, nil)
	defer client.Close()
	for range 2 {
		for tool, err := range client.Tools(ctx) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(tool.Name)
		}
	}
	// Output:
	// asked for the tools
	// forecast
	// forecast
}

// Clients request a long list page by page, with a cursor.
func ExampleOptions_pageSize() {
	s := mcpserver.New(mcp.Implementation{Name: "letters", Version: "1.0"}, &mcpserver.Options{PageSize: 2})
	for _, name := range []string{"a", "b", "c"} {
		addTool(s, name, func(context.Context, struct{}) (string, error) { return "", nil })
	}
	ctx := context.Background()
	client := clientOf(s, nil)
	defer client.Close()
	first, err := client.ListTools(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	second, err := client.ListTools(ctx, first.NextCursor)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(first.Tools), "and", len(second.Tools), "more:", second.NextCursor != nil)
	// Output: 2 and 1 more: false
}

// The context of a handler ends when the client cancels the call.
func ExampleAddTool_cancel() {
	s := mcpserver.New(mcp.Implementation{Name: "search", Version: "1.0"}, nil)
	ended := make(chan error, 1)
	addTool(s, "search", func(ctx context.Context, _ struct{}) (string, error) {
		select {
		case <-time.After(time.Hour):
			return "42", nil
		case <-ctx.Done():
			ended <- ctx.Err()
			return "", ctx.Err()
		}
	})
	ctx := context.Background()
	client := clientOf(s, nil)
	defer client.Close()
	_, err := client.CallTool(ctx, "search", nil, mcpclient.WithTimeout(100*time.Millisecond))
	fmt.Println("client:", err)
	fmt.Println("server:", <-ended)
	// Output:
	// client: tools/call: no answer within 100ms; raise the limit with WithTimeout or Options.RequestTimeout
	// server: context canceled
}

// A server may add and remove tools at any time; it notifies connected clients that have asked for such notifications.
func ExampleServer_RemoveTools() {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, forecast); err != nil {
		log.Fatal(err)
	}
	changed := make(chan struct{}, 1)
	client := clientOf(s, &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleToolListChanged(func(context.Context) { changed <- struct{}{} }),
	}})
	ctx := context.Background()
	defer client.Close()

	awaitSubscription(s)
	s.RemoveTools("forecast")
	<-changed
	tools, err := client.ListTools(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(tools.Tools), "tools")
	// Output: 0 tools
}

// A client may call two tools at once, and after that sixty tools an hour.
func ExampleOptions_rates() {
	s := mcpserver.New(mcp.Implementation{Name: "search", Version: "1.0"}, &mcpserver.Options{
		Rates: mcpserver.Rates{ToolCalls: mcpserver.Rate{PerSecond: 1.0 / 60, Burst: 2}},
	})
	addTool(s, "search", func(context.Context, struct{}) (string, error) { return "42", nil })
	ctx := context.Background()
	client := clientOf(s, nil)
	defer client.Close()
	for range 3 {
		result, err := client.CallTool(ctx, "search", nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(result.Text())
	}
	// Output:
	// 42
	// 42
	// tools/call: server error -32603: too many requests of this kind; try again later
}

package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// A server on the network may require authorization. Package auth implements the authorization of the specification,
// see [transport.HTTP]. The server of this example requires only a header.
func ExampleConnect_http() {
	s := mcpserver.New(mcp.Implementation{Name: "whoami", Version: "1.0"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "whoami"}, func(ctx context.Context, _ struct{}) (string, error) {
		return mcpserver.RequestFrom(ctx).HTTP().Header.Get("X-User"), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := s.HTTPHandler(nil)
	web := httptest.NewServer(handler)
	defer web.Close()
	defer handler.Shutdown(context.Background())

	ctx := context.Background()
	server := &transport.HTTP{URL: web.URL, Header: http.Header{"X-User": {"ada"}}}
	client, err := mcpclient.Connect(ctx, server, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	result, err := client.CallTool(ctx, "whoami", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output: ada
}

// If a tool declares that arguments are repeated in HTTP headers, for example for gateways, the client sends these
// headers automatically.
func ExampleClient_CallTool_headers() {
	s := mcpserver.New(mcp.Implementation{Name: "db", Version: "1.0"}, nil)
	schema := []byte(`{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}`)
	err := s.AddTool(&mcp.Tool{Name: "query", InputSchema: schema},
		func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			text := mcp.Text("routed to " + r.HTTP().Header.Get("Mcp-Param-Region"))
			return &mcp.CallToolResult{Content: mcp.ContentList{text}}, nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := s.HTTPHandler(nil)
	web := httptest.NewServer(handler)
	defer web.Close()
	defer handler.Shutdown(context.Background())

	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, &transport.HTTP{URL: web.URL}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	result, err := client.CallTool(ctx, "query", map[string]any{"region": "eu-west"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output: routed to eu-west
}

// When the context of a call ends, the call is cancelled, also at the server.
func ExampleClient_CallTool_cancel() {
	begun, ended := make(chan struct{}), make(chan error, 1)
	server := withTool("wait", func(ctx context.Context, _ struct{}) (string, error) {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	})
	client, err := mcpclient.Connect(context.Background(), server, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-begun
		cancel()
	}()
	_, err = client.CallTool(ctx, "wait", nil)
	fmt.Println(err)
	fmt.Println("the tool:", <-ended)
	// Output:
	// tools/call: cancelled by the caller: context canceled
	// the tool: context canceled
}

// If the server has not declared a feature, the client does not send requests for it.
func ExampleError_unsupported() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, weatherServer(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	_, err = client.GetPrompt(ctx, "review", nil)
	fmt.Println(err)
	fmt.Println(errors.Is(err, mcpclient.ErrUnsupported))
	// Output:
	// prompts/get: not supported by the server: prompts
	// true
}

// The client lists page by page. [Client.Tools] requests the pages automatically.
func ExampleClient_ListTools() {
	s := mcpserver.New(mcp.Implementation{Name: "letters", Version: "1.0"}, &mcpserver.Options{PageSize: 2})
	for _, name := range []string{"a", "b", "c"} {
		handler := func(context.Context, struct{}) (string, error) { return "", nil }
		if err := mcpserver.AddTool(s, &mcp.Tool{Name: name}, handler); err != nil {
			fmt.Println(err)
			return
		}
	}
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, inMemory(s), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	cursor := (*string)(nil) // nil for the first page
	for page := 1; page == 1 || cursor != nil; page++ {
		r, err := client.ListTools(ctx, cursor)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, tool := range r.Tools {
			fmt.Println("page", page, tool.Name)
		}
		cursor = r.NextCursor
	}
	// Output:
	// page 1 a
	// page 1 b
	// page 2 c
}

// The method is not part of the protocol.
func ExampleClient_Call() {
	type reindex struct {
		Folder string `json:"folder"`
	}
	s := mcpserver.New(mcp.Implementation{Name: "search", Version: "1.0"}, nil)
	err := s.HandleRequest("acme/reindex", func(_ context.Context, r *mcpserver.Request) (any, error) {
		var p reindex
		if err := r.Decode(&p); err != nil {
			return nil, err
		}
		return map[string]int{"documents": len(p.Folder)}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, inMemory(s), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	var result struct {
		Documents int `json:"documents"`
	}
	if err := client.Call(ctx, "acme/reindex", reindex{Folder: "/docs"}, &result); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Documents, "documents")
	// Output: 5 documents
}

// The code of a server's error distinguishes the reasons.
func ExampleClient_Call_methodNotFound() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, weatherServer(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	err = client.Call(ctx, "acme/reindex", nil, nil)
	switch {
	case errors.Is(err, mcp.ErrMethodNotFound):
		fmt.Println("a server without an index")
	case errors.Is(err, mcp.ErrInvalidParams):
		fmt.Println("a mistake in this program:", err)
	case err != nil:
		fmt.Println(err)
	}
	// Output: a server without an index
}

func ExampleRetry() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, weatherServer(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	// A list may be requested twice without harm. Retry it up to three times if the connection is lost.
	tools, err := client.ListTools(ctx, nil, mcpclient.Retry(3), mcpclient.WithTimeout(30*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tools.Tools[0].Name)
	// Output:
	// weather
}

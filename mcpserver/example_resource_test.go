package mcpserver_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func ExampleServer_AddResource() {
	s := mcpserver.New(mcp.Implementation{Name: "files", Version: "1.0"}, nil)
	logo := &mcp.Resource{URI: "image://logo", Name: "logo", Description: "The company's logo.", MIMEType: "image/gif"}
	err := s.AddResource(logo, func(ctx context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult,
		error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{mcp.BlobContents([]byte("GIF89a"))}}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)
	ask(s, `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"image://logo"}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"image://logo","name":"logo","description":"The company's logo.","mimeType":"image/gif"}]}}
	// {"jsonrpc":"2.0","id":2,"result":{"contents":[{"uri":"image://logo","mimeType":"image/gif","blob":"R0lGODlh"}]}}
}

func ExampleServer_AddResourceTemplate() {
	cities := map[string]string{"paris": "sunny", "oslo": "snow"}
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	t := &mcp.ResourceTemplate{URITemplate: "weather://{city}/today", Name: "weather", MIMEType: "text/plain"}
	err := s.AddResourceTemplate(t, func(ctx context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult,
		error) {
		sky, ok := cities[r.Variables["city"]]
		if !ok {
			return nil, mcpserver.ResourceNotFound(r.URI)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: sky}}}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"weather://oslo/today"}}`)
	ask(s, `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"weather://rome/today"}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"weather://oslo/today","mimeType":"text/plain","text":"snow"}]}}
	// {"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"resource not found","data":{"uri":"weather://rome/today"}}}
}

// A client subscribes to a resource, and gets a notification when it should read the resource again.
func ExampleServer_ResourceUpdated() {
	s := mcpserver.New(mcp.Implementation{Name: "stock", Version: "1.0"}, nil)
	count := &mcp.Resource{URI: "stock://lamps", Name: "lamps"}
	err := s.AddResource(count, func(ctx context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult,
		error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: "3 lamps"}}}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	updated := make(chan string, 1)
	client := clientOf(s, &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) { updated <- uri }),
	}})
	defer client.Close()
	if err := client.SubscribeResource(ctx, "stock://lamps"); err != nil {
		log.Fatal(err)
	}

	s.ResourceUpdated("stock://lamps") // a customer bought one
	fmt.Println("read again:", <-updated)
	// Output: read again: stock://lamps
}

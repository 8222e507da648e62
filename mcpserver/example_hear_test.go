package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// The server handles a custom notification.
func ExampleServer_HandleNotification() {
	type opened struct {
		File string `json:"file"`
	}
	s := mcpserver.New(mcp.Implementation{Name: "editor", Version: "1.0"}, nil)
	files := make(chan string, 1)
	err := s.HandleNotification("notifications/acme/opened", func(ctx context.Context, n *mcpserver.Notification) {
		var p opened
		if err := json.Unmarshal(n.Params, &p); err != nil {
			log.Print(err) // the client gets no answer to a notification
			return
		}
		select {
		case files <- p.File:
		case <-ctx.Done(): // the client has disconnected
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	client := clientOf(s, nil)
	defer client.Close()
	if err := client.Notify(ctx, "notifications/acme/opened", opened{File: "main.go"}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("the client has opened", <-files)
	// Output: the client has opened main.go
}

// A legacy client reports that its roots have changed, and the server asks for the new roots.
func ExampleServer_HandleRootsChanged() {
	s := mcpserver.New(mcp.Implementation{Name: "editor", Version: "1.0"}, nil)
	type answer struct {
		roots mcp.ListRootsResult
		err   error
	}
	answers := make(chan answer, 1)
	err := s.HandleRootsChanged(func(ctx context.Context, session *mcpserver.Session) {
		var a answer
		a.err = session.AskAll(ctx, mcpserver.AskListRoots("roots", &a.roots))
		select {
		case answers <- a:
		case <-ctx.Done(): // the client has disconnected
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	client := clientOf(s, &mcpclient.Options{
		Versions: []mcp.Version{mcp.Version20251125},
		Features: []mcpclient.Feature{mcpclient.UseRoots(&mcp.Root{URI: "file:///home/ada"})},
	})
	defer client.Close()
	if err := client.SetRoots(ctx, &mcp.Root{URI: "file:///home/ada"}, &mcp.Root{URI: "file:///srv"}); err != nil {
		log.Fatal(err)
	}
	a := <-answers
	if a.err != nil {
		log.Fatal(a.err)
	}
	for _, root := range a.roots.Roots {
		fmt.Println(root.URI)
	}
	// Output:
	// file:///home/ada
	// file:///srv
}

package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// inMemory connects clients to s within the process. This is also the way to test a server.
func inMemory(s *mcpserver.Server) transport.Transport {
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) })
}

// clientOf returns a client of s.
func clientOf(s *mcpserver.Server, o *mcpclient.Options) *mcpclient.Client {
	client, err := mcpclient.Connect(context.Background(), inMemory(s), o)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// awaitSubscription waits until the client has subscribed to changes of the server. The client subscribes in the
// background when it is ready.
func awaitSubscription(s *mcpserver.Server) {
	for s.Inspect().Subscriptions == 0 {
		runtime.Gosched()
	}
}

// bothEras calls a tool of s as a client of each era and prints the result. The users and models of the clients answer.
func bothEras(s *mcpserver.Server, tool string) {
	ctx := context.Background()
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		client, err := mcpclient.Connect(ctx, inMemory(s),
			&mcpclient.Options{
				Versions: []mcp.Version{v},
				Features: []mcpclient.Feature{
					mcpclient.HandleElicitation(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
						return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": "Ada", "size": "large"}}, nil
					}),
					mcpclient.HandleSampling(func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
						return &mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{mcp.Text("a haiku")}}, nil
					}, nil),
					mcpclient.UseRoots(&mcp.Root{URI: "file:///home/ada"}),
				},
			})
		if err != nil {
			log.Fatal(err)
		}
		result, err := client.CallTool(ctx, tool, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(v, result.Text())
		if err := client.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

func addTool(s *mcpserver.Server, name string, h func(context.Context, struct{}) (string, error)) {
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: name}, h); err != nil {
		log.Fatal(err)
	}
}

func ExampleRequestInfo_Elicit() {
	s := mcpserver.New(mcp.Implementation{Name: "greeter", Version: "1.0"}, nil)
	addTool(s, "greet", func(ctx context.Context, _ struct{}) (string, error) {
		answer, err := mcpserver.RequestFrom(ctx).Elicit(ctx, &mcp.ElicitParams{
			Message:         "What is your name?",
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
		})
		switch {
		case errors.Is(err, mcpserver.ErrUnsupported):
			return "Hello, whoever you are!", nil
		case err != nil:
			return "", err // return the error unchanged: it may ask the client first
		case answer.Action != mcp.ElicitAccept:
			return "Never mind.", nil
		}
		return fmt.Sprintf("Hello, %v!", answer.Content["name"]), nil
	})
	bothEras(s, "greet")
	// Output:
	// 2025-11-25 Hello, Ada!
	// 2026-07-28 Hello, Ada!
}

func ExampleElicitAs() {
	type order struct {
		Name string `json:"name" jsonschema:"on whose name"`
		Size string `json:"size"`
		Cups int    `json:"cups,omitzero"`
	}
	s := mcpserver.New(mcp.Implementation{Name: "cafe", Version: "1.0"}, nil)
	addTool(s, "order", func(ctx context.Context, _ struct{}) (string, error) {
		in, action, err := mcpserver.ElicitAs[order](ctx, "Your order?", func(f *mcp.FormSchema) {
			f.Field("size").Enum = []string{"small", "large"}
			f.Field("cups").Default = json.RawMessage(`1`)
		})
		if err != nil || action != mcp.ElicitAccept {
			return string(action), err
		}
		return fmt.Sprintf("%d %s for %s", in.Cups, in.Size, in.Name), nil
	})
	bothEras(s, "order")
	// Output:
	// 2025-11-25 1 large for Ada
	// 2026-07-28 1 large for Ada
}

func ExampleRequestInfo_CreateMessage() {
	s := mcpserver.New(mcp.Implementation{Name: "poet", Version: "1.0"}, nil)
	addTool(s, "poem", func(ctx context.Context, _ struct{}) (string, error) {
		m, err := mcpserver.RequestFrom(ctx).CreateMessage(ctx, &mcp.CreateMessageParams{
			Messages:  []*mcp.SamplingMessage{{Role: "user", Content: mcp.SamplingContent{mcp.Text("Write a poem.")}}},
			MaxTokens: 100,
		})
		if err != nil {
			return "", err
		}
		return m.Content.Text(), nil
	})
	bothEras(s, "poem")
	// Output:
	// 2025-11-25 a haiku
	// 2026-07-28 a haiku
}

func ExampleRequestInfo_ListRoots() {
	s := mcpserver.New(mcp.Implementation{Name: "files", Version: "1.0"}, nil)
	addTool(s, "where", func(ctx context.Context, _ struct{}) (string, error) {
		roots, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
		if err != nil {
			return "", err
		}
		return roots[0].URI, nil
	})
	bothEras(s, "where")
	// Output:
	// 2025-11-25 file:///home/ada
	// 2026-07-28 file:///home/ada
}

func ExampleRequestInfo_AskAll() {
	s := mcpserver.New(mcp.Implementation{Name: "greeter", Version: "1.0"}, nil)
	form := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	addTool(s, "greet", func(ctx context.Context, _ struct{}) (string, error) {
		var user mcp.ElicitResult
		var roots mcp.ListRootsResult
		err := mcpserver.RequestFrom(ctx).AskAll(ctx,
			mcpserver.AskElicit("user_name", &mcp.ElicitParams{Message: "Who are you?", RequestedSchema: form}, &user),
			mcpserver.AskListRoots("client_roots", &roots),
		)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%v works in %s", user.Content["name"], roots.Roots[0].URI), nil
	})
	bothEras(s, "greet")
	// Output:
	// 2025-11-25 Ada works in file:///home/ada
	// 2026-07-28 Ada works in file:///home/ada
}

func ExampleOnce() {
	s := mcpserver.New(mcp.Implementation{Name: "shop", Version: "1.0"}, nil)
	placed := 0
	addTool(s, "buy", func(ctx context.Context, _ struct{}) (string, error) {
		// For a modern client, this handler runs twice.
		order, err := mcpserver.Once(ctx, "order", func() (int, error) {
			placed++
			return placed, nil
		})
		if err != nil {
			return "", err
		}
		roots, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("order %d goes to %s", order, roots[0].URI), nil
	})
	bothEras(s, "buy")
	fmt.Println(placed, "orders")
	// Output:
	// 2025-11-25 order 1 goes to file:///home/ada
	// 2026-07-28 order 2 goes to file:///home/ada
	// 2 orders
}

func ExampleRequestInfo_RequireInput() {
	s := mcpserver.New(mcp.Implementation{Name: "jobs", Version: "1.0"}, nil)
	err := s.AddTool(&mcp.Tool{Name: "job"},
		func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			if r.RequestState() == "" { // the first round
				return nil, r.RequireInput(mcp.InputRequests{"where": {Method: mcp.MethodListRoots}}, "job-17")
			}
			text := fmt.Sprintf("%s runs in %s", r.RequestState(), r.InputResponses()["where"])
			return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(text)}}, nil
		})
	if err != nil {
		log.Fatal(err)
	}
	bothEras(s, "job")
	// Output:
	// 2025-11-25 job-17 runs in {"roots":[{"uri":"file:///home/ada"}]}
	// 2026-07-28 job-17 runs in {"roots":[{"uri":"file:///home/ada"}]}
}

func ExampleURLElicitationRequired() {
	s := mcpserver.New(mcp.Implementation{Name: "files", Version: "1.0"}, nil)
	addTool(s, "share", func(context.Context, struct{}) (string, error) {
		return "", mcpserver.URLElicitationRequired("Sign in first.", &mcp.ElicitParams{
			Message: "The files are with Example Co.", URL: "https://mcp.example.com/connect", ElicitationID: "e-17",
		})
	})
	open := strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{"url":{}}}`, 1)
	in := strings.NewReader(open + "\n" + callOf(1, "share", "{}") + "\n")
	if err := s.Serve(context.Background(), mcpserver.NewStreamConn(io.NopCloser(in), &printer{}, 0)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"Sign in first.","data":{"elicitations":[{"mode":"url","message":"The files are with Example Co.","url":"https://mcp.example.com/connect","elicitationId":"e-17"}]}}}
}

package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// library is a server with a resource, a prompt and completions.
func library() transport.Transport {
	s := mcpserver.New(mcp.Implementation{Name: "library", Version: "1.0"}, nil)
	err := errors.Join(
		s.AddResource(&mcp.Resource{URI: "book:///emma", Name: "emma", Title: "Emma"},
			func(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: "Emma Woodhouse, handsome, clever, and " +
					"rich"}}}, nil
			}),
		s.AddPrompt(&mcp.Prompt{Name: "review", Arguments: []mcp.PromptArgument{{Name: "book", Required: true}}},
			func(_ context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
				text := mcp.Text("Write a review of " + r.Arguments["book"] + ".")
				return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser, Content: text}}}, nil
			}),
		s.AddCompletion(mcp.PromptRef("review"), "book",
			func(context.Context, *mcpserver.CompleteRequest) ([]string, error) {
				return []string{"Emma", "Evelina"}, nil
			}),
	)
	if err != nil {
		panic(err)
	}
	return inMemory(s)
}

func ExampleClient_ReadResource() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, library(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	for book, err := range client.Resources(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := client.ReadResource(ctx, book.URI)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(book.Title+":", r.Contents[0].Text)
	}
	_, err = client.ReadResource(ctx, "book:///ulysses")
	fmt.Println(errors.Is(err, mcp.ErrResourceNotFound))
	// Output:
	// Emma: Emma Woodhouse, handsome, clever, and rich
	// true
}

func ExampleClient_GetPrompt() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, library(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	for prompt, err := range client.Prompts(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(prompt.Name, "takes", prompt.Arguments[0].Name)
	}
	r, err := client.GetPrompt(ctx, "review", map[string]string{"book": "Emma"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range r.Messages {
		if text, ok := m.Content.(*mcp.TextContent); ok {
			fmt.Printf("%s: %s\n", m.Role, text.Text)
		}
	}
	// Output:
	// review takes book
	// user: Write a review of Emma.
}

func ExampleClient_Complete() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, library(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	r, err := client.Complete(ctx, mcp.PromptRef("review"), mcp.CompleteArgument{Name: "book", Value: "E"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Completion.Values)
	// Output: [Emma Evelina]
}

// A text field with completions: each character cancels the completion for the previous one.
func ExampleCompleter() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, library(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	field := mcpclient.NewCompleter(client, time.Millisecond)
	r, err := field.Complete(ctx, mcp.PromptRef("review"), mcp.CompleteArgument{Name: "book", Value: "E"}, nil)
	switch {
	case errors.Is(err, mcpclient.ErrSuperseded):
		return // the user has typed another character
	case err != nil:
		fmt.Println(err)
		return
	}
	fmt.Println(r.Completion.Values)
	// Output: [Emma Evelina]
}

func ExampleClient_ResourceTemplates() {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	err := errors.Join(
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "weather:///{city}", Name: "report"},
			func(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				text := "snow in " + r.Variables["city"]
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: text}}}, nil
			}),
		s.AddCompletion(mcp.ResourceRef("weather:///{city}"), "city",
			func(context.Context, *mcpserver.CompleteRequest) ([]string, error) { return []string{"oslo"}, nil }),
	)
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

	for t, err := range client.ResourceTemplates(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		cities, err := client.Complete(ctx, mcp.ResourceRef(t.URITemplate),
			mcp.CompleteArgument{Name: "city", Value: "o"}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(t.URITemplate, cities.Completion.Values)
	}
	r, err := client.ReadResource(ctx, "weather:///oslo")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Contents[0].Text)
	// Output:
	// weather:///{city} [oslo]
	// snow in oslo
}

func ExampleClient_Ping() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, library(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(client.Ping(ctx))
	_ = client.Close()
	fmt.Println(client.Ping(ctx) != nil)
	// Output:
	// <nil>
	// true
}

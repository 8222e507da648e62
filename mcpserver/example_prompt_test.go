package mcpserver_test

import (
	"context"
	"log"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func reviewPrompt(ctx context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
	text := "Review this " + r.Arguments["language"] + " code:\n" + r.Arguments["code"]
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text(text)}}}, nil
}

func ExampleServer_AddPrompt() {
	s := mcpserver.New(mcp.Implementation{Name: "reviewer", Version: "1.0"}, nil)
	err := s.AddPrompt(&mcp.Prompt{
		Name:      "review",
		Arguments: []mcp.PromptArgument{{Name: "code", Required: true}, {Name: "language"}},
	}, reviewPrompt)
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"review","arguments":{"code":"x := 1",`+
		`"language":"Go"}}}`)
	ask(s, `{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"review"}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"messages":[{"role":"user","content":{"type":"text","text":"Review this Go code:\nx := 1"}}]}}
	// {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"prompt review: the argument code is missing"}}
}

func ExampleServer_AddCompletion() {
	s := mcpserver.New(mcp.Implementation{Name: "reviewer", Version: "1.0"}, nil)
	err := s.AddPrompt(&mcp.Prompt{Name: "review", Arguments: []mcp.PromptArgument{{Name: "code"}, {Name: "language"}}},
		reviewPrompt)
	if err != nil {
		log.Fatal(err)
	}
	languages := []string{"Go", "Haskell", "PHP", "Python"}
	err = s.AddCompletion(mcp.PromptRef("review"), "language",
		func(ctx context.Context, r *mcpserver.CompleteRequest) (fitting []string, err error) {
			for _, l := range languages {
				if strings.HasPrefix(strings.ToLower(l), strings.ToLower(r.Value)) {
					fitting = append(fitting, l)
				}
			}
			return fitting, nil
		})
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt",`+
		`"name":"review"},"argument":{"name":"language","value":"p"}}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"completion":{"values":["PHP","Python"],"total":2}}}
}

package mcpclient_test

import (
	"context"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func ExampleHandleSampling() {
	model := mcpclient.HandleSampling(func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult,
		error) {
		for _, hint := range p.ModelPreferences.Hints {
			fmt.Println("the server would like", hint.Name)
		}
		question := p.Messages[0].Content.Text()
		return &mcp.CreateMessageResult{ // the answer of the client's model
			Model:      "local-7b",
			Content:    mcp.SamplingContent{mcp.Text(question + " Paris.")},
			StopReason: mcp.StopEndTurn,
		}, nil
	}, nil)
	server := withTool("quiz", func(ctx context.Context, _ struct{}) (string, error) {
		answer, err := mcpserver.RequestFrom(ctx).CreateMessage(ctx, &mcp.CreateMessageParams{
			Messages: []*mcp.SamplingMessage{
				{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text("What is the capital of France?")}},
			},
			ModelPreferences: &mcp.ModelPreferences{Hints: []mcp.ModelHint{{Name: "sonnet"}}},
			MaxTokens:        100,
		})
		if err != nil {
			return "", err
		}
		return answer.Model + " says: " + answer.Content.Text(), nil
	})
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Features: []mcpclient.Feature{model}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	result, err := client.CallTool(ctx, "quiz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// the server would like sonnet
	// local-7b says: What is the capital of France? Paris.
}

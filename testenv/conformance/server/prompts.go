package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// addPrompts adds the prompts and the completion of their arguments.
func addPrompts(s *mcpserver.Server) error {
	says := func(blocks ...mcp.Content) *mcp.GetPromptResult {
		r := &mcp.GetPromptResult{}
		for _, b := range blocks {
			r.Messages = append(r.Messages, &mcp.PromptMessage{Role: mcp.RoleUser, Content: b})
		}
		return r
	}
	type handler = mcpserver.PromptHandler
	fixed := func(blocks ...mcp.Content) handler {
		return func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return says(blocks...), nil
		}
	}
	return errors.Join(
		s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "Has no arguments"},
			fixed(mcp.Text("This is a simple prompt for testing."))),
		s.AddPrompt(&mcp.Prompt{
			Name: "test_prompt_with_arguments", Description: "Has two arguments", Arguments: []mcp.PromptArgument{
				{Name: "arg1", Description: "First test argument", Required: true},
				{Name: "arg2", Description: "Second test argument", Required: true},
			},
		}, func(_ context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return says(mcp.Text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", r.Arguments["arg1"],
				r.Arguments["arg2"]))), nil
		}),
		s.AddPrompt(&mcp.Prompt{
			Name: "test_prompt_with_embedded_resource", Description: "Has a resource in it", Arguments: []mcp.PromptArgument{
				{Name: "resourceUri", Description: "URI of the resource to embed", Required: true},
			},
		}, func(_ context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return says(&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
				URI: r.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing.",
			}}, mcp.Text("Please process the embedded resource above.")), nil
		}),
		s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "Has a picture in it"},
			fixed(&mcp.ImageContent{Data: redPixel, MIMEType: "image/png"}, mcp.Text("Please analyze the image above."))),
		s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for what it needs"},
			func(ctx context.Context, _ *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
				about, err := field(ctx, "user_context", "What context should the prompt use?", "context")
				return says(mcp.Text("Prompt with context: " + about)), err
			}),
		s.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: "test_prompt_with_arguments"}, "arg1",
			func(_ context.Context, r *mcpserver.CompleteRequest) ([]string, error) {
				var some []string
				for _, word := range []string{"paris", "park", "party"} {
					if strings.HasPrefix(word, r.Value) {
						some = append(some, word)
					}
				}
				return some, nil
			}),
	)
}

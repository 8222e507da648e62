package demoserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func addPrompts(s *mcpserver.Server) error {
	pack := mcp.Prompt{Name: "pack", Title: "Pack a suitcase", Description: "What to take along to a city.",
		Arguments: []mcp.PromptArgument{
			{Name: "city", Description: "where to", Required: true},
			{Name: "days", Description: "for how long"},
		}}
	return errors.Join(
		s.AddPrompt(&pack, packPrompt),
		s.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: pack.Name}, "city", completeCity),
	)
}

func packPrompt(_ context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
	stay := "a day"
	if days := r.Arguments["days"]; days != "" {
		stay = days + " days"
	}
	city := r.Arguments["city"]
	weather := weatherIn(city, 1)[0]
	result := saying(fmt.Sprintf("I go to %s for %s. What do I pack?", city, stay))
	result.Messages = append(result.Messages,
		&mcp.PromptMessage{Role: "user", Content: &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
			URI: "demo://forecast/" + city, MIMEType: "text/plain",
			Text: fmt.Sprintf("%s, %d °C", weather.Sky, weather.CelsiusMax),
		}}})
	return result, nil
}

// saying returns a prompt with one text.
func saying(s string) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: mcp.Text(s)}}}
}

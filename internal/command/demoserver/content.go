package demoserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// addContent adds the tools that return unstructured content, or send messages during the call.
func addContent(s *mcpserver.Server) error {
	return errors.Join(
		mcpserver.AddTool(s, &mcp.Tool{Name: "show", Description: "Show every kind of content."}, show),
		mcpserver.AddTool(s, &mcp.Tool{Name: "talk", Description: "Send a log message of each level."}, talk),
		mcpserver.AddTool(s, &mcp.Tool{
			Name: "change", Description: "Add the tool and the prompt extra, or remove them: the lists change.",
		}, func(context.Context, noArguments) (string, error) { return change(s), nil }),
		mcpserver.AddTool(s, &mcp.Tool{
			Name: "brew", Description: "Brew coffee, which takes its time: a task for clients that know tasks.",
		}, brew, mcpserver.TaskAfter(100*time.Millisecond)),
	)
}

func show(context.Context, noArguments) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: mcp.ContentList{
		mcp.Text("A text."),
		&mcp.ImageContent{Data: onePixel, MIMEType: "image/png"},
		&mcp.AudioContent{Data: oneClick, MIMEType: "audio/wav"},
		&mcp.ResourceLink{URI: clockURI, Name: "clock", MIMEType: "text/plain"},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: aboutURI, MIMEType: "text/markdown", Text: about}},
	}}, nil
}

// talk logs at every level. The client receives only the levels that it has requested.
func talk(ctx context.Context, _ noArguments) (string, error) {
	r := mcpserver.RequestFrom(ctx)
	levels := []mcp.LoggingLevel{
		mcp.LevelDebug, mcp.LevelInfo, mcp.LevelNotice, mcp.LevelWarning, mcp.LevelError, mcp.LevelCritical, mcp.LevelAlert,
		mcp.LevelEmergency,
	}
	for _, level := range levels {
		if err := r.Log(ctx, level, "talk", fmt.Sprintf("This is what %s looks like.", level)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("Those were %d levels.", len(levels)), nil
}

// change adds the extra tool and prompt, or removes them if they exist.
func change(s *mcpserver.Server) string {
	const extra = "extra"
	err := mcpserver.AddTool(s, &mcp.Tool{Name: extra, Description: "Do nothing."},
		func(context.Context, noArguments) (string, error) { return "Nothing done.", nil })
	if err != nil { // the tool already exists
		s.RemoveTools(extra)
		s.RemovePrompts(extra)
		return "removed"
	}
	s.AddPrompt(&mcp.Prompt{Name: extra},
		func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return saying("Do nothing."), nil
		})
	return "added"
}

type brewArguments struct {
	Cups    int     `json:"cups,omitzero" jsonschema:"how many, 1 if not given"`
	Seconds float64 `json:"seconds,omitzero" jsonschema:"how long each takes, 1 if not given"`
}

type brewResult struct {
	Cups int `json:"cups"`
}

// brew takes the given time for each cup. It stops when ctx ends.
func brew(ctx context.Context, in brewArguments) (brewResult, error) {
	cups := max(in.Cups, 1)
	each := time.Second
	if in.Seconds > 0 {
		each = time.Duration(in.Seconds * float64(time.Second))
	}
	cup := time.NewTicker(each)
	defer cup.Stop()
	for done := range cups {
		if err := mcpserver.RequestFrom(ctx).
			Progress(ctx, float64(done)+0.5, float64(cups), fmt.Sprintf("cup %d of %d", done+1, cups)); err != nil {
			return brewResult{}, err
		}
		select {
		case <-cup.C:
		case <-ctx.Done():
			return brewResult{}, context.Cause(ctx)
		}
	}
	return brewResult{cups}, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// addNotices adds the tools that send notifications before they answer, or that change the lists.
func addNotices(s *mcpserver.Server) error {
	var changes atomic.Int64
	return errors.Join(
		add(s, "test_tool_with_logging", "Logs three messages", logThrice),
		add(s, "test_logging_tool", "Logs a message", func(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
			if err := mcpserver.RequestFrom(ctx).
				Log(ctx, mcp.LevelInfo, "conformance", "A message for those who asked"); err != nil {
				return nil, err
			}
			return answer(mcp.Text("logged")), nil
		}),
		add(s, "test_tool_with_progress", "Reports progress",
			func(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
				for _, percent := range []float64{0, 50, 100} {
					if err := mcpserver.RequestFrom(ctx).Progress(ctx, percent, 100, fmt.Sprintf("%v %% done", percent)); err != nil {
						return nil, err
					}
					if err := pause(ctx, 50*time.Millisecond); err != nil {
						return nil, err
					}
				}
				return answer(mcp.Text("done")), nil
			}),
		add(s, "test_reconnection", "Closes its stream and answers later",
			func(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
				if err := mcpserver.RequestFrom(ctx).CloseStream(ctx, 0); err != nil && !errors.Is(err, mcpserver.ErrNotResumable) {
					return nil, err
				}
				if err := pause(ctx, 100*time.Millisecond); err != nil {
					return nil, err
				}
				return answer(mcp.Text("The answer came after the stream was closed.")), nil
			}),
		add(s, "test_trigger_tool_change", "Changes the list of tools",
			func(context.Context, nothing) (*mcp.CallToolResult, error) {
				name := fmt.Sprintf("added_%d", changes.Add(1))
				err := add(s, name, "Is there for a moment", func(context.Context, nothing) (*mcp.CallToolResult, error) {
					return nil, nil
				})
				s.RemoveTools(name)
				return answer(mcp.Text("changed")), err
			}),
		add(s, "test_trigger_prompt_change", "Changes the list of prompts",
			func(context.Context, nothing) (*mcp.CallToolResult, error) {
				name := fmt.Sprintf("added_%d", changes.Add(1))
				err := s.AddPrompt(&mcp.Prompt{Name: name},
					func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
						return &mcp.GetPromptResult{}, nil
					})
				s.RemovePrompts(name)
				return answer(mcp.Text("changed")), err
			}),
	)
}

func logThrice(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
	for i, message := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return nil, err
			}
		}
		if err := mcpserver.RequestFrom(ctx).Log(ctx, mcp.LevelInfo, "", message); err != nil {
			return nil, err
		}
	}
	return answer(mcp.Text("Tool with logging executed successfully")), nil
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

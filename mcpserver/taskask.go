package mcpserver

import (
	"context"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
)

// taskOf returns the task through which a handler with the context ctx asks the client, nil if it asks through the
// request.
func taskOf(ctx context.Context) (*tasks.Run, error) {
	info := RequestFrom(ctx)
	if info == nil || info.task == nil {
		return nil, nil
	}
	if asks, err := info.task.CanAsk(ctx); !asks || err != nil {
		return nil, err
	}
	return info.task, nil
}

// askIn asks the client through a task, and stores the responses in items.
func askIn(ctx context.Context, task *tasks.Run, items []*inquiry) error {
	requests := mcp.InputRequests{}
	for _, it := range items {
		requests[it.key] = mcp.InputRequest{Method: it.Method(), Params: it.encoded}
	}
	responses, err := task.Ask(ctx, requests)
	if err != nil {
		return clientError(err)
	}
	for _, it := range items {
		if err := it.Take(ctx, responses[it.key]); err != nil {
			return fmt.Errorf("%s: the client's response: %w", it.Method(), err)
		}
	}
	return nil
}

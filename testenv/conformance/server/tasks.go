package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// addTasks adds tools with calls that become tasks, and one tool with calls that do not.
func addTasks(s *mcpserver.Server) error {
	type person struct {
		Name string `json:"name"`
	}
	required := &mcp.ToolExecution{TaskSupport: mcp.TaskRequired}
	return errors.Join(
		mcpserver.AddTool(s, &mcp.Tool{Name: "greet", Description: "Greets"},
			func(_ context.Context, in person) (string, error) {
				return "Hello, " + in.Name + "!", nil
			}),
		mcpserver.AddTool(s, &mcp.Tool{Name: "slow_compute", Description: "Takes a number of seconds"}, compute,
			mcpserver.TaskTool()),
		mcpserver.AddTool(s, &mcp.Tool{Name: "failing_job", Description: "Fails after a second", Execution: required},
			func(ctx context.Context, _ nothing) (string, error) {
				if err := pause(ctx, time.Second); err != nil {
					return "", err
				}
				return "", errors.New("the job has failed")
			}, mcpserver.TaskTool()),
		mcpserver.AddTool(s, &mcp.Tool{Name: "protocol_error_job", Description: "Breaks"},
			func(context.Context, nothing) (string, error) {
				panic("a job that breaks")
			}, mcpserver.TaskTool()),
		mcpserver.AddTool(s, &mcp.Tool{Name: "confirm_delete", Description: "Asks before it deletes"}, confirmDelete,
			mcpserver.TaskTool()),
		mcpserver.AddTool(s, &mcp.Tool{Name: "multi_input", Description: "Asks two questions at once"}, askTwice,
			mcpserver.TaskTool()),
		mcpserver.AddTool(s, &mcp.Tool{Name: "test_tool_with_task", Description: "Asks, and then becomes a task",
			Execution: required}, askFirst, mcpserver.TaskWhenAsked()),
	)
}

type work struct {
	Seconds float64 `json:"seconds"`
	Label   string  `json:"label,omitzero"`
}

func compute(ctx context.Context, in work) (string, error) {
	err := pause(ctx, time.Duration(in.Seconds*float64(time.Second)))
	return "computed " + in.Label, err
}

type file struct {
	Filename string `json:"filename"`
}

func confirmDelete(ctx context.Context, in file) (string, error) {
	const form = `{"type":"object","properties":{"confirm":{"type":"boolean"}}}`
	r, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
		&mcp.ElicitParams{Message: "Delete " + in.Filename + "?", RequestedSchema: json.RawMessage(form)})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("deleted %s: %s", in.Filename, r.Action), nil
}

// askTwice has two open questions at the same time.
func askTwice(ctx context.Context, _ nothing) (string, error) {
	const form = `{"type":"object","properties":{"name":{"type":"string"},"confirm":{"type":"boolean"}}}`
	var both sync.WaitGroup
	errs := make([]error, 2)
	for i, question := range []string{"What is your name?", "Are you sure?"} {
		both.Go(func() {
			_, errs[i] = mcpserver.RequestFrom(ctx).Elicit(ctx,
				&mcp.ElicitParams{Message: question, RequestedSchema: json.RawMessage(form)})
		})
	}
	both.Wait()
	return "done", errors.Join(errs...)
}

// askFirst becomes a task only when it has a question.
func askFirst(ctx context.Context, _ nothing) (string, error) {
	name, err := field(ctx, "user_name", "What is your name?", "name")
	if err != nil {
		return "", err
	}
	if err := mcpserver.RequestFrom(ctx).BeginTask(ctx); err != nil {
		return "", err
	}
	return "Hello, " + name + "!", nil
}

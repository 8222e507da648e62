package e2e

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// The client supports the tasks of 2025-11-25 on the server. It has no built-in support for tasks of the server's
// requests to the client; these tests implement them with handlers and types.

// asTask is middleware that turns a request into a task if the server wants that.
func (p *person) asTask(next mcpclient.RequestHandler) mcpclient.RequestHandler {
	return func(ctx context.Context, r *mcpclient.Request) (any, error) {
		var params struct {
			Task *mcp.TaskMetadata `json:"task"`
		}
		if err := r.Decode(&params); err != nil || params.Task == nil {
			return next(ctx, r)
		}
		result, err := next(ctx, r)
		p.mu.Lock()
		defer p.mu.Unlock()
		task := legacyTask(rand.Text(), mcp.TaskWorking)
		p.tasks[task.TaskID] = func() (any, error) { return result, err }
		return &mcp.LegacyCreateTaskResult{Task: task}, nil
	}
}

func legacyTask(id string, status mcp.TaskStatus) mcp.LegacyTask {
	now := time.Now().UTC().Format(time.RFC3339)
	return mcp.LegacyTask{TaskID: id, Status: status, CreatedAt: now, LastUpdatedAt: now, TTL: new(int64(60_000))}
}

// task answers with the status of a task, after its end.
func (p *person) task(_ context.Context, r *mcpclient.Request) (any, error) {
	var params mcp.TaskParams
	if err := r.Decode(&params); err != nil {
		return nil, err
	}
	return &mcp.LegacyTaskResult{LegacyTask: legacyTask(params.TaskID, mcp.TaskCompleted)}, nil
}

// outcome answers with the result of the request that became a task.
func (p *person) outcome(_ context.Context, r *mcpclient.Request) (any, error) {
	var params mcp.TaskParams
	if err := r.Decode(&params); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tasks[params.TaskID]()
}

// research is a call of a tool that must run as a task, with its result.
type research struct {
	outcome chan error
	result  *mcp.CallToolResult // nil before the end of the task
}

// begin starts the same task in three ways, and one more task, which it cancels.
func (x *explorer) begin() (all []*research) {
	x.Helper()
	const tool = "simulate-research-query"
	x.called[tool] = true
	start := func(arguments string) *mcpclient.Task {
		task, err := x.client.StartTool(x.ctx, tool, json.RawMessage(arguments))
		if err != nil || task.ID() == "" || task.Status().Status != mcp.TaskWorking {
			x.Fatalf("%s: want a task that works, got %+v, %v", tool, task.Status(), err)
		}
		return task
	}
	tea, python, rain := start(`{"topic":"tea"}`), start(`{"topic":"python","ambiguous":true}`), start(`{"topic":"rain"}`)
	if d, err := tea.Poll(x.ctx); err != nil || d.TaskID != tea.ID() || d.PollIntervalMs == nil {
		x.Errorf("want to hear how far the task is, got %+v, %v", d, err)
	}
	if err := rain.Cancel(x.ctx); err != nil || rain.Status().Status != mcp.TaskCancelled {
		x.Errorf("want the task cancelled, got %+v, %v", rain.Status(), err)
	}
	if _, err := rain.Wait(x.ctx); !errors.Is(err, mcpclient.ErrTaskCancelled) {
		x.Errorf("want ErrTaskCancelled, got %v", err)
	}
	if err := x.client.ResumeTask(rain.ID()).Cancel(x.ctx); err != nil { // the server refuses this
		x.Errorf("want no error for what is cancelled already, got %v", err)
	}
	if _, err := x.client.ResumeTask("nonesuch").Wait(x.ctx); !errors.Is(err, mcpclient.ErrTaskUnknown) {
		x.Errorf("want ErrTaskUnknown, got %v", err)
	}
	listed := names(x, x.client.LegacyTasks(x.ctx), func(t *mcp.LegacyTask) string { return t.TaskID })
	for _, task := range []*mcpclient.Task{tea, python, rain} {
		if !slices.Contains(listed, task.ID()) {
			x.Errorf("want the task %s listed, got %q", task.ID(), listed)
		}
	}
	for _, wait := range []func() (*mcp.CallToolResult, error){
		func() (*mcp.CallToolResult, error) { return tea.Wait(x.ctx) },
		func() (*mcp.CallToolResult, error) { return x.client.ResumeTask(python.ID()).Wait(x.ctx) },
		func() (*mcp.CallToolResult, error) {
			return x.client.CallTool(x.ctx, tool, json.RawMessage(`{"topic":"java","ambiguous":true}`))
		},
	} {
		r := &research{outcome: make(chan error, 1)}
		all = append(all, r)
		go func() {
			var err error
			r.result, err = wait()
			r.outcome <- err
		}()
	}
	return all
}

// finish waits for the tasks. Two of them have asked for input.
func (x *explorer) finish(all []*research) {
	x.Helper()
	for i, want := range []string{"# Research Report: tea\n", "# Research Report: python (snake)\n",
		"# Research Report: java (historical)\n"} {
		if err := next(x.T, x.ctx, "the outcome of a task", all[i].outcome); err != nil {
			x.Fatal(err)
		}
		if got := all[i].result.Text(); !strings.HasPrefix(got, want) {
			x.Errorf("want a report that begins with %q, got %q", want, got)
		}
	}
}

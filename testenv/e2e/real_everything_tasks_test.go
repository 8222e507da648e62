package e2e

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// The tasks of 2025-11-25 are no feature of the client, which its revision calls an experiment: but requests, handlers and
// types are enough to have them, in both directions.

// asTask makes a task of what the server wants to be one.
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

// task answers how far a task has got: to its end.
func (p *person) task(_ context.Context, r *mcpclient.Request) (any, error) {
	var params mcp.TaskParams
	if err := r.Decode(&params); err != nil {
		return nil, err
	}
	return &mcp.LegacyTaskResult{LegacyTask: legacyTask(params.TaskID, mcp.TaskCompleted)}, nil
}

// outcome answers with what the request that became a task would have.
func (p *person) outcome(_ context.Context, r *mcpclient.Request) (any, error) {
	var params mcp.TaskParams
	if err := r.Decode(&params); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tasks[params.TaskID]()
}

// research is a task of the server, and what has become of it.
type research struct {
	id      string
	outcome chan error
	result  mcp.CallToolResult // once there is an outcome
}

// begin lets the server begin three tasks, cancels the last, and has the outcome of the others waited for.
func (x *explorer) begin() (all []*research) {
	x.Helper()
	const tool = "simulate-research-query"
	x.called[tool] = true
	for _, arguments := range []map[string]any{{"topic": "tea"}, {"topic": "python", "ambiguous": true}, {"topic": "rain"}} {
		var r mcp.LegacyCreateTaskResult
		params := &mcp.CallToolParams{Name: tool, Arguments: arguments, Task: &mcp.TaskMetadata{TTL: new(int64(60_000))}}
		if err := x.client.Call(x.ctx, mcp.MethodCallTool, params, &r); err != nil || r.Task.TaskID == "" {
			x.Fatalf("%s: want a task, got %+v, %v", tool, r, err)
		}
		all = append(all, &research{id: r.Task.TaskID, outcome: make(chan error, 1)})
	}
	var cancelled mcp.LegacyTaskResult
	if err := x.client.Call(x.ctx, mcp.MethodCancelTask, &mcp.TaskParams{TaskID: all[2].id}, &cancelled); err != nil || cancelled.Status != mcp.TaskCancelled {
		x.Errorf("want the task cancelled, got %+v, %v", cancelled, err)
	}
	var listed mcp.LegacyListTasksResult
	if err := x.client.Call(x.ctx, mcp.MethodListTasks, nil, &listed); err != nil {
		x.Fatal(err)
	}
	for _, r := range all {
		if !slices.ContainsFunc(listed.Tasks, func(t *mcp.LegacyTask) bool { return t.TaskID == r.id }) {
			x.Errorf("want the task %s listed, got %+v", r.id, listed.Tasks)
		}
	}
	for _, r := range all[:2] {
		go func() {
			r.outcome <- x.client.Call(x.ctx, mcp.MethodTaskResult, &mcp.TaskParams{TaskID: r.id}, &r.result)
		}()
	}
	return all[:2]
}

// finish waits for them. The second one has asked for something on the way.
func (x *explorer) finish(all []*research) {
	x.Helper()
	for i, want := range []string{"# Research Report: tea\n", "# Research Report: python (snake)\n"} {
		if err := next(x.T, x.ctx, "the outcome of a task", all[i].outcome); err != nil {
			x.Fatal(err)
		}
		if got := all[i].result.Text(); !strings.HasPrefix(got, want) {
			x.Errorf("want a report that begins with %q, got %q", want, got)
		}
		var task mcp.LegacyTaskResult
		if err := x.client.Call(x.ctx, mcp.MethodGetTask, &mcp.TaskParams{TaskID: all[i].id}, &task); err != nil || task.Status != mcp.TaskCompleted {
			x.Errorf("want the task completed, got %+v, %v", task, err)
		}
	}
}

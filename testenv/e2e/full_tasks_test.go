package e2e

import (
	"context"
	"errors"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

func useTasks(p *pair) {
	p.says("job", named{}, `{"sum":7}`)
	if p.silent() {
		r, err := p.c.CallTool(p.ctx, "job", named{"ask"})
		if err != nil || !r.IsError {
			p.Errorf("want the tool's error where the client cannot be asked, got %v, %v", r, err)
		}
		return
	}
	if p.v >= mcp.Version20250618 {
		p.says("job", named{"ask"}, since(p, mcp.Version20251125, `{"sum":3}`, `{"sum":0}`))
	}
	r, err := p.c.CallTool(p.ctx, "job", named{"fail"})
	if err != nil || !r.IsError || r.Text() != "failed" {
		p.Errorf("fail: want the tool's error, got %v, %v", r, err)
	}
	_, err = p.c.CallTool(p.ctx, "job", named{"refuse"})
	p.code("refuse", err, -31050)
	if p.v < mcp.Version20251125 {
		useNoTasks(p)
		return
	}
	if p.modern() && !errors.Is(err, mcpclient.ErrTaskFailed) {
		// before this revision, a call becomes a task only if that is required or requested
		p.Errorf("refuse: want a task that failed, got %v", err)
	}
	useTask(p)
	resumeTask(p)
}

// useNoTasks starts a task in a revision without tasks: it becomes a plain call.
func useNoTasks(p *pair) {
	task, err := p.c.StartTool(p.ctx, "job", named{})
	if err != nil || task.ID() != "" {
		p.Fatalf("want a call that is over, got a task %v, %v", task.ID(), err)
	}
	if r, err := task.Wait(p.ctx); err != nil || r.Text() != `{"sum":7}` {
		p.Errorf("want its result, got %v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(p.ctx)
	cancel()
	if _, err := p.c.StartTool(ctx, "job", named{"wait"}); !errors.Is(err, context.Canceled) {
		p.Errorf("want the call cancelled, got %v", err)
	}
}

// useTask starts a task, reads its status, and cancels it.
func useTask(p *pair) {
	task, err := p.c.StartTool(p.ctx, "job", named{"wait"})
	if err != nil || task.ID() == "" {
		p.Fatalf("want a task, got %+v, %v", task, err)
	}
	until(p.T, p.ctx, "the task says that it waits", func() bool {
		state, err := task.Poll(p.ctx)
		if err != nil {
			p.Fatal(err)
		}
		return state.Status == mcp.TaskWorking && state.StatusMessage == "waiting"
	})
	if err := task.Cancel(p.ctx); err != nil {
		p.Fatal(err)
	}
	if _, err := task.Wait(p.ctx); !errors.Is(err, mcpclient.ErrTaskCancelled) {
		p.Errorf("want the task cancelled, got %v", err)
	}
	p.says("cancelled", nil, "cancelled")
}

// resumeTask lets a second client answer the question of a task that the first client started, and get the result.
func resumeTask(p *pair) {
	task, err := p.c.StartTool(p.ctx, "job", named{"ask"})
	if err != nil {
		p.Fatal(err)
	}
	resumed := p.connect(newUser().features()...).ResumeTask(task.ID())
	r, err := resumed.Wait(p.ctx)
	if p.way.alone {
		if !errors.Is(err, mcpclient.ErrTaskUnknown) {
			p.Errorf("want a task that another process has unknown, got %v", err)
		}
		resumed = task
		r, err = task.Wait(p.ctx)
	}
	if err != nil || r.Text() != `{"sum":3}` {
		p.Errorf("want the result of the task, got %v, %v", r, err)
	}
	state, err := resumed.Poll(p.ctx)
	if err != nil || state.Status != mcp.TaskCompleted {
		p.Errorf("want the task completed, got %+v, %v", state, err)
	}
	if _, err := p.c.ResumeTask("none").Wait(p.ctx); !errors.Is(err, mcpclient.ErrTaskUnknown) {
		p.Errorf("want no such task, got %v", err)
	}
}

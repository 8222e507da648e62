package mcpserver

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// legacyResult answers tasks/get and tasks/cancel.
func (k *taskKeeper) legacyResult(t *store.Task) any {
	return &mcp.LegacyTaskResult{LegacyTask: k.shownLegacy(t)}
}

// stopLegacy answers tasks/cancel: the task is cancelled from now on, whatever its handler makes of it.
// (specification 2025-11-25, basic/utilities/tasks, "Task Cancellation")
func (k *taskKeeper) stopLegacy(ctx context.Context, t *store.Task) (any, error) {
	over := false
	t, err := k.change(ctx, t.ID, t, func(t *store.Task) bool {
		if over = t.Status.Terminal(); over {
			return false
		}
		t.CancelRequested = true
		endTask(t, mcp.TaskCancelled, "cancelled by the client", stamp())
		return true
	})
	switch {
	case err != nil:
		return nil, gone(err)
	case over:
		return nil, invalidParams("the task cannot be cancelled: it is %s", t.Status)
	}
	return k.legacyResult(t), nil
}

// result answers tasks/result with what the call would have been answered with, once there is that. It waits longer
// than requests may take: a task that is not done is no failure.
// (specification 2025-11-25, basic/utilities/tasks, "Result Retrieval")
func (k *taskKeeper) result(_ context.Context, c *call) (any, error) {
	t, err := k.asked(c.Context(), c, new(mcp.TaskParams))
	if err == nil && !t.Status.Terminal() {
		w := &taskWait{k: k, c: c, id: t.ID, changed: make(chan struct{}, 1), inquiries: map[string]context.CancelFunc{}}
		w.ctx, w.cancel = context.WithCancelCause(c.Context())
		defer w.cancel(nil)
		t, err = w.wait()
	}
	switch {
	case err != nil:
		return nil, err
	case t.Error != nil:
		return nil, t.Error
	case t.Result != nil:
		return t.Result, nil
	}
	return nil, errTaskCancelled
}

var errTaskCancelled = &mcp.Error{Code: mcp.CodeInternalError, Message: "the task was cancelled"}

// wait waits until the task is over, and puts to the client what it asks meanwhile.
func (w *taskWait) wait() (*store.Task, error) {
	k, ctx := w.k, w.ctx
	k.watch(ctx)
	k.mu.Lock()
	k.listen(w.id, w)
	k.mu.Unlock()
	defer func() {
		w.withdraw()
		k.mu.Lock()
		defer k.mu.Unlock()
		k.unlisten(w.id, w)
	}()
	back, ok := w.c.x.WaitForClient()
	if !ok {
		return nil, rpc.ErrBusy
	}
	defer back()
	for {
		t, err := k.find(ctx, w.c, w.id)
		if err != nil || t.Status.Terminal() {
			return t, err
		}
		w.ask(t)
		pause := k.cfg.Lease // a server that has died tells of nothing
		if !t.Expires.IsZero() {
			pause = min(pause, time.Until(t.Expires))
		}
		timer := time.NewTimer(pause)
		select {
		case <-w.changed:
		case <-timer.C:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		timer.Stop()
		if err != nil {
			return nil, err
		}
	}
}

// note makes the wait look at the task again.
func (w *taskWait) note(string) {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
)

// legacyWait is the state of a Wait call for a task of 2025-11-25. The Wait call that holds Task.turn owns the
// legacyWait.
type legacyWait struct {
	asked *askedResult // nil unless tasks/result is in flight
	// receives the latest status notification; capacity 1; nil unless Wait listens for notifications
	told   <-chan *mcp.LegacyTask
	deafen func() // removes the handler of the notifications
	fresh  bool   // the state comes from a notification that Wait has not handled yet
}

// askedResult is a tasks/result request in flight. The request may last as long as the task. During the request, the
// server requests input, on the request's stream if the transport has streams.
type askedResult struct {
	cancel   context.CancelFunc
	answered chan struct{} // closed when the fields below are set
	limited  bool          // the request has a timeout
	result   json.RawMessage
	err      *Error
	broken   *usercode.Failure // panic of the user's middleware, which Wait repeats
}

// done returns a channel that is closed when there is an answer. The channel is nil if no request is in flight.
func (a *askedResult) done() <-chan struct{} {
	if a == nil {
		return nil
	}
	return a.answered
}

// isLegacy reports whether t is a task of 2025-11-25, as far as the client knows.
func (t *Task) isLegacy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.legacy
}

// inLegacy is like isLegacy, but waits for a session first if necessary. The session shows which kind of task a resumed
// task is, and whether the server supports requests about tasks of 2025-11-25.
func (t *Task) inLegacy(ctx context.Context, method string) (bool, *Error) {
	t.mu.Lock()
	made, legacy, id := t.made, t.legacy, t.state.TaskID
	t.mu.Unlock()
	if made && !legacy || id == "" || !t.c.tasks.declared() {
		return legacy, nil
	}
	s := t.c.core.Present()
	if s == conn.NoSession && t.c.tasks.mayBeLegacy() {
		var err error
		if s, _, err = t.c.agreed(ctx, method, []CallOption{WaitForReady(), WithTimeout(t.timeout)}); err != nil {
			e, _ := errors.AsType[*Error](err)
			return false, t.about(e)
		}
	}
	if made {
		return legacy, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.legacy = s.Version == tasksVersion
	return t.legacy, nil
}

// settled returns the state of the task, and reports whether that state is final.
func (t *Task) settled() (mcp.Task, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state, t.over || t.legacy && t.state.Status.Terminal()
}

// legacyCancelled handles the answer to tasks/cancel. The answer is either the state of the task, or a refusal,
// possibly because the task has already ended. (specification 2025-11-25, basic/utilities/tasks, "Task Cancellation")
func (t *Task) legacyCancelled(ctx context.Context, answer json.RawMessage, err *Error) *Error {
	if err == nil {
		var now mcp.LegacyTaskResult
		if _, failed := mcp.Decode(answer, &now); failed == nil && t.checkState(new(taskOf(&now.LegacyTask))) == nil {
			t.note(&mcp.DetailedTask{Task: taskOf(&now.LegacyTask)}, true)
		}
		return nil
	}
	if errors.Is(err, ErrTaskUnknown) {
		if d, _, failed := t.poll(ctx); failed == nil && d.Status.Terminal() {
			return nil
		}
	}
	return err
}

// listen handles status notifications about the task until stopAsking is called. (specification 2025-11-25,
// basic/utilities/tasks, "Task Status Notification")
func (t *Task) listen() {
	if t.old.deafen != nil {
		return
	}
	id, told := t.ID(), make(chan *mcp.LegacyTask, 1)
	t.old.told = told
	t.old.deafen = t.c.Handle(HandleNotification(mcp.NotificationLegacyTaskStatus,
		decoded(func(_ context.Context, p *mcp.LegacyTaskStatusParams) {
			if p.TaskID != id || checkStatus(p.Status) != nil {
				return
			}
			select {
			case <-told: // drop an older status that Wait has not handled
			default:
			}
			told <- &p.LegacyTask // does not block, because notifications are handled one at a time
		})))
}

// stopAsking undoes the requests of a Wait call: it ends the request for the result and stops listening.
func (t *Task) stopAsking() {
	if t.old.deafen != nil {
		t.old.deafen()
	}
	t.drop()
	t.old = legacyWait{}
}

// drop ends the request for the result, if there is one.
func (t *Task) drop() {
	if a := t.old.asked; a != nil {
		a.cancel()
		<-a.answered
		t.old.asked = nil
	}
}

// pauseLegacy waits until due, or until a notification or the result arrives. It returns false if ctx ends first.
func (t *Task) pauseLegacy(ctx context.Context, due time.Time) bool {
	t.listen()
	for {
		timer := time.NewTimer(time.Until(due))
		select {
		case <-timer.C:
			return true
		case <-t.old.asked.done():
			timer.Stop()
			return true
		case <-ctx.Done():
			timer.Stop()
			return false
		case told := <-t.old.told:
			timer.Stop()
			if _, settled := t.settled(); settled {
				continue // the notification came late
			}
			t.note(&mcp.DetailedTask{Task: taskOf(told)}, true)
			if t.old.fresh = told.Status != mcp.TaskWorking; t.old.fresh {
				return true
			}
			t.mu.Lock()
			due = t.due
			t.mu.Unlock()
		}
	}
}

// hearLegacy handles the result or the notification that ended pauseLegacy. It returns false if neither has arrived.
func (t *Task) hearLegacy(ctx context.Context) (bool, *Error) {
	select {
	case <-t.old.asked.done():
		return true, t.resultAnswered(ctx)
	default:
	}
	if !t.old.fresh {
		return false, nil
	}
	t.old.fresh = false
	return true, t.goOnLegacy(ctx, t.Status().Status)
}

// goOnLegacy takes the next step for the task's status. (specification 2025-11-25, basic/utilities/tasks, "Input
// Required Status", "Retrieving Task Results")
func (t *Task) goOnLegacy(ctx context.Context, status mcp.TaskStatus) *Error {
	switch {
	case status == mcp.TaskInputRequired && t.old.asked == nil:
		t.askResult(ctx, false)
	case status == mcp.TaskCompleted || status == mcp.TaskFailed:
		return t.fetch(ctx)
	}
	return nil
}

// askResult requests the result. The server sends the result when the task has ended. limited gives the request a
// timeout.
func (t *Task) askResult(ctx context.Context, limited bool) {
	ctx, cancel := context.WithCancel(ctx)
	a := &askedResult{cancel: cancel, answered: make(chan struct{}), limited: limited}
	t.old.asked = a
	patience := t.timeout
	if !limited {
		patience = -1
	}
	go func() { // the goroutine ends with the answer, or with drop
		defer close(a.answered)
		usercode.Run(func() {
			a.err = t.request(ctx, mcp.MethodTaskResult, &mcp.TaskParams{TaskID: t.ID()}, &a.result, nil, WithTimeout(patience))
		}, func(f *usercode.Failure) { a.broken = f })
	}()
}

// fetch gets the result of a task that has ended. If the client has already requested the result, the answer should
// arrive soon.
func (t *Task) fetch(ctx context.Context) *Error {
	if t.old.asked == nil {
		t.askResult(ctx, true)
	}
	var late <-chan time.Time
	if patience := cmp.Or(t.timeout, t.c.cfg.RequestTimeout); !t.old.asked.limited && patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-t.old.asked.answered:
		return t.resultAnswered(ctx)
	case <-late:
		t.drop()
		return t.about(&Error{Kind: KindTimeout, Op: mcp.MethodTaskResult, cause: ErrTimeout})
	}
}

// resultAnswered handles the answer to tasks/result. If the answer is an error, then either the original call has
// failed with this error, or the tasks/result request has failed.
func (t *Task) resultAnswered(ctx context.Context) *Error {
	a := t.old.asked
	t.drop()
	switch {
	case a.broken != nil:
		a.broken.Repeat()
		return nil
	case a.err == nil:
		t.finish(a.result, nil)
		return nil
	case a.err.Server == nil:
		return a.err
	}
	if _, _, err := t.poll(ctx); err != nil {
		return err
	}
	if _, over := t.outcome(); over {
		return nil
	}
	if t.Status().Status != mcp.TaskFailed || errors.Is(a.err, ErrTaskExpired) {
		return a.err
	}
	failed := *a.err
	failed.Op, failed.cause = mcp.MethodCallTool, ErrTaskFailed
	t.finish(nil, &failed)
	return nil
}

// finish makes the answer to tasks/result the outcome of the task. If the client does not know the final status yet,
// the result determines it.
func (t *Task) finish(result json.RawMessage, failed *Error) {
	t.mu.Lock()
	if t.over {
		t.mu.Unlock()
		return
	}
	changed := !t.state.Status.Terminal()
	if changed {
		t.state.Status, t.state.StatusMessage = mcp.TaskCompleted, ""
		var r struct {
			IsError bool `json:"isError"`
		}
		if _, err := mcp.Decode(result, &r); err == nil && r.IsError {
			t.state.Status = mcp.TaskFailed
		}
	}
	now := t.state
	t.over, t.err = true, failed
	if failed == nil {
		d := mcp.DetailedTask{Task: now, Payload: result}
		d.Status = mcp.TaskCompleted // there is a result, whatever the status was
		t.err = t.ended(&d)
	}
	t.mu.Unlock()
	if changed && t.hear != nil {
		t.hear(now)
	}
}

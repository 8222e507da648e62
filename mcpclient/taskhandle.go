package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/mcp"
)

// Task is the call of a tool that may go on beyond the server's answer: [Client.StartTool] begins one,
// [Client.ResumeTask] goes on with one. It belongs to the server and outlives connections, and this program as well:
// nothing of it is lost if no goroutine waits for it. Its methods may be called from any goroutine.
//
// Every request about the task waits until the client is ready, within its timeout: that of the options that the task
// was begun with, for each request anew. How long the task takes is up to the contexts.
type Task struct {
	c        *Client
	do       CallFunc
	timeout  time.Duration
	meta     mcp.Meta
	logLevel mcp.LoggingLevel
	hear     func(mcp.Task) // may be nil
	into     any            // what the result is decoded into; may be nil
	turn     lock.Mutex     // held by the Wait that asks and answers

	answers mcp.InputResponses // guarded by turn; what the server has asked for and not got yet
	old     legacyWait         // guarded by turn

	mu       sync.Mutex
	state    mcp.Task        // guarded by mu; as last heard
	made     bool            // guarded by mu; the server has answered a call with it, and its caller has not abandoned it
	legacy   bool            // guarded by mu; it is one of 2025-11-25, as far as is known unless made
	over     bool            // guarded by mu; err, or else into, is the outcome
	err      *Error          // guarded by mu
	origin   lead            // guarded by mu; what its requests go on with
	tool     string          // guarded by mu; empty for a task that was resumed
	heard    time.Time       // guarded by mu; when the state was first heard of, zero for not yet
	due      time.Time       // guarded by mu; when the server wants to be asked next
	answered map[string]bool // guarded by mu; keys of what the server has asked for and got
}

// StartTool calls a tool as [Client.CallTool] does and does not wait for the task that a server may answer with. The
// error is that of the call. If the server answers at once, or knows no tasks, what is returned has no ID and is over
// already, so that [Task.Wait] serves both:
//
//	task, err := client.StartTool(ctx, "train", model)
//	if err != nil {
//		return err
//	}
//	save(task.ID()) // for ResumeTask
//	result, err := task.Wait(ctx)
//
// Tasks have to be declared by [UseTasks]. Of the options, those that change requests hold for all requests about the
// task.
func (c *Client) StartTool(ctx context.Context, name string, arguments any, options ...CallOption) (*Task, error) {
	t := newTask(c, c.Call)
	r, err := c.CallTool(ctx, name, arguments,
		append(options[:len(options):len(options)], func(a *asked) { a.handle = t })...)
	if err != nil {
		if t.isMade() { // and a middleware has another opinion
			t.abandon(ctx, nil)
		}
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.made {
		t.state.Status, t.over, t.into = mcp.TaskCompleted, true, r
	}
	return t, nil
}

// ResumeTask returns the task of the call of a tool that was begun before, perhaps by another process. It sends
// nothing: whether the server knows the task shows at the first request, and before that its status is unknown. Of the
// options, those for timeouts, _meta, the log level and the task's status count.
//
// An id can be all it takes to see what the task brings, so it is to be kept as a secret; no error text, log record or
// span of the client has it.
func (c *Client) ResumeTask(id string, options ...CallOption) *Task {
	a := &asked{logLevel: c.logLevel.level()}
	a.apply(options)
	t := newTask(c, c.Call)
	t.state.TaskID, t.into = id, new(mcp.CallToolResult)
	t.goOnAs(a)
	return t
}

// goOnAs has the requests about t made as a call that asks for this.
func (t *Task) goOnAs(a *asked) {
	t.timeout, t.meta, t.logLevel, t.hear = a.Timeout, a.meta, a.logLevel, a.onTask
}

func newTask(c *Client, do CallFunc) *Task {
	return &Task{c: c, do: do, answers: mcp.InputResponses{}, answered: map[string]bool{}}
}

// ID is what the server calls the task, for [Client.ResumeTask]. It is empty if the server has answered the call at
// once.
func (t *Task) ID() string { return t.Status().TaskID }

// Status returns what the client last heard of the task, without asking the server.
func (t *Task) Status() mcp.Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// Poll asks the server once how far the task has got: [mcp.DetailedTask.InputRequests] are what it needs, for
// [Task.Update]. The result or the error of a task that has ended is for [Task.Wait] to return, which then asks neither
// the server nor the user. A task that is known to have ended is not asked for. What a task of 2025-11-25 needs, the
// server asks of the handlers while a caller is in Wait, and Wait fetches its result.
func (t *Task) Poll(ctx context.Context) (*mcp.DetailedTask, error) {
	d, _, err := t.poll(ctx)
	if err != nil {
		return nil, err
	}
	return &mcp.DetailedTask{Task: d.Task, InputRequests: d.InputRequests}, nil
}

// Update gives the server what it has asked for, all or some of it, under the keys of the requests. Wait will not ask
// the handlers for that any more. A server ignores what it did not ask for. There is no such thing in 2025-11-25; then
// the error has [ErrUnsupported] in its chain.
func (t *Task) Update(ctx context.Context, responses mcp.InputResponses) error {
	if err := t.update(ctx, responses); err != nil {
		return err
	}
	return nil
}

// Cancel asks the server to cancel the task. It may decline, or take its time: how the task ends is for Wait and Poll
// to find out. A task that is known to have ended needs no cancelling.
func (t *Task) Cancel(ctx context.Context) error {
	if _, settled := t.settled(); settled {
		return nil
	}
	var answer json.RawMessage
	err := t.request(ctx, mcp.MethodCancelTask, &mcp.TaskParams{TaskID: t.ID()}, &answer, nil)
	if t.isLegacy() {
		err = t.legacyCancelled(ctx, answer, err)
	}
	if err != nil {
		return err
	}
	return nil
}

// Wait waits for the outcome: it polls as often as the server wants, and gives it what it asks for on the way, from the
// client's handlers, each thing once. A connection that is lost is waited for. When ctx ends Wait returns, and the task
// goes on: a caller that does not want it any more calls [Task.Cancel].
//
// The error is an [*Error]. A task that failed, was cancelled or is not known any more has one of [ErrTaskFailed],
// [ErrTaskCancelled] and [ErrTaskUnknown] in it; after others Wait can be called again. Of several calls of Wait one
// works and the others wait for it; all return the same result.
func (t *Task) Wait(ctx context.Context) (*mcp.CallToolResult, error) {
	t.c.operations.enter()
	defer t.c.operations.leave()
	if err := t.wait(ctx); err != nil {
		return nil, t.failed(ctx, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.into.(*mcp.CallToolResult), nil
}

// failed records an error of the call that became the task as a failure of that call, and returns it. Errors of
// requests about the task have been recorded with these requests.
func (t *Task) failed(ctx context.Context, err *Error) error {
	if err.Op != mcp.MethodCallTool {
		return err
	}
	t.mu.Lock()
	origin, p := t.origin, &mcp.CallToolParams{Name: t.tool}
	t.mu.Unlock()
	goesOn := func(a *asked) { a.Corr, a.Ref = origin.corr, origin.ref }
	return t.c.failed(ctx, mcp.MethodCallTool, p, []CallOption{goesOn}, err)
}

// created makes t the task that the server has answered cl with.
func (t *Task) created(cl *call, into any) {
	t.mu.Lock()
	t.made, t.legacy, t.into, t.tool = true, cl.tasks.asked, into, mcp.TargetOf(cl.params)
	t.goOnAs(&cl.asked)
	t.origin = lead{corr: cl.Corr, ref: cl.Ref}
	t.mu.Unlock()
	t.note(&mcp.DetailedTask{Task: cl.tasks.made.Task}, false)
}

// isMade reports whether the server has answered a call with t, which is not abandoned.
func (t *Task) isMade() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.made
}

// note takes note of what the server says about the task; unless it is whole, what comes with the status is missing.
func (t *Task) note(d *mcp.DetailedTask, whole bool) {
	t.mu.Lock()
	if t.over { // it will change no more
		t.mu.Unlock()
		return
	}
	now := time.Now()
	changed := t.heard.IsZero() || t.state.Status != d.Status || t.state.StatusMessage != d.StatusMessage ||
		t.state.LastUpdatedAt != d.LastUpdatedAt
	if t.heard.IsZero() {
		t.heard = now
	}
	t.state = d.Task
	t.due = now.Add(t.c.taskOptions.interval(d.PollIntervalMs, 0))
	switch {
	case !whole && d.Status != mcp.TaskWorking, t.legacy && d.Status.Terminal() && d.Status != mcp.TaskCancelled:
		t.due = now // there is more to know
	case whole && d.Status.Terminal():
		t.over, t.err = true, t.ended(d)
	}
	t.mu.Unlock()
	if changed && t.hear != nil {
		t.hear(d.Task)
	}
}

// ended decodes what the task has brought. It is called with mu held.
func (t *Task) ended(d *mcp.DetailedTask) *Error {
	e := &Error{Kind: KindProtocol, Op: mcp.MethodCallTool, TaskID: d.TaskID}
	switch {
	case d.Status == mcp.TaskCancelled:
		e.Kind, e.cause = KindCancelled, ErrTaskCancelled
		if d.StatusMessage != "" {
			e.cause = fmt.Errorf("%w: %s", ErrTaskCancelled, d.StatusMessage)
		}
	case d.Status == mcp.TaskFailed:
		e.cause = ErrTaskFailed
		if d.Error != nil {
			e.Kind, e.Server = KindJSONRPC, d.Error
		}
	case d.Payload == nil:
		e.cause = errors.New("the task was completed without a result")
	default:
		_, err := mcp.Decode(d.Payload, t.into)
		if err == nil {
			t.c.core.DropIcons(mcp.MethodGetTask, t.into)
			return nil
		}
		e.cause = fmt.Errorf("result of the task: %w", err)
	}
	return e
}

// outcome returns the error with which the task has ended, nil for a result, and whether it has ended.
func (t *Task) outcome() (*Error, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err, t.over
}

// poll asks the server once. It also returns the id of the request.
func (t *Task) poll(ctx context.Context) (d *mcp.DetailedTask, id int64, failed *Error) {
	failed = t.operate(ctx, mcp.MethodGetTask, &mcp.TaskParams{TaskID: t.ID()}, nil,
		func(ctx context.Context, options []CallOption) (err *Error) {
			d, id, err = t.pollIn(ctx, options)
			return err
		})
	return d, id, failed
}

// operate makes do an operation about the task: see [Client.operate].
func (t *Task) operate(ctx context.Context, method string, params any, options []CallOption,
	do func(ctx context.Context, options []CallOption) *Error) (failed *Error) {
	options = append(options[:len(options):len(options)], ifSent)
	_ = t.c.operate(ctx, method, params, options, func(ctx context.Context, options []CallOption) error {
		if failed = do(ctx, options); failed != nil {
			return failed
		}
		return nil
	})
	return failed
}

func (t *Task) pollIn(ctx context.Context, options []CallOption) (*mcp.DetailedTask, int64, *Error) {
	if now, settled := t.settled(); settled {
		return &mcp.DetailedTask{Task: now}, 0, nil
	}
	legacy, err := t.inLegacy(ctx, mcp.MethodGetTask)
	if err != nil {
		return nil, 0, err
	}
	var r mcp.GetTaskResult
	var old mcp.LegacyTaskResult
	var l lead
	result := any(&r)
	if legacy {
		result = &old
	}
	if err := t.request(ctx, mcp.MethodGetTask, &mcp.TaskParams{TaskID: t.ID()}, result, &l, options...); err != nil {
		return nil, 0, err
	}
	if legacy {
		r.Task = taskOf(&old.LegacyTask)
	}
	if err := t.checkState(&r.Task); err != nil {
		return nil, 0, t.about(&Error{Kind: KindProtocol, Op: mcp.MethodGetTask, cause: err})
	}
	t.note(&r.DetailedTask, true)
	return &r.DetailedTask, l.id, nil
}

// checkState says what is wrong with an answer to the question how far the task has got.
func (t *Task) checkState(got *mcp.Task) error {
	if got.TaskID != t.ID() {
		return errors.New("the answer is about another task")
	}
	return checkStatus(got.Status)
}

func checkStatus(s mcp.TaskStatus) error {
	if s.Terminal() || s == mcp.TaskWorking || s == mcp.TaskInputRequired {
		return nil
	}
	return fmt.Errorf("unknown status %q of a task", s)
}

func (t *Task) update(ctx context.Context, responses mcp.InputResponses) *Error {
	p := &mcp.UpdateTaskParams{TaskID: t.ID(), InputResponses: responses}
	if p.InputResponses == nil {
		p.InputResponses = mcp.InputResponses{}
	}
	if err := t.request(ctx, mcp.MethodUpdateTask, p, nil, nil); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for key := range responses {
		t.answered[key] = true
	}
	return nil
}

// request makes a request about the task, which belongs to the same logical call as the others. l, if not nil, learns
// of it.
func (t *Task) request(ctx context.Context, method string, params, result any, l *lead, more ...CallOption) *Error {
	return t.operate(ctx, method, params, more, func(ctx context.Context, options []CallOption) *Error {
		return t.requestIn(ctx, method, params, result, l, options)
	})
}

func (t *Task) requestIn(ctx context.Context, method string, params, result any, l *lead, more []CallOption) *Error {
	t.mu.Lock()
	origin, made, id := t.origin, t.made, t.state.TaskID
	t.mu.Unlock()
	if id == "" {
		return &Error{Kind: KindInvalid, Op: method, Unsent: true, cause: errors.New("there is no task")}
	}
	legacy, failed := t.inLegacy(ctx, method)
	if failed == nil {
		failed = t.c.tasks.require(method, made, legacy)
	}
	if failed != nil {
		return t.about(failed)
	}
	var own lead
	l = cmp.Or(l, &own)
	err := t.do(ctx, method, params, result, append([]CallOption{func(a *asked) {
		a.Wait, a.GoesOn, a.Timeout, a.meta, a.logLevel = true, true, t.timeout, t.meta, t.logLevel
		a.Corr, a.Ref, a.lead = origin.corr, origin.ref, l
	}}, more...)...)
	t.mu.Lock()
	if t.origin == (lead{}) {
		t.origin = lead{corr: l.corr, ref: l.ref}
	}
	t.mu.Unlock()
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*Error](err)
	if !ok { // a middleware's own
		e = &Error{Kind: KindInvalid, Op: method, cause: err}
	}
	return t.about(e)
}

// about returns a copy of e that says which task it is about, and what an error of the server means for that.
func (t *Task) about(e *Error) *Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := *e
	own.TaskID = t.state.TaskID
	if own.Server != nil && own.Server.Code == mcp.CodeInvalidParams && own.Op != mcp.MethodUpdateTask {
		own.cause = ErrTaskUnknown
		if t.expired() {
			own.cause = fmt.Errorf("%w: %w", ErrTaskUnknown, ErrTaskExpired)
		}
	}
	return &own
}

// expired reports whether the server need not know the task any more. It is called with mu held.
func (t *Task) expired() bool {
	if t.state.TTLMs == nil || t.heard.IsZero() {
		return false
	}
	return time.Since(t.heard).Milliseconds() >= *t.state.TTLMs
}

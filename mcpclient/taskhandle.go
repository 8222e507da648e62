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

// Task is a tool call that may continue beyond the server's answer: [Client.StartTool] starts one,
// [Client.ResumeTask] continues one. The server keeps it, so it outlives connections and this program, and needs
// no waiting goroutine. Its methods may be called from any goroutine.
//
// Every request about the task waits until the client is ready, within the timeout of the options that the task
// was started with. The duration of the task itself is bounded only by contexts.
type Task struct {
	c        *Client
	do       CallFunc
	timeout  time.Duration
	meta     mcp.Meta
	logLevel mcp.LoggingLevel
	hear     func(mcp.Task) // option WithTaskStatus; may be nil
	into     any            // destination of the result; may be nil
	turn     lock.Mutex     // held by the Wait that polls and answers

	answers mcp.InputResponses // answers that the server has requested and not received yet; guarded by turn
	old     legacyWait         // guarded by turn

	mu       sync.Mutex
	state    mcp.Task        // latest known state; guarded by mu
	made     bool            // the server has answered a call with the task, and it is not abandoned; guarded by mu
	legacy   bool            // a task of 2025-11-25; unless made, as far as known; guarded by mu
	over     bool            // the task has ended, with err or, if that is nil, into; guarded by mu
	err      *Error          // guarded by mu
	origin   lead            // call that its requests continue; guarded by mu
	tool     string          // empty for a resumed task; guarded by mu
	heard    time.Time       // time of the first known state, zero for none; guarded by mu
	due      time.Time       // time of the next poll; guarded by mu
	answered map[string]bool // keys of the server's requests that were answered; guarded by mu
}

// StartTool calls a tool like [Client.CallTool], but does not wait for the task that a server may answer with. Its
// error is the error of the call. If the server answers at once, or does not support tasks, the returned task has
// no ID and is already over, so [Task.Wait] works in both cases:
//
//	task, err := client.StartTool(ctx, "train", model)
//	if err != nil {
//		return err
//	}
//	save(task.ID()) // for ResumeTask
//	result, err := task.Wait(ctx)
//
// The client must declare tasks with [UseTasks]. Options that change requests apply to all requests about the
// task.
func (c *Client) StartTool(ctx context.Context, name string, arguments any, options ...CallOption) (*Task, error) {
	t := newTask(c, c.Call)
	r, err := c.CallTool(ctx, name, arguments,
		append(options[:len(options):len(options)], func(a *asked) { a.handle = t })...)
	if err != nil {
		if t.isMade() { // a middleware has returned an error anyway
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

// ResumeTask returns the task of an earlier tool call, possibly of another process. It sends nothing: the first
// request shows whether the server knows the task; before that its status is unknown. Only the options for
// timeouts, _meta, the log level and the task's status apply.
//
// An id may grant access to the task's result, so keep it secret; no error text, log record or span of the client
// contains it.
func (c *Client) ResumeTask(id string, options ...CallOption) *Task {
	a := &asked{logLevel: c.logLevel.level()}
	c.cfg.apply(a, options)
	t := newTask(c, c.Call)
	t.state.TaskID, t.into = id, new(mcp.CallToolResult)
	t.goOnAs(a)
	return t
}

// goOnAs sets the options of requests about t to those of a call.
func (t *Task) goOnAs(a *asked) {
	t.timeout, t.meta, t.logLevel, t.hear = a.Timeout, a.meta, a.logLevel, a.onTask
}

func newTask(c *Client, do CallFunc) *Task {
	return &Task{c: c, do: do, answers: mcp.InputResponses{}, answered: map[string]bool{}}
}

// ID returns the server's id of the task, for [Client.ResumeTask]. It is empty if the server has answered the call
// at once.
func (t *Task) ID() string { return t.Status().TaskID }

// Status returns the latest known state of the task, without asking the server.
func (t *Task) Status() mcp.Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// Poll asks the server once for the state of the task: [mcp.DetailedTask.InputRequests] are its requests for
// input, for [Task.Update]. [Task.Wait] returns the result or the error of a task that has ended, without asking
// the server again. Poll does not ask about a task that is known to have ended. A server of 2025-11-25 sends its
// requests for input to the handlers while a caller is in Wait, and Wait fetches the result.
func (t *Task) Poll(ctx context.Context) (*mcp.DetailedTask, error) {
	d, _, err := t.poll(ctx)
	if err != nil {
		return nil, err
	}
	return &mcp.DetailedTask{Task: d.Task, InputRequests: d.InputRequests}, nil
}

// Update sends input that the server has requested, all or some of it, under the keys of the requests. Wait then
// no longer asks the handlers for it. A server ignores unrequested input. Revision 2025-11-25 has no such request;
// then the error has [ErrUnsupported] in its chain.
func (t *Task) Update(ctx context.Context, responses mcp.InputResponses) error {
	if err := t.update(ctx, responses); err != nil {
		return err
	}
	return nil
}

// Cancel asks the server to cancel the task. The server may decline or take time; Wait and Poll report how the
// task ends. For a task that is known to have ended, Cancel does nothing.
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

// Wait waits for the outcome: it polls at the interval that the server suggests, and answers requests for input with
// the client's handlers, each request once. If the connection is lost, it waits for a new one. When ctx ends, Wait
// returns and the task continues; to end the task, call [Task.Cancel].
//
// The error is an [*Error]. If the task failed, was cancelled or is no longer known, it has [ErrTaskFailed],
// [ErrTaskCancelled] or [ErrTaskUnknown] in its chain; after other errors Wait can be called again. Of several
// concurrent calls of Wait one does the work; all return the same result.
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

// failed records an error of the original call as a failure of that call, and returns it. Errors of requests about
// the task have been recorded with these requests.
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

// created makes t the task with which the server has answered cl.
func (t *Task) created(cl *call, into any) {
	t.mu.Lock()
	t.made, t.legacy, t.into, t.tool = true, cl.tasks.asked, into, mcp.TargetOf(cl.params)
	t.goOnAs(&cl.asked)
	t.origin = lead{corr: cl.Corr, ref: cl.Ref}
	t.mu.Unlock()
	t.note(&mcp.DetailedTask{Task: cl.tasks.made.Task}, false)
}

// isMade reports whether the server has answered a call with t, and t is not abandoned.
func (t *Task) isMade() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.made
}

// note records a state of the task. Unless whole, the state lacks the data that belong to its status.
func (t *Task) note(d *mcp.DetailedTask, whole bool) {
	t.mu.Lock()
	if t.over { // the state is final
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
		t.due = now // further data must be fetched
	case whole && d.Status.Terminal():
		t.over, t.err = true, t.ended(d)
	}
	t.mu.Unlock()
	if changed && t.hear != nil {
		t.hear(d.Task)
	}
}

// ended decodes the outcome of the task. mu is held.
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

// outcome returns the error of an ended task, nil for a result, and whether the task has ended.
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

// operate runs do as an operation about the task: see [Client.operate].
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

// checkState validates an answer about the state of the task.
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

// request makes a request about the task, in the same logical call as its other requests. l, if not nil, is filled.
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
	if !ok { // an error of a middleware
		e = &Error{Kind: KindInvalid, Op: method, cause: err}
	}
	return t.about(e)
}

// about returns a copy of e with the id of the task, and the condition that an error of the server implies.
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

// expired reports whether the server may have forgotten the task. mu is held.
func (t *Task) expired() bool {
	if t.state.TTLMs == nil || t.heard.IsZero() {
		return false
	}
	return time.Since(t.heard).Milliseconds() >= *t.state.TTLMs
}

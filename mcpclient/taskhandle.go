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

// Task is a tool call that may continue after the server's first answer. [Client.StartTool] starts a task, and
// [Client.ResumeTask] continues one. The server stores the task, so the task outlives connections and this program, and
// needs no waiting goroutine. The methods of a Task may be called from any goroutine.
//
// Every request about the task waits until the client is ready. The wait counts towards the timeout in the options that
// the task was started with. Only contexts bound the duration of the task itself.
type Task struct {
	c        *Client
	do       CallFunc
	timeout  time.Duration
	meta     mcp.Meta
	logLevel mcp.LoggingLevel
	hear     func(mcp.Task) // set by the option WithTaskStatus; may be nil
	into     any            // destination of the result; may be nil
	turn     lock.Mutex     // held by the Wait call that polls and answers

	answers mcp.InputResponses // answers to the server's requests that the server has not received yet; guarded by turn
	old     legacyWait         // guarded by turn

	mu    sync.Mutex
	state mcp.Task // latest known state; guarded by mu
	// the server created the task in its answer to a call of this client, and the client has not abandoned it;
	// guarded by mu
	made     bool
	legacy   bool            // a task of 2025-11-25; may be wrong for a resumed task without a session; guarded by mu
	over     bool            // the task has ended: err is its error or, if err is nil, into is its result; guarded by mu
	err      *Error          // guarded by mu
	origin   lead            // call that the requests about the task continue; guarded by mu
	tool     string          // empty for a resumed task; guarded by mu
	heard    time.Time       // when the client first learned a state; zero before; guarded by mu
	due      time.Time       // time of the next poll; guarded by mu
	answered map[string]bool // keys of the server's requests that have been answered; guarded by mu
}

// StartTool calls a tool like [Client.CallTool], but if the server answers with a task, StartTool does not wait for it.
// The error is the error of the call. If the server answers at once, or does not support tasks, the returned task has
// no ID and has already ended, so [Task.Wait] works in both cases:
//
//	task, err := client.StartTool(ctx, "train", model)
//	if err != nil {
//		return err
//	}
//	save(task.ID()) // for ResumeTask
//	result, err := task.Wait(ctx)
//
// The client must declare tasks with [UseTasks]. Options that change requests apply to all requests about the task.
func (c *Client) StartTool(ctx context.Context, name string, arguments any, options ...CallOption) (*Task, error) {
	t := newTask(c, c.Call)
	r, err := c.CallTool(ctx, name, arguments,
		append(options[:len(options):len(options)], func(a *asked) { a.handle = t })...)
	if err != nil {
		if t.isMade() { // middleware returned an error although there is a task
			t.abandon(ctx, nil)
		}
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.made {
		t.state.Status, t.over, t.into = mcp.TaskCompleted, true, r
		return t, nil
	}
	c.tasks.open.add(t)
	return t, nil
}

// ResumeTask returns the task of an earlier tool call, possibly from another process. It sends nothing: the first
// request shows whether the server knows the task. Before that request, the status is unknown. Only the options for
// timeouts, _meta, the log level and the task's status apply.
//
// An ID may grant access to the task's result, so keep it secret. No error text, log record or span of the client
// contains it.
func (c *Client) ResumeTask(id string, options ...CallOption) *Task {
	a := &asked{logLevel: c.logLevel.level()}
	c.cfg.apply(a, options)
	t := newTask(c, c.Call)
	t.state.TaskID, t.into = id, new(mcp.CallToolResult)
	t.goOnAs(a)
	return t
}

// goOnAs makes requests about t use the options of a call.
func (t *Task) goOnAs(a *asked) {
	t.timeout, t.meta, t.logLevel, t.hear = a.Timeout, a.meta, a.logLevel, a.onTask
}

func newTask(c *Client, do CallFunc) *Task {
	return &Task{c: c, do: do, answers: mcp.InputResponses{}, answered: map[string]bool{}}
}

// ID returns the server's ID of the task, for [Client.ResumeTask]. It is empty if the server answered the call at once.
func (t *Task) ID() string { return t.Status().TaskID }

// Status returns the latest known state of the task, without asking the server.
func (t *Task) Status() mcp.Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// Poll asks the server once for the state of the task. [mcp.DetailedTask.InputRequests] are the task's requests for
// input; answer them with [Task.Update]. If the task is known to have ended, Poll does not ask the server; [Task.Wait]
// then returns the result or the error, also without asking the server again. A server of 2025-11-25 sends its requests
// for input to the handlers while a caller is in Wait, and Wait fetches the result.
func (t *Task) Poll(ctx context.Context) (*mcp.DetailedTask, error) {
	d, _, err := t.poll(ctx)
	if err != nil {
		return nil, err
	}
	return &mcp.DetailedTask{Task: d.Task, InputRequests: d.InputRequests}, nil
}

// Update sends input that the server has requested, all or some of it, under the keys of the requests. After that, Wait
// no longer asks the handlers for this input. A server ignores input that it did not request. Revision 2025-11-25 has
// no such request; there the error wraps [ErrUnsupported].
func (t *Task) Update(ctx context.Context, responses mcp.InputResponses) error {
	if err := t.update(ctx, responses); err != nil {
		return err
	}
	return nil
}

// Cancel asks the server to cancel the task. The server may decline or take time; Wait and Poll report how the task
// ends. If the task is known to have ended, Cancel does nothing.
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

// Wait waits for the outcome of the task. It polls at the interval that the server suggests, and answers requests for
// input with the client's handlers, each request once. If the connection is lost, Wait continues on the next one. When
// ctx ends, Wait returns and the task continues; to end the task, call [Task.Cancel].
//
// The error is an [*Error]. If the task failed, was cancelled or is no longer known, the error wraps [ErrTaskFailed],
// [ErrTaskCancelled] or [ErrTaskUnknown]. After any other error, Wait can be called again. If Wait is called
// concurrently, one call does the work, and all calls return the same result.
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

// failed records an error of the original call as a failure of that call, and returns the error. Errors of requests
// about the task were recorded with those requests.
func (t *Task) failed(ctx context.Context, err *Error) error {
	if err.Op != mcp.MethodCallTool {
		return err
	}
	t.mu.Lock()
	origin, p := t.origin, &mcp.CallToolParams{Name: t.tool}
	t.mu.Unlock()
	goesOn := func(a *asked) { a.Corr, a.Ref, a.GoesOn = origin.corr, origin.ref, true }
	return t.c.failed(ctx, mcp.MethodCallTool, p, []CallOption{goesOn}, err)
}

// isOpen reports whether the server may still work on the task, as far as the client knows.
func (t *Task) isOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.made && !t.over && !t.expired()
}

// created makes t the task that the server created in its answer to cl.
func (t *Task) created(cl *call, into any) {
	t.mu.Lock()
	t.made, t.legacy, t.into, t.tool = true, cl.tasks.asked, into, mcp.TargetOf(cl.params)
	t.goOnAs(&cl.asked)
	t.origin = lead{corr: cl.Corr, ref: cl.Ref}
	t.mu.Unlock()
	t.note(&mcp.DetailedTask{Task: cl.tasks.made.Task}, false)
}

// isMade reports whether the server has created t in its answer to a call, and the client has not abandoned t.
func (t *Task) isMade() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.made
}

// note records a state of the task. If whole is false, the state lacks the data that belongs to its status.
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
		t.due = now // the client must fetch further data
	case whole && d.Status.Terminal():
		t.over, t.err = true, t.ended(d)
	}
	t.mu.Unlock()
	if changed && t.hear != nil {
		t.hear(d.Task)
	}
}

// ended decodes the outcome of the task. The caller holds mu.
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

// outcome reports whether the task has ended, and returns its error; nil means that there is a result.
func (t *Task) outcome() (*Error, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err, t.over
}

// poll asks the server once for the state of the task. It also returns the ID of the request.
func (t *Task) poll(ctx context.Context) (d *mcp.DetailedTask, id int64, failed *Error) {
	failed = t.operate(ctx, mcp.MethodGetTask, &mcp.TaskParams{TaskID: t.ID()}, nil,
		func(ctx context.Context, options []CallOption) (err *Error) {
			d, id, err = t.pollIn(ctx, options)
			return err
		})
	return d, id, failed
}

// operate runs the function do as one operation about the task: see [Client.operate].
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

// checkState validates a task state from the server.
func (t *Task) checkState(got *mcp.Task) error {
	if got.TaskID != t.ID() {
		return errors.New("the server's answer has the ID of another task")
	}
	return checkStatus(got.Status)
}

func checkStatus(s mcp.TaskStatus) error {
	if s.Terminal() || s == mcp.TaskWorking || s == mcp.TaskInputRequired {
		return nil
	}
	return fmt.Errorf("unknown task status %q", s)
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

// request sends a request about the task, as part of the same logical call as the other requests about the task. If l
// is not nil, request fills it.
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
		return &Error{Kind: KindInvalid, Op: method, Unsent: true, cause: errors.New("the task has no ID")}
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
	if !ok { // an error of middleware
		e = &Error{Kind: KindInvalid, Op: method, cause: err}
	}
	return t.about(e)
}

// about returns a copy of e with the ID of the task. If the server's error means that the server does not know the
// task, the copy wraps ErrTaskUnknown, and also ErrTaskExpired if the lifetime of the task has passed.
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

// expired reports whether the task's lifetime has passed, so that the server may have removed it. The caller holds mu.
func (t *Task) expired() bool {
	if t.state.TTLMs == nil || t.heard.IsZero() {
		return false
	}
	return time.Since(t.heard).Milliseconds() >= *t.state.TTLMs
}

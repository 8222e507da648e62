package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// taskCall is a call that is a task or may become one. It implements [tasks.Handler].
type taskCall struct {
	tasks.Run
	info        RequestInfo // for the tool's handler
	bind        bindTask
	work        taskWork
	interrupted error // cause of the context, if the tool failed after the context ended; nil otherwise
}

// taskWork is the work of a call with valid arguments.
type taskWork func(ctx context.Context) (*mcp.CallToolResult, error)

// bindTask checks the arguments of a call. Its error is the answer to the call.
type bindTask func(context.Context, *CallToolRequest) (taskWork, error)

// call answers a call of a task tool.
func (t *serverTasks) call(ctx context.Context, c *call, called *tool) (any, error) {
	legacy, err := c.legacyTask()
	switch {
	case err != nil:
		return nil, err
	case legacy == nil && !c.declares(mcp.ExtensionTasks):
		if called.task.required {
			return nil, c.refuseWithoutTask(called)
		}
		return c.callTool(ctx, called.handle)
	}
	r := &taskCall{
		Run: tasks.Run{
			Keeper: t.keeper, Peer: &c.x.Client.Peer, Account: c.x.Client.Account, Client: c.taskClient(), Tool: called.Name,
			Legacy: legacy, Waits: called.task.waits, After: called.task.after, TTL: called.task.timeToLive(t.ttl),
		},
		info: c.info, bind: called.task.bind,
	}
	r.Handler, r.info.task = r, &r.Run
	c.Op.ToolBegins()
	answer, err := r.Do(ctx)
	c.Op.ToolEnds(r.toolRun(answer, err))
	return answer, err
}

// toolRun returns whether the tool ran before Do returned. If the call became a task, the tool may still be running.
func (r *taskCall) toolRun(answer any, err error) instrument.ToolRun {
	switch _, is := answer.(*mcp.CallToolResult); {
	case !r.Started():
		return instrument.DidNotRun
	case is && err == nil && r.interrupted == nil:
		return instrument.Ran
	}
	return instrument.MayHaveRun
}

// Bind and the methods below implement [tasks.Handler].
func (r *taskCall) Bind(ctx context.Context) (err error) {
	r.work, err = r.bind(ctx,
		&CallToolRequest{RequestInfo: &r.info, Name: r.Tool, Arguments: r.info.call.arguments})
	return err
}

func (r *taskCall) Handle(ctx context.Context) (*mcp.CallToolResult, error) { return r.work(ctx) }

// Answer returns the answer to the call. After [URLElicitationRequired], a client of 2025-11-25 gets the same error as
// without a task.
func (r *taskCall) Answer(ctx context.Context, result *mcp.CallToolResult, err error) (*mcp.CallToolResult, error) {
	if required, ok := errors.AsType[*urlRequired](err); ok && r.Legacy != nil {
		_, err = r.info.call.urlResult(required)
	}
	answer, err := toolAnswer(ctx, result, err, r.info.Version)
	r.interrupted = engine.Interruption(ctx, failed(answer, err))
	result, _ = answer.(*mcp.CallToolResult)
	return result, err
}

func (r *taskCall) Encode(answer *mcp.CallToolResult) (json.RawMessage, error) {
	return view{r.info.call.x.s, r.info.Version, r.info.Principal()}.encode(nil, answer)
}

func (r *taskCall) Outcome(answer *mcp.CallToolResult, err error) instrument.Result {
	return engine.Interrupted(outcome(answer, err), cmp.Or(r.interrupted, err))
}

func (r *taskCall) Value() any { return &r.info }

// taskOf returns the task through which a handler with the context ctx asks the client. It returns nil if the handler
// asks through the request.
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

// BeginTask turns the call of a [TaskTool] into a task, unless the call is one already: the client gets the task as
// the answer to its request, and the handler continues. After BeginTask has returned nil, the program may also pass
// the task's id to the client in other ways. BeginTask does nothing if the client does not know tasks, or if the tool
// is not a [TaskTool].
//
// The error is the cause of ctx or of the request's end, or reports that no task can begin now; its text is not for
// the client. After an error, the handler still answers the request.
// (tasks extension, "Task Creation")
func (r *RequestInfo) BeginTask(ctx context.Context) error {
	if r == nil || r.task == nil {
		return nil
	}
	return r.task.Begin(ctx)
}

// TaskID returns the id of the task that the request has become. It is empty if the request is not a task, or not yet.
func (r *RequestInfo) TaskID() string {
	if r == nil || r.task == nil {
		return ""
	}
	return r.task.ID()
}

// TaskStatus sets the status message of the task, which clients show to people. It does not wait. If several messages
// follow within 250 ms, clients may see only the last. TaskStatus does nothing if there is no task.
//
// If the handler's context has ended, TaskStatus returns the cause ([context.Cause]). The handler may then return.
func (r *RequestInfo) TaskStatus(message string) error {
	if r.TaskID() == "" {
		return nil
	}
	return r.task.SetMessage(message)
}

// maxTaskNotices limits the notices of tasks in the queue of one client. The client may request the state of a task at
// any time.
const maxTaskNotices = 1024

// NotifyTask implements [tasks.Session].
func (c *connection) NotifyTask(method, id string) {
	if c.exchange.Terms.Confirmed.Load() {
		c.notices.offer(notice{method, id}, maxTaskNotices)
	}
}

// offer queues a notice, unless the number of queued notices has reached limit.
func (n *notices) offer(one notice, limit int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.pending.order) < limit {
		n.pending.push(one, instrument.Ref{})
		n.begin()
	}
}

// tellTask sends the state of a task to the client.
func (c *connection) tellTask(id string) {
	x := c.exchange
	params, err := x.s.tasks.keeper.LegacyStatus(x.Work, id)
	if err != nil {
		return // the client gets the error when it requests the state
	}
	// best effort
	_ = x.Peer.Notify(x.Work, x.Out, x.Version(), mcp.NotificationLegacyTaskStatus, nil, params)
}

// tellTaskProgress sends the progress of a task that runs in this process.
func (c *connection) tellTaskProgress(id string) {
	p, due := c.exchange.s.tasks.keeper.DueProgress(id)
	if !due {
		return
	}
	frame, err := progressFrame(p.Version, p.Meta, p.Token, p.Value, p.Total, p.Message)
	if err == nil {
		c.sendNotification(mcp.NotificationProgress, frame)
	}
}

// sendNotification sends a notification that belongs to no request. It ignores errors, which mean that the client has
// left.
func (c *connection) sendNotification(method string, frame []byte) {
	_ = c.exchange.Peer.SendCounted(c.exchange.Work, c.exchange.Out, method, frame)
}

// inLegacyTask reports whether the handler works on a task of 2025-11-25.
func (r *RequestInfo) inLegacyTask() bool { return r != nil && r.task != nil && r.task.Legacy != nil }

// logInTask queues a log message about a task of 2025-11-25 for the session, if there is one. It does not wait.
func (r *RequestInfo) logInTask(level mcp.LoggingLevel, logger string, data any) error {
	frame, err := logFrame(r.task.Meta(), level, logger, data)
	if c := r.call.x.conn; err == nil && c != nil {
		for range c.logs.add(frame) {
			r.call.x.Peer.Tel.NotificationDropped(mcp.NotificationMessage, names.DropQueueFull)
		}
		c.notices.add(notice{method: mcp.NotificationMessage}, instrument.Ref{})
	}
	return err
}

package mcpclient

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// The tasks of 2025-11-25 are different: the client turns a call into a task, a separate request fetches the result,
// and the server requests input with requests of its own. tasklegacywait.go waits for the outcome.

// LegacyTasks yields the tasks that a server of 2025-11-25 stores for the client, and requests page after page as
// needed. [Client.ResumeTask] continues a task that belongs to a tool. An error ends the sequence. For its limits, see
// [Client.Tools]. If the server does not list tasks, or has another revision, the error wraps [ErrUnsupported].
// (specification 2025-11-25, basic/utilities/tasks, "Listing Tasks")
func (c *Client) LegacyTasks(ctx context.Context, options ...CallOption) iter.Seq2[*mcp.LegacyTask, error] {
	name := func(t *mcp.LegacyTask) string { return t.TaskID }
	return pages(ctx, c, mcp.MethodListTasks, name, options,
		func(ctx context.Context, cursor *string, options []CallOption) (page[*mcp.LegacyTask], error) {
			var r mcp.LegacyListTasksResult
			if s := c.core.Present(); s != conn.NoSession && !listsTasks(s) {
				return page[*mcp.LegacyTask]{}, unsupported(mcp.MethodListTasks, "tasks.list")
			}
			if err := c.Call(ctx, mcp.MethodListTasks, &mcp.PageParams{Cursor: cursor}, &r, options...); err != nil {
				return page[*mcp.LegacyTask]{}, err
			}
			return page[*mcp.LegacyTask]{r.Tasks, r.NextCursor}, nil
		})
}

// tasksVersion is the only revision in which tasks are part of the core protocol.
const tasksVersion = mcp.Version20251125

// makesTasks reports whether the client can turn tool calls into tasks in session s.
func makesTasks(s *conn.Session) bool {
	return s.Version == tasksVersion && s.Capabilities.Tasks.Allows(mcp.MethodCallTool)
}

func listsTasks(s *conn.Session) bool {
	return s.Version == tasksVersion && s.Capabilities.Tasks != nil && s.Capabilities.Tasks.List != nil
}

// requireLegacyTasks is like tasking.require, for tasks of 2025-11-25.
func requireLegacyTasks(s *conn.Session, method string, made bool) *Error {
	tasks := s.Capabilities.Tasks
	switch {
	case method == mcp.MethodUpdateTask:
		return unsupported(method,
			"a task of 2025-11-25 accepts no updates; during Wait, the server sends its requests to the client's handlers")
	case s == conn.NoSession:
		return nil
	case s.Version != tasksVersion || !made && tasks == nil:
		return unsupported(method, "tasks")
	case method == mcp.MethodCancelTask && (tasks == nil || tasks.Cancel == nil):
		return unsupported(method, "tasks.cancel")
	}
	return nil
}

// call calls a tool. It calls the tool as a task if a server of 2025-11-25 requires that, or if the server allows it
// and the caller wants a task. (specification 2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation")
func (t *tasking) call(ctx context.Context, p *mcp.CallToolParams, r any, options []CallOption) error {
	return t.c.operate(ctx, mcp.MethodCallTool, p, options, func(ctx context.Context, options []CallOption) error {
		return t.augmentAndCall(ctx, p, r, options)
	})
}

func (t *tasking) augmentAndCall(ctx context.Context, p *mcp.CallToolParams, r any, options []CallOption) error {
	c := t.c
	version := c.tools.version()
	s, options, err := t.augment(ctx, p.Name, options)
	if err != nil {
		return err
	}
	err = c.Call(ctx, mcp.MethodCallTool, p, r, options...)
	if refused, ok := errors.AsType[*mcp.Error](err); ok && refused.Code == mcp.CodeMethodNotFound && makesTasks(s) {
		c.tools.outdated(version) // the tool may have changed without a notification
	}
	return err
}

// augment adds the request for a task to the options of a tool call, if necessary. It also returns the session that the
// decision is based on.
func (t *tasking) augment(ctx context.Context, tool string, options []CallOption) (*conn.Session, []CallOption, error) {
	c, a := t.c, t.c.cfg.asked(options)
	s := c.core.Present()
	if s == conn.NoSession && a.Wait && t.mayBeLegacy() {
		var err error
		if s, options, err = c.agreed(ctx, mcp.MethodCallTool, options); err != nil {
			return nil, nil, err
		}
	}
	if !makesTasks(s) {
		return s, options, nil
	}
	options = c.cfg.timed(options, time.Now())
	switch support, err := c.tools.taskSupport(ctx, tool, options); {
	case err != nil:
		return nil, nil, err
	case support == mcp.TaskRequired, support == mcp.TaskOptional && a.handle != nil:
		wish := new(mcp.TaskMetadata)
		if ttl := t.c.taskOptions.TTL; ttl > 0 {
			wish.TTL = new(max(1, ttl.Milliseconds()))
		}
		options = append(options[:len(options):len(options)], func(a *asked) { a.asTask = wish })
	}
	return s, options, nil
}

// mayBeLegacy reports whether the client supports the revision with these tasks.
func (t *tasking) mayBeLegacy() bool { return slices.Contains(t.c.cfg.core.Legacy, tasksVersion) }

// paramsFor returns the params for session s, which may be a later session than the one in which the call began.
func (cl *call) paramsFor(s *conn.Session) any {
	p, ok := cl.params.(*mcp.CallToolParams)
	cl.tasks.asked = ok && cl.asked.asTask != nil && makesTasks(s)
	if !cl.tasks.asked {
		return cl.params
	}
	asking := *p
	asking.Task = cl.asked.asTask
	return &asking
}

// readLegacyTask stores the task in the answer to cl, and reports whether there is one. A server without tasks answers
// with a normal result instead. readLegacyTask does not consume the answer, because another decoder reads normal
// results.
func readLegacyTask(cl *call, m *jsonrpc.Message) bool {
	var r mcp.LegacyCreateTaskResult
	if _, err := mcp.Decode(m.Middle(), &r); err != nil || m.Check() != nil {
		return false
	}
	cl.tasks.made = &mcp.CreateTaskResult{Result: r.Result, Task: taskOf(&r.Task)}
	return true
}

// taskOf converts a task of revision 2025-11-25 to the current type.
func taskOf(t *mcp.LegacyTask) mcp.Task {
	return mcp.Task{
		TaskID: t.TaskID, Status: t.Status, StatusMessage: t.StatusMessage,
		CreatedAt: t.CreatedAt, LastUpdatedAt: t.LastUpdatedAt, TTLMs: t.TTL, PollIntervalMs: t.PollInterval,
	}
}

// relate wraps the handlers for requests of a server's task: each answer then refers to the task of its request.
// (specification 2025-11-25, basic/utilities/tasks, "Associating Task-Related Messages")
func (t *tasking) relate(handlers map[string]RequestHandler) {
	if !t.declared() {
		return
	}
	for method, h := range handlers {
		handlers[method] = related(h)
	}
}

func related(next RequestHandler) RequestHandler {
	return func(ctx context.Context, r *Request) (any, error) {
		result, err := next(ctx, r)
		if err != nil {
			return nil, err
		}
		var p mcp.Params
		if err := r.Decode(&p); err != nil {
			return result, nil
		}
		task, belongs := p.Meta.Lookup(mcp.MetaRelatedTask)
		if !belongs {
			return result, nil
		}
		raw, err := mcp.AppendResult(nil, result)
		if err != nil {
			return nil, err
		}
		var meta mcp.Meta
		if _, err := mcp.Object(raw).Decode("_meta", &meta); err != nil {
			return nil, err
		}
		if meta, err = meta.With(mcp.MetaRelatedTask, task); err != nil {
			return nil, err
		}
		return mcp.Object(raw).With("_meta", meta)
	}
}

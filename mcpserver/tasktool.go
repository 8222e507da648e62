package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// AddTaskTool adds a tool that a Go function implements, as [AddTool] does, for calls that take longer than a client
// wants to wait. For clients that declare the tasks extension, each call with valid arguments becomes a task. The
// client gets the task as the answer at once, polls for the outcome or subscribes to it, and may cancel the task. h
// continues when the request is over, until it returns. Its context has the values of the request's context, and ends
// when the client cancels the task, when its TTL ([TaskOptions.TTL] or [TaskTTL]) has passed or when the server shuts
// down, see [Server.Shutdown].
//
// Clients of 2025-11-25 know another kind of task, and request a task with the call. Such a call becomes a task even if
// its arguments are invalid. The task is kept for the time that the client requests, but never longer than other tasks.
// Questions of h to the client wait until the client waits for the result. A cancelled task stays cancelled, whatever h
// returns, and a result with isError fails the task.
//
// A task belongs to the principal of its request. Without a principal, it belongs to every client that knows its id,
// which cannot be guessed.
//
// For all other clients, and for calls that request no task, h runs as the function of any other tool while the client
// waits. If the TaskSupport in the Execution of t is [mcp.TaskRequired], the server refuses such calls instead, to
// modern clients with -32021 and to legacy clients with -32601.
//
// The outcome of a task is what h returns, in the form that [ToolHandler] describes: an error that is no [*mcp.Error]
// is a result with isError, and so completes the task; an [*mcp.Error] fails the task. After the client has cancelled
// the task, an error makes the task cancelled, and a result still completes it. The messages of [RequestInfo.Progress]
// and [RequestInfo.TaskStatus] become the status message of the task.
//
// It is an error if the program has its own handlers for the methods of tasks.
// (tasks extension, https://modelcontextprotocol.io/seps/2663-tasks-extension; specification 2025-11-25,
// basic/utilities/tasks)
func AddTaskTool[In, Out any](s *Server, t *mcp.Tool, h func(ctx context.Context, in In) (Out, error),
	options ...TaskToolOption) error {
	if h == nil {
		return errors.New("add tool: no handler")
	}
	added, input, output, err := typedTool[In, Out](t)
	if err != nil {
		return err
	}
	return s.tasks.addTool(added, options, func(ctx context.Context, r *CallToolRequest) (taskWork, error) {
		in, err := decodeArguments[In](ctx, input, r.Arguments)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (*mcp.CallToolResult, error) {
			out, err := h(ctx, in)
			if err != nil {
				return nil, err
			}
			return resultOf(ctx, out, output)
		}, nil
	})
}

// AddRawTaskTool adds a tool as [Server.AddRawTool] does. Its calls may become tasks, as those of [AddTaskTool] do.
func (s *Server) AddRawTaskTool(t *mcp.Tool, h ToolHandler, options ...TaskToolOption) error {
	if h == nil {
		return errors.New("add tool: no handler")
	}
	added, err := rawTool(t)
	if err != nil {
		return err
	}
	return s.tasks.addTool(added, options, func(_ context.Context, r *CallToolRequest) (taskWork, error) {
		return func(ctx context.Context) (*mcp.CallToolResult, error) { return h(ctx, r) }, nil
	})
}

// TaskToolOption configures the tasks of one tool.
type TaskToolOption func(*taskTool)

// TaskWhenAsked makes a call a task only when the handler calls [RequestInfo.BeginTask]. Until then, the handler
// answers the request: it may ask the client for something, and may return without a task. A client of 2025-11-25 that
// requests a task gets one at once.
func TaskWhenAsked() TaskToolOption { return func(t *taskTool) { t.waits = true } }

// TaskAfter makes a call a task only when the handler takes longer than d, so that clients get the answers of quick
// calls without a task. Otherwise it works like [TaskWhenAsked].
func TaskAfter(d time.Duration) TaskToolOption {
	return func(t *taskTool) { t.waits, t.after = true, d }
}

// TaskTTL sets the TTL of the tool's tasks: zero means [TaskOptions.TTL], negative means for ever.
func TaskTTL(d time.Duration) TaskToolOption { return func(t *taskTool) { t.ttl = d } }

// taskTool holds the task properties of a tool whose calls may become tasks.
type taskTool struct {
	bind     bindTask
	required bool          // calls without a task are refused
	waits    bool          // calls do not become tasks at once
	after    time.Duration // with waits: when a call becomes a task; zero for never
	ttl      time.Duration
}

// timeToLive returns how long a task of the tool is kept, zero for ever. usual is the TTL of the options.
func (t *taskTool) timeToLive(usual time.Duration) time.Duration {
	return max(0, cmp.Or(t.ttl, usual))
}

func (t *serverTasks) addTool(info *mcp.Tool, options []TaskToolOption, bind bindTask) error {
	task := &taskTool{bind: bind}
	for _, option := range options {
		option(task)
	}
	if info.Execution == nil {
		info.Execution = new(mcp.ToolExecution)
	}
	switch info.Execution.TaskSupport {
	case "":
		info.Execution.TaskSupport = mcp.TaskOptional
	case mcp.TaskOptional:
	case mcp.TaskRequired:
		task.required = true
	default:
		return fmt.Errorf("add tool %s: a task tool whose task support is %q", info.Name, info.Execution.TaskSupport)
	}
	if !t.offer() {
		return fmt.Errorf("add tool %s: the methods of tasks have other handlers", info.Name)
	}
	return t.s.tools.register(info, func(ctx context.Context, r *CallToolRequest) (*mcp.CallToolResult, error) {
		work, err := bind(ctx, r)
		if err != nil {
			return nil, err
		}
		return work(ctx)
	}, task)
}

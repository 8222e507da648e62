package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// AddTaskTool adds a tool that is a Go function, as [AddTool] does, and that may take longer than a client likes to
// wait: for clients that declare the tasks extension each call becomes a task, unless its arguments do not fit. The
// client is answered at once, polls for the outcome or subscribes to it, and may cancel. h runs on when the request is
// over, until it returns or the [TaskOptions.TTL] has passed; its context has the values of the request's, and ends
// when the client cancels the task, its time is up or the server shuts down, see [Server.Shutdown].
//
// Clients of 2025-11-25 know tasks of another kind, and ask for each with the call: then it becomes one, whatever its
// arguments, and is kept as long as the client asks for, but no longer than it would be anyway. What h asks the client
// for waits until the client waits for the result. A task that is cancelled stays so, whatever h returns, and a result
// with isError fails it. Tasks belong to the principal; where there is none, to every client that knows the id, which
// cannot be guessed.
//
// For all other clients, and calls that ask for no task, h runs as that of any tool, while they wait; if the Execution
// of t says [mcp.TaskRequired] they are refused instead, modern ones with -32021 and legacy ones with -32601.
//
// What h returns becomes the outcome as [ToolHandler] says: an error that is no [*mcp.Error] is a result with isError,
// and so completes the task; any other fails it. After the client has cancelled, an error makes the task cancelled, and
// a result completes it all the same. What h says by [RequestInfo.Progress] or [RequestInfo.TaskStatus] becomes the
// task's status message.
//
// It is an error if the methods of tasks have handlers of one's own.
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

// AddRawTaskTool adds a tool as [Server.AddRawTool] does, whose calls may become tasks as those of [AddTaskTool].
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

// TaskToolOption says something about the tasks of one tool.
type TaskToolOption func(*taskTool)

// TaskWhenAsked makes no call a task unless the handler calls [RequestInfo.BeginTask]. Until then it answers the
// request: it may ask the client for something, and return without there having been a task. A client of 2025-11-25
// that asks for a task gets one at once.
func TaskWhenAsked() TaskToolOption { return func(t *taskTool) { t.waits = true } }

// TaskAfter makes a call a task only when the handler takes longer than d, so that clients get quick answers at once.
// It is as TaskWhenAsked for the handler.
func TaskAfter(d time.Duration) TaskToolOption {
	return func(t *taskTool) { t.waits, t.after = true, d }
}

// TaskTTL is the [TaskOptions.TTL] of the tool's tasks: zero means that, negative for ever.
func TaskTTL(d time.Duration) TaskToolOption { return func(t *taskTool) { t.ttl = d } }

// taskTool is what a tool has beyond others whose calls may become tasks.
type taskTool struct {
	bind     bindTask
	required bool          // no call is answered in any other way
	waits    bool          // no call becomes a task at once
	after    time.Duration // but then; zero for never
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

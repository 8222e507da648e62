package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// TaskTool turns a tool's calls into tasks, for calls that take longer than a client wants to wait. For clients that
// declare the tasks extension, each call with valid arguments becomes a task. The client gets the task as the answer at
// once, polls for the outcome or subscribes to it, and may cancel the task. The handler continues when the request is
// over, until it returns. Its context has the values of the request's context, and ends when the client cancels the
// task, when its TTL ([TaskOptions.TTL] or [TaskTTL]) has passed or when the server shuts down, see [Server.Shutdown].
//
// Clients of 2025-11-25 know another kind of task, and request a task with the call. Such a call becomes a task even if
// its arguments are invalid. The task is kept for the time that the client requests, but never longer than other tasks.
// Questions of the handler to the client wait until the client waits for the result. A cancelled task stays cancelled,
// regardless of the handler's result. A result with isError fails the task.
//
// A task belongs to the principal of its request. Without a principal, it belongs to every client that knows its id,
// which cannot be guessed.
//
// For all other clients, and for calls that request no task, the handler runs like the handler of any other tool, while
// the client waits. If the TaskSupport in the Execution of the tool is [mcp.TaskRequired], the server refuses such
// calls instead, to modern clients with -32021 and to legacy clients with -32601.
//
// The outcome of a task is the return value of the handler, as [ToolHandler] describes: an error other than an
// [*mcp.Error] is a result with isError, and so completes the task; an [*mcp.Error] fails the task. After the client
// has cancelled the task, an error makes the task cancelled, and a result still completes it. The messages of
// [RequestInfo.Progress] and [RequestInfo.TaskStatus] become the status message of the task.
//
// The tool cannot be added if the program has its own handlers for the methods of tasks.
// (tasks extension, https://modelcontextprotocol.io/seps/2663-tasks-extension; specification 2025-11-25,
// basic/utilities/tasks)
func TaskTool() ToolOption { return func(o *toolOptions) { o.tasks() } }

// TaskWhenAsked is like [TaskTool], but a call becomes a task only when the handler calls [RequestInfo.BeginTask].
// Until then, the handler answers the request: it may ask the client for something, and may return without a task. A
// client of 2025-11-25 that requests a task gets one at once.
func TaskWhenAsked() ToolOption { return func(o *toolOptions) { o.tasks().waits = true } }

// TaskAfter is like [TaskWhenAsked], but a call also becomes a task when the handler takes longer than d, so that
// clients get the answers of quick calls without a task.
func TaskAfter(d time.Duration) ToolOption {
	return func(o *toolOptions) {
		t := o.tasks()
		t.waits, t.after = true, d
	}
}

// TaskTTL is like [TaskTool], and sets the tasks' TTL: zero means [TaskOptions.TTL], negative means for ever.
func TaskTTL(d time.Duration) ToolOption { return func(o *toolOptions) { o.tasks().ttl = d } }

// tasks returns the task properties of the tool.
func (o *toolOptions) tasks() *taskTool {
	if o.task == nil {
		o.task = new(taskTool)
	}
	return o.task
}

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

// offerTool declares that calls of a tool may become tasks.
func (t *serverTasks) offerTool(info *mcp.Tool, task *taskTool) error {
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
		return fmt.Errorf("add tool %s: TaskTool needs the task support optional or required, got %q", info.Name,
			info.Execution.TaskSupport)
	}
	if !t.offer() {
		return fmt.Errorf("add tool %s: a method of tasks already has another handler", info.Name)
	}
	return nil
}

// TaskOptions configure tasks, see [TaskTool]. The zero value of every field means the default stated here.
type TaskOptions struct {
	// Store stores the tasks. Nil means [store.NewMemoryTasks] with its defaults, until [Server.Shutdown]. Servers that
	// share a store, such as replicas behind a load balancer, answer requests about each other's tasks.
	Store store.Tasks

	// TTL is how long a task and its outcome are kept after its creation. Then the task is deleted, and the context of a
	// handler that still runs ends. Zero means 1 h, negative means for ever. Clients of 2025-11-25 may request a shorter
	// time.
	TTL time.Duration

	// PollInterval is how often clients should poll a task. Zero means 1 s.
	PollInterval time.Duration

	// MaxRunning is the maximum number of tasks that run in this server at once, including tasks that wait for input. The
	// server refuses more tasks, over HTTP with 429. One [HTTPOptions.Account] may use half of the places, two may use a
	// third each, and so on. Zero means 1,024.
	MaxRunning int

	// MaxKept is the maximum number of tasks of this server in the store at once. A task counts from its creation until
	// its TTL has passed, and always if the TTL is unlimited. The server refuses more tasks, over HTTP with 429. One
	// account may use half of the places, as above. Zero means 10,000.
	MaxKept int

	// MaxKeptBytes bounds the total bytes of these tasks' results and questions and of the client's responses. A task
	// fails if there is no room for its result; the server refuses a response if there is no room for it. One account may
	// use half of the bytes, as above. Zero means 256 MiB.
	MaxKeptBytes int

	// MaxResult is the maximum size of a task's result in bytes of JSON; a task with a larger result fails. Zero means
	// [Limits.Frame].
	MaxResult int

	// Lease bounds the silence of a server: if it sends no heartbeat for this long, the other servers that share its store
	// consider it dead and its tasks failed. A server sends three heartbeats in each Lease. The clocks of the servers must
	// differ by much less than Lease. A server never considers itself dead. Zero means 30 s.
	Lease time.Duration
}

// newTaskOptions returns the options with every default filled in, except for Store.
func newTaskOptions(o *TaskOptions, frameLimit int) (TaskOptions, error) {
	var c TaskOptions
	if o != nil {
		c = *o
	}
	for field, v := range map[string]int64{
		"PollInterval": int64(c.PollInterval), "MaxRunning": int64(c.MaxRunning),
		"MaxResult": int64(c.MaxResult), "Lease": int64(c.Lease),
		"MaxKept": int64(c.MaxKept), "MaxKeptBytes": int64(c.MaxKeptBytes),
	} {
		if v < 0 {
			return c, fmt.Errorf("options: Tasks.%s is negative", field)
		}
	}
	c.TTL = cmp.Or(c.TTL, time.Hour)
	c.PollInterval = cmp.Or(c.PollInterval, time.Second)
	c.MaxRunning = cmp.Or(c.MaxRunning, 1024)
	c.MaxKept = cmp.Or(c.MaxKept, 10_000)
	c.MaxKeptBytes = cmp.Or(c.MaxKeptBytes, 256<<20)
	c.MaxResult = cmp.Or(c.MaxResult, frameLimit)
	c.Lease = cmp.Or(c.Lease, 30*time.Second)
	return c, nil
}

// Shutdown ends the tasks that run in this server. Call it after everything that serves clients has ended. Shutdown
// refuses new tasks, and waits for the running ones. If ctx ends first, Shutdown ends the contexts of their handlers,
// which fails the tasks, and returns the cause of ctx. It waits another second for these handlers; the error has the
// number of handlers that still run then. Their tasks have failed too. A server without tasks need not be shut down.
//
// Shutdown deletes the tasks in the server's own store, which the server has if [TaskOptions] name none.
//
// If a process dies without Shutdown, its tasks fail at the end of their lease, provided that other servers share the
// store. See [TaskOptions].
func (s *Server) Shutdown(ctx context.Context) error { return s.tasks.keeper.Shutdown(ctx) }

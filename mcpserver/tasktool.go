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
// declare the tasks extension, each call with valid arguments becomes a task. The client gets the task as the answer
// at once, polls for the outcome or subscribes to it, and may cancel the task. The handler continues after the request
// has ended, until it returns. Its context has the values of the request's context. The context ends when the client
// cancels the task, when the task's TTL ([TaskOptions.TTL] or [TaskTTL]) has passed, or when the server shuts down,
// see [Server.Shutdown].
//
// Clients of 2025-11-25 know another kind of task, and request a task with the call. Such a call becomes a task even
// if its arguments are invalid. The server keeps the task for the time that the client requests, but never longer than
// other tasks. If the handler asks the client a question, the question waits until the client requests the result. A
// cancelled task stays cancelled, regardless of the handler's result. A result with isError fails the task.
//
// A task belongs to the principal of its request. Without a principal, the task belongs to every client that knows its
// id, which cannot be guessed.
//
// For all other clients, and for calls that request no task, the handler runs like the handler of any other tool,
// while the client waits. If the TaskSupport in the Execution of the tool is [mcp.TaskRequired], the server refuses
// such calls instead, to modern clients with -32021 and to legacy clients with -32601.
//
// The outcome of a task is the return value of the handler, as [ToolHandler] describes. An [*mcp.Error] fails the
// task. Any other error becomes a result with isError, and so completes the task. If the client has cancelled the
// task, an error makes the task cancelled, and a result still completes it. The messages of [RequestInfo.Progress] and
// [RequestInfo.TaskStatus] become the status message of the task.
//
// Adding the tool fails if the program has its own handlers for the methods of tasks.
// (tasks extension, https://modelcontextprotocol.io/seps/2663-tasks-extension; specification 2025-11-25,
// basic/utilities/tasks)
func TaskTool() ToolOption { return func(o *toolOptions) { o.tasks() } }

// TaskWhenAsked is like [TaskTool], but a call becomes a task only when the handler calls [RequestInfo.BeginTask].
// Until then, the handler answers the request: it may ask the client for something, and may return without a task. If
// a client of 2025-11-25 requests a task, the call becomes a task at once.
func TaskWhenAsked() ToolOption { return func(o *toolOptions) { o.tasks().waits = true } }

// TaskAfter is like [TaskWhenAsked], but a call also becomes a task when the handler takes longer than d, so that
// clients get the answers of quick calls without a task.
func TaskAfter(d time.Duration) ToolOption {
	return func(o *toolOptions) {
		t := o.tasks()
		t.waits, t.after = true, d
	}
}

// TaskTTL is like [TaskTool], and sets the TTL of the tasks. Zero means [TaskOptions.TTL]. With a negative TTL, tasks
// never expire.
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
	required bool          // the server refuses calls without a task
	waits    bool          // calls do not become tasks at once
	after    time.Duration // with waits: the time after which a call becomes a task; zero for never
	ttl      time.Duration
}

// timeToLive returns the time for which the server keeps a task of the tool, zero for ever. usual is the TTL of the
// options.
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

// TaskOptions configure tasks, see [TaskTool]. The zero value of each field means its default.
type TaskOptions struct {
	// Store stores the tasks. Nil means a [store.NewMemoryTasks] with its defaults, which lasts until [Server.Shutdown].
	// Servers that share a store, such as replicas behind a load balancer, answer requests about each other's tasks.
	Store store.Tasks

	// TTL is the time after its creation for which the server keeps a task and its outcome. Then the server deletes the
	// task and ends the context of a handler that still runs. Zero means 1 h, negative means for ever. Clients of
	// 2025-11-25 may request a shorter time.
	TTL time.Duration

	// PollInterval is the interval at which clients should poll a task. Zero means 1 s.
	PollInterval time.Duration

	// MaxRunning is the maximum number of tasks that run in this server at once, including tasks that wait for input. The
	// server refuses more tasks, over HTTP with 429. One [HTTPOptions.Account] may have half of this number, two accounts
	// may have a third each, and so on. Zero means 1,024.
	MaxRunning int

	// MaxKept is the maximum number of tasks of this server in the store. A task counts from its creation until its TTL
	// has passed, and always if the TTL is unlimited. The server refuses more tasks, over HTTP with 429. One account may
	// have half of this number, as with MaxRunning. Zero means 10,000.
	MaxKept int

	// MaxKeptBytes limits the total size in bytes of the results of these tasks, their questions to the client, and the
	// client's responses. Without room for its result, a task fails; without room for a response, the server refuses the
	// response. One account may use half of the bytes, as with MaxRunning. Zero means 256 MiB.
	MaxKeptBytes int

	// MaxResult is the maximum size of a task's result in bytes of JSON. A task with a larger result fails. Zero means
	// [Limits.Frame].
	MaxResult int

	// Lease bounds the silence of a server. If a server sends no heartbeat for this long, the other servers that share
	// its store consider the server dead and its tasks failed. A server sends three heartbeats in each Lease. The clocks
	// of the servers must differ by much less than Lease. A server never considers itself dead. Zero means 30 s.
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
// refuses new tasks, and waits for the running tasks. If ctx ends first, Shutdown ends the contexts of their handlers,
// which fails the tasks, and returns the cause of ctx. It waits another second for these handlers; the error contains
// the number of handlers that still run then. Their tasks have failed too. A server without tasks needs no Shutdown.
//
// If [TaskOptions] name no store, the server has its own store, and Shutdown deletes the tasks in it.
//
// If a process dies without Shutdown, its tasks fail at the end of their lease, provided that other servers share the
// store. See [TaskOptions].
func (s *Server) Shutdown(ctx context.Context) error { return s.tasks.keeper.Shutdown(ctx) }

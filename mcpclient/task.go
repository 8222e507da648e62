package mcpclient

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/waits"
	"github.com/mcpotel/mcpotel/mcp"
)

// UseTasks declares that a modern server may answer a tool call with a task, which is work that continues on the
// server, and makes the client wait for the outcome: [Client.CallTool] waits, [Client.StartTool] returns the task. The
// server decides for each call whether it becomes a task. A nil o selects the defaults.
//
// The client polls the outcome with tasks/get; it does not subscribe to notifications/tasks. If the task requests
// input, the handlers of the server's requests answer, such as [HandleElicitation]. (extension
// io.modelcontextprotocol/tasks, specification/draft/tasks)
//
// Revision 2025-11-25 has another, experimental kind of tasks, and UseTasks covers it too, without a declaration. In
// that revision, the client requests a task, if the server's list of tools allows that: CallTool, [CallToolAs] and
// StartTool do so for tools that require a task, and StartTool also for tools that allow one. To find these tools, the
// client lists the tools once, before the first call. The server requests input with requests of its own, while a
// caller is in CallTool or [Task.Wait]. During that time, the client also handles notifications/tasks/status.
// (specification 2025-11-25, basic/utilities/tasks)
func UseTasks(o *TaskOptions) Feature {
	var options TaskOptions
	if o != nil {
		options = *o
	}
	return feature{
		join: func(c *Client) error {
			c.taskOptions = options
			return options.check()
		},
		declare: func(c *mcp.ClientCapabilities) {
			extensions := maps.Clone(c.Extensions) // a copy, because the user's map must not change
			if extensions == nil {
				extensions = map[string]mcp.Object{}
			}
			extensions[mcp.ExtensionTasks] = mcp.Object{}
			c.Extensions = extensions
		},
	}
}

// TaskOptions configures the polling of tasks. The zero value of every field selects its default.
type TaskOptions struct {
	// PollInterval is the time between two polls if the server suggests no interval. Zero means 1 s.
	PollInterval time.Duration

	// PollMin and PollMax bound the interval that a server suggests. Zero means 100 ms for PollMin and no limit for
	// PollMax: if a server suggests a day, the client polls once a day, whatever deadline the caller's context has. Each
	// failure doubles the interval, up to a minute or up to the server's suggestion if that is longer. A random part of up
	// to a tenth is added to each interval, so that tasks that were started together are not polled together.
	PollMin, PollMax time.Duration

	// TTL is the lifetime of a task, from its creation, that the client requests from a server of 2025-11-25; the server
	// may choose another. Zero means that the client requests none. In other revisions, the server alone decides.
	TTL time.Duration
}

// taskCall is the task state of a call.
type taskCall struct {
	made  *mcp.CreateTaskResult // task in the latest answer; nil for none
	asked bool                  // the latest request asks for a task of 2025-11-25
}

// WithTaskStatus calls f with the task if the call becomes one: when the server has created the task, and whenever a
// poll finds a change. Save the TaskID at the first call of f, because [Client.ResumeTask] needs it after this program
// has ended. f is called in the goroutine of [Client.CallTool], [Client.StartTool], [Task.Poll] or [Task.Wait].
func WithTaskStatus(f func(mcp.Task)) CallOption { return func(a *asked) { a.onTask = f } }

// Conditions of tasks, to test with [errors.Is]. [Error.TaskID] is the ID of the task.
var (
	// ErrTaskFailed: the request that became the task has failed, for the reason in [Error.Server]. A tool that reports an
	// error has not failed in this sense.
	ErrTaskFailed = errors.New("task failed")
	// ErrTaskCancelled: the server has cancelled the task, because a client requested that or for reasons of its own.
	ErrTaskCancelled = errors.New("task cancelled")
	// ErrTaskUnknown: the server does not know the task, or no longer knows it.
	ErrTaskUnknown = errors.New("unknown task")
	// ErrTaskExpired: the task's lifetime has passed, and the server no longer knows the task or cannot be asked.
	ErrTaskExpired = errors.New("task expired")
)

// check validates the options.
func (o *TaskOptions) check() error {
	if min(o.PollInterval, o.PollMin, o.PollMax, o.TTL) < 0 {
		return errors.New("tasks: TaskOptions has a negative duration")
	}
	if least, most := o.bounds(); least > most {
		return fmt.Errorf("tasks: PollMin %v exceeds PollMax %v", least, most)
	}
	return nil
}

// longestPoll is the maximum interval between two polls. It is short enough to be multiplied without overflow.
const longestPoll = 10000 * time.Hour

// bounds returns the minimum and maximum interval between polls.
func (o *TaskOptions) bounds() (least, most time.Duration) {
	least = cmp.Or(o.PollMin, 100*time.Millisecond)
	return least, min(cmp.Or(o.PollMax, longestPoll), longestPoll)
}

// interval returns the time until the next poll. suggested is the server's suggestion in milliseconds, or nil. Each
// consecutive failure doubles the interval.
func (o *TaskOptions) interval(suggested *int64, failures int) time.Duration {
	least, most := o.bounds()
	return waits.Poll(suggested, cmp.Or(o.PollInterval, time.Second), least, most, failures)
}

// tasking is the client's support of tasks.
type tasking struct {
	c    *Client
	open *openTasks // set before the first call; nil unless a group stops the client when it is idle
}

// declared reports whether a server may make tasks of calls.
func (t *tasking) declared() bool {
	return t.c.cfg.Capabilities.Extensions[mcp.ExtensionTasks] != nil
}

// mayBecomeTask reports whether the server may answer the call with a task.
func (cl *call) mayBecomeTask() bool {
	return cl.Method == mcp.MethodCallTool && cl.c.tasks.declared()
}

// require returns an error for a request about tasks that cannot succeed. made means that the server has created the
// task, which proves that the server supports this kind of tasks.
func (t *tasking) require(method string, made, legacy bool) *Error {
	if !t.declared() {
		return &Error{Kind: KindInvalid, Op: method, Unsent: true,
			cause: errors.New("the client did not declare tasks; enable them with UseTasks")}
	}
	s := t.c.core.Present()
	switch {
	case legacy:
		return requireLegacyTasks(s, method, made)
	case s != conn.NoSession && (!s.Era.Asks() || !made && s.Capabilities.Extensions[mcp.ExtensionTasks] == nil):
		return unsupported(method, "tasks")
	}
	return nil
}

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

// UseTasks declares that a modern server may answer the call of a tool with a task, which it works on beyond that
// answer, and lets the client wait for the outcome: [Client.CallTool] does so by itself, [Client.StartTool] hands the
// task over. Whether a call becomes a task the server decides, call by call. A nil o means the defaults.
//
// The client asks for the outcome with tasks/get, again and again; it does not subscribe to notifications/tasks. What
// the task needs of the client on the way, the handlers get that answer a server's requests in general, such as that of
// [HandleElicitation]. (extension io.modelcontextprotocol/tasks, specification/draft/tasks)
//
// The revision 2025-11-25 has tasks of another kind, an experiment, and UseTasks serves for them too; there is nothing
// to declare. There it is the client that makes a task of a call, of those tools that the server lists as such: where
// that is required, CallTool, [CallToolAs] and StartTool do; where it is optional, StartTool does. To learn which tools
// those are, the tools are listed once, before the first call. A server that needs something on the way asks with
// requests of its own while a caller is in CallTool or [Task.Wait]. The client hears its notifications/tasks/status
// then. (specification 2025-11-25, basic/utilities/tasks)
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
			extensions := maps.Clone(c.Extensions) // the user's stay as they are
			if extensions == nil {
				extensions = map[string]mcp.Object{}
			}
			extensions[mcp.ExtensionTasks] = mcp.Object{}
			c.Extensions = extensions
		},
	}
}

// TaskOptions say how often a client asks how far a task has got. The zero value of every field means the default.
type TaskOptions struct {
	// PollInterval is the time between two polls of a server that suggests none. Zero means 1 s.
	PollInterval time.Duration

	// PollMin and PollMax bound what a server suggests. Zero means 100 ms, and no upper bound: a server that wants to be
	// asked once a day is asked once a day, however long the caller's context allows. After failures the interval doubles
	// up to a minute, or what the server suggests if that is more. To each interval up to a tenth is added, so that tasks
	// that were begun together are not asked for together.
	PollMin, PollMax time.Duration

	// TTL is how long a server of 2025-11-25 is asked to keep a task, from its creation; it may keep it for another time.
	// Zero means as long as the server likes. In the other revisions it is the server's choice alone.
	TTL time.Duration
}

// taskCall is what a call knows of the task that it may become.
type taskCall struct {
	made  *mcp.CreateTaskResult // by the latest answer, instead of a result; nil if none is
	asked bool                  // the latest request does, as the specification says
}

// WithTaskStatus lets f hear of the task that the call becomes, if it does: when the server has made it, and whenever a
// poll finds it changed. The first time is the one to write down its TaskID, with which [Client.ResumeTask] goes on
// after this program has ended. f is called in the goroutine that has asked: that of [Client.CallTool],
// [Client.StartTool], [Task.Poll] or [Task.Wait].
func WithTaskStatus(f func(mcp.Task)) CallOption { return func(a *asked) { a.onTask = f } }

// Conditions of tasks, to test with [errors.Is]. The error has the task's id in [Error.TaskID].
var (
	// ErrTaskFailed: the request that became the task has failed; [Error.Server] says why. A tool that reports an error
	// has not failed in this sense.
	ErrTaskFailed = errors.New("task failed")
	// ErrTaskCancelled: the server has cancelled the task, because a client asked it to or for reasons of its own.
	ErrTaskCancelled = errors.New("task cancelled")
	// ErrTaskUnknown: the server does not know the task, or not any more.
	ErrTaskUnknown = errors.New("unknown task")
	// ErrTaskExpired: the task's time to live has passed, and the server does not know it any more or cannot be asked.
	ErrTaskExpired = errors.New("task expired")
)

// check says what is wrong with the options.
func (o *TaskOptions) check() error {
	if min(o.PollInterval, o.PollMin, o.PollMax, o.TTL) < 0 {
		return errors.New("tasks: a duration is negative")
	}
	if least, most := o.bounds(); least > most {
		return fmt.Errorf("tasks: PollMin %v exceeds PollMax %v", least, most)
	}
	return nil
}

// longestPoll is the longest interval between two polls: no task needs a longer one, and it can be multiplied without
// overflow.
const longestPoll = 10000 * time.Hour

// bounds returns what no interval between polls is below and above.
func (o *TaskOptions) bounds() (least, most time.Duration) {
	least = cmp.Or(o.PollMin, 100*time.Millisecond)
	return least, min(cmp.Or(o.PollMax, longestPoll), longestPoll)
}

// interval returns the time until the next poll, of which the server suggests so many milliseconds or nothing. After
// failures in a row it doubles with each.
func (o *TaskOptions) interval(suggested *int64, failures int) time.Duration {
	least, most := o.bounds()
	return waits.Poll(suggested, cmp.Or(o.PollInterval, time.Second), least, most, failures)
}

// tasking is what a client does about tasks.
type tasking struct{ c *Client }

// declared reports whether a server may make tasks of calls.
func (t *tasking) declared() bool {
	return t.c.cfg.Capabilities.Extensions[mcp.ExtensionTasks] != nil
}

// mayBecomeTask reports whether the server may answer the call with a task.
func (cl *call) mayBecomeTask() bool {
	return cl.Method == mcp.MethodCallTool && cl.c.tasks.declared()
}

// require fails locally what cannot succeed. A task that the server has made proves that it knows tasks, of this kind.
func (t *tasking) require(method string, made, legacy bool) *Error {
	if !t.declared() {
		return &Error{Kind: KindInvalid, Op: method, Unsent: true,
			cause: errors.New("the client has not declared tasks, see UseTasks")}
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

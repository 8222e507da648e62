package mcpclient

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// cancelTaskTimeout bounds the wait for the acknowledgement of a task's cancellation.
const cancelTaskTimeout = 5 * time.Second

// abandon asks the server once to cancel the task, because its caller no longer waits. err is the reason (nil for
// a reason outside of the client); if it means that there is no task to cancel, abandon does nothing. The request
// has been sent when abandon returns, and abandon does not wait for the answer. (extension
// io.modelcontextprotocol/tasks, "Task Cancellation")
func (t *Task) abandon(ctx context.Context, err *Error) {
	if _, over := t.outcome(); over || err != nil && (errors.Is(err, ErrTaskUnknown) || errors.Is(err, ErrUnsupported)) {
		return
	}
	c := t.c
	if c.tasks.require(mcp.MethodCancelTask, true, t.isLegacy()) != nil {
		return
	}
	t.mu.Lock()
	origin := t.origin
	t.made = false
	t.mu.Unlock()
	c.tasks.cancel(ctx, t.ID(), t.meta, origin)
}

// cancel asks the server once to cancel a task of origin. The request has been sent when cancel returns.
func (t *tasking) cancel(ctx context.Context, id string, meta mcp.Meta, origin lead) {
	c := t.c
	cl := c.newCall(mcp.MethodCancelTask, &mcp.TaskParams{TaskID: id})
	cl.Timeout, cl.asked.meta = cancelTaskTimeout, meta
	cl.Corr, cl.Ref = origin.corr, origin.ref
	cl.Post(context.WithoutCancel(ctx)) // the request may still use cl after Post, so cl is not freed
}

const (
	// lateTaskSize bounds a late answer that is parsed, because the goroutine that reads the connection parses it.
	lateTaskSize = 64 << 10

	// lateTaskTime bounds the wait, over HTTP, for the late answer to an abandoned call that may have become a task.
	// Afterwards the request releases its place.
	lateTaskTime = 30 * time.Second
)

// lateTask is the data of an abandoned call that may have become a task.
type lateTask struct {
	tasks  *tasking
	asked  bool // the client has asked for a task, as 2025-11-25 requires
	meta   mcp.Meta
	origin lead
	found  atomic.Bool // a task was found and cancelled
}

// Late returns the handler of a late answer to cl, nil if the server cannot make a task of the call.
func (cl *call) Late() conn.LateAnswer {
	if !cl.mayBecomeTask() {
		return nil
	}
	l := &lateTask{tasks: &cl.c.tasks, asked: cl.asked.asTask != nil, meta: cl.asked.meta,
		origin: lead{corr: cl.Corr, ref: cl.Ref}}
	return l.disown
}

// disown cancels the task in a late answer, because the caller has left and does not know the task.
// (specification 2025-11-25, basic/utilities/tasks, "Task Cancellation"; extension io.modelcontextprotocol/tasks,
// likewise)
func (l *lateTask) disown(r *conn.Reader, m *jsonrpc.Message) {
	if m.Kind != jsonrpc.Result || r.Session == nil || m.Size() > lateTaskSize || m.Check() != nil {
		return
	}
	legacy := l.asked && makesTasks(r.Session)
	made, ok := readLateTask(r.Session, m.Middle(), legacy)
	if !ok || made.TaskID == "" || made.Status.Terminal() || l.tasks.require(mcp.MethodCancelTask, true, legacy) != nil {
		return
	}
	if l.found.CompareAndSwap(false, true) {
		c := l.tasks.c
		// ends with the answer, the session or its time
		c.core.InBackground(r.Link, func() { l.tasks.cancel(c.core.Base, made.TaskID, l.meta, l.origin) })
	}
}

// readLateTask decodes the task in a result.
func readLateTask(s *conn.Session, result []byte, legacy bool) (mcp.Task, bool) {
	if legacy {
		var r mcp.LegacyCreateTaskResult
		_, err := mcp.Decode(result, &r)
		return taskOf(&r.Task), err == nil
	}
	if kind, err := s.Era.ResultType(result); err != nil || kind != mcp.ResultTask {
		return mcp.Task{}, false
	}
	var r mcp.CreateTaskResult
	_, err := mcp.Decode(result, &r)
	return r.Task, err == nil
}

// GivenUp keeps the request of a call that should become a task until lateTaskTime has passed: such a request must
// not be cancelled, see disown. On a shared stream the request needs no keeping.
func (cl *call) GivenUp(s *conn.Session, reason string) (_ string, tell bool) {
	if !cl.tasks.asked || !s.OverHTTP {
		return reason, !cl.tasks.asked
	}
	core, id := &cl.c.core, cl.ID
	core.InBackground(s.Link, func() { // ends with the session or the time
		conn.PauseFor(s.Ctx, lateTaskTime)
		core.CloseStream(s, id)
	})
	return "", false
}

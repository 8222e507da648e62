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

// abandon asks the server once to cancel the task, because its caller no longer waits. err is the reason, or nil for a
// reason outside of the client. If err means that the task does not exist any more, abandon does nothing. abandon does
// not wait for the server's answer. (extension io.modelcontextprotocol/tasks, "Task Cancellation")
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

// cancel asks the server once to cancel the task with this id. origin is the call that created the task. cancel returns
// when the request has been sent.
func (t *tasking) cancel(ctx context.Context, id string, meta mcp.Meta, origin lead) {
	c := t.c
	cl := c.newCall(mcp.MethodCancelTask, &mcp.TaskParams{TaskID: id})
	cl.Timeout, cl.asked.meta = cancelTaskTimeout, meta
	cl.Corr, cl.Ref = origin.corr, origin.ref
	cl.Post(context.WithoutCancel(ctx)) // the request may still use cl after Post, so cl is not freed
}

const (
	// lateTaskSize is the maximum size of a late answer that is parsed, in bytes. It is small, because the goroutine that
	// reads the connection parses the answer.
	lateTaskSize = 64 << 10

	// lateTaskTime bounds the wait, over HTTP, for the late answer to an abandoned call that may have become a task. After
	// that time, the request no longer counts against the limit of requests in flight.
	lateTaskTime = 30 * time.Second
)

// lateTask holds the data of an abandoned call that may have become a task.
type lateTask struct {
	tasks  *tasking
	asked  bool // the client requested a task, as 2025-11-25 requires
	meta   mcp.Meta
	origin lead
	found  atomic.Bool // a task was found and is being cancelled
}

// Late returns the handler of a late answer to cl. It returns nil if the server cannot make a task of the call.
func (cl *call) Late() conn.LateAnswer {
	if !cl.mayBecomeTask() {
		return nil
	}
	l := &lateTask{tasks: &cl.c.tasks, asked: cl.asked.asTask != nil, meta: cl.asked.meta,
		origin: lead{corr: cl.Corr, ref: cl.Ref}}
	return l.disown
}

// disown cancels the task in a late answer, because the caller is gone and does not know the task. (specification
// 2025-11-25, basic/utilities/tasks, "Task Cancellation"; extension io.modelcontextprotocol/tasks, "Task Cancellation")
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
		// the goroutine ends with the answer, the session or the timeout
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

// GivenUp keeps the request of an abandoned call open over HTTP, for lateTaskTime, if the call requested a task. The
// client must not cancel such a request; it cancels only the task: see disown. On a shared stream, there is no
// request to keep open.
func (cl *call) GivenUp(s *conn.Session, reason string) (_ string, tell bool) {
	if !cl.tasks.asked || !s.OverHTTP {
		return reason, !cl.tasks.asked
	}
	core, id := &cl.c.core, cl.ID
	core.InBackground(s.Link, func() { // the goroutine ends with the session or after lateTaskTime
		conn.PauseFor(s.Ctx, lateTaskTime)
		core.CloseStream(s, id)
	})
	return "", false
}

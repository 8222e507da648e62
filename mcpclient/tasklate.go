package mcpclient

import (
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

const (
	// lateTaskSize bounds what is read of a late answer: it is read by the goroutine that reads the connection.
	lateTaskSize = 64 << 10

	// lateTaskTime is how long a server has to say over HTTP that a call has become a task whose caller has left. Behind
	// that, the request does not hold a place any more.
	lateTaskTime = 30 * time.Second
)

// lateTask is what is remembered of a call that has been given up and may have become a task.
type lateTask struct {
	tasks  *tasking
	asked  bool // by the client, as a task of 2025-11-25 has to be
	meta   mcp.Meta
	origin lead
	found  atomic.Bool // it has, and has been cancelled
}

// Late returns what hears of a late answer to cl, nil if the server cannot make the call a task.
func (cl *call) Late() conn.LateAnswer {
	if !cl.mayBecomeTask() {
		return nil
	}
	l := &lateTask{tasks: &cl.c.tasks, asked: cl.asked.asTask != nil, meta: cl.asked.meta,
		origin: lead{corr: cl.Corr, ref: cl.Ref}}
	return l.disown
}

// disown cancels the task that a late answer says its call has become: the caller has left and does not know of it.
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

// readLateTask reads the task out of a result.
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

// GivenUp keeps the request of a call that was to become a task until the server has had its time to say which: such a
// request must not be cancelled, see disown. On a stream there is nothing to keep.
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

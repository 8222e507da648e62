package mcpclient

import (
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

const (
	// lateTaskSize bounds what is read of a late answer: it is read by the goroutine that reads the connection.
	lateTaskSize = 64 << 10

	// lateTaskTime is how long a server has to say over HTTP that a call has become a task whose caller has left. Behind that, the
	// request does not hold a place any more.
	lateTaskTime = 30 * time.Second
)

// expected is what is remembered of a call that has been given up and may have become a task.
type expected struct {
	asked  bool // by the client, as a task of 2025-11-25 has to be
	meta   mcp.Meta
	origin lead
	found  bool // guarded by core.mu; it has, and has been cancelled
}

// late returns what to remember of cl, nil if the server cannot make it a task.
func (cl *call) late() *expected {
	if !cl.mayBecomeTask() {
		return nil
	}
	return &expected{asked: cl.asked.asTask != nil, meta: cl.asked.meta, origin: lead{corr: cl.corr, ref: cl.ref}}
}

// disown cancels the task that a late answer says its call has become: the caller has left and does not know of it.
// (specification 2025-11-25, basic/utilities/tasks, "Task Cancellation"; extension io.modelcontextprotocol/tasks, likewise)
func (c *Client) disown(r *reader, m *jsonrpc.Message, e *expected) {
	if e == nil || m.Kind != jsonrpc.Result || r.session == nil || m.Size() > lateTaskSize || m.Check() != nil {
		return
	}
	legacy := e.asked && r.session.makesTasks()
	t, ok := r.session.lateTask(m.Middle(), legacy)
	if !ok || t.TaskID == "" || t.Status.Terminal() || c.requireTasks(mcp.MethodCancelTask, true, legacy) != nil {
		return
	}
	c.mu.Lock()
	first := !e.found
	e.found = true
	c.mu.Unlock()
	if first {
		c.inBackground(r.link, func() { c.cancelTask(c.base, t.TaskID, e.meta, e.origin) }) // ends with the answer, the session or its time
	}
}

// lateTask reads the task out of a result.
func (s *session) lateTask(result []byte, legacy bool) (mcp.Task, bool) {
	if legacy {
		var r mcp.LegacyCreateTaskResult
		_, err := mcp.Decode(result, &r)
		return taskOf(&r.Task), err == nil
	}
	if kind, err := s.era.resultType(result); err != nil || kind != mcp.ResultTask {
		return mcp.Task{}, false
	}
	var r mcp.CreateTaskResult
	_, err := mcp.Decode(result, &r)
	return r.Task, err == nil
}

// givenUp keeps the request of a call that was to become a task until the server has had its time to say which: such a request must
// not be cancelled, see disown. On a stream there is nothing to keep.
func (cl *call) givenUp(s *session) (keep bool) {
	if !cl.tasks.asked || !s.overHTTP {
		return cl.tasks.asked
	}
	id := cl.id
	cl.c.inBackground(s.link, func() { // ends with the session or the time
		pauseFor(s.ctx, lateTaskTime)
		s.conn.Cancel(id, transport.Message{})
	})
	return true
}

package mcpserver

import (
	"context"
	"math"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// maxTaskNotices is how many notices of tasks wait for one client that takes none: it may ask for what it has missed.
const maxTaskNotices = 1024

// introduce lets the session hear of the task, now that the client knows it.
func (r *taskRun) introduce() {
	r.mu.Lock()
	r.legacy.answered = true
	r.mu.Unlock()
	r.tell()
}

// news sees to it that the session of a task of 2025-11-25 hears how it is.
// (specification 2025-11-25, basic/utilities/tasks, "Task Status Notification")
func (r *taskRun) news(t *store.Task) {
	if r.legacy == nil {
		return
	}
	r.mu.Lock()
	r.legacy.change = max(r.legacy.change, t.Change)
	r.mu.Unlock()
	r.tell()
}

// tell notes what the session does not know yet. It does not wait.
func (r *taskRun) tell() {
	r.mu.Lock()
	fresh := r.legacy.answered && r.legacy.told < r.legacy.change
	if fresh {
		r.legacy.told = r.legacy.change
	}
	r.mu.Unlock()
	if fresh {
		r.notify(mcp.NotificationLegacyTaskStatus)
	}
}

// notify sees to it that the session is sent a notification about the task: once, however often it is due until then.
func (r *taskRun) notify(method string) {
	if r.conn != nil && r.conn.exchange.terms.confirmed.Load() {
		r.conn.notices.offer(notice{method, r.id}, maxTaskNotices)
	}
}

// offer adds a notice unless so many are there.
func (n *notices) offer(one notice, most int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.pending.order) < most {
		n.pending.push(one, instrument.Ref{})
		n.begin()
	}
}

// tellTask sends how a task is.
func (c *connection) tellTask(id string) {
	ctx, cancel := context.WithTimeout(c.exchange.Work, storeTimeout)
	defer cancel()
	t, err := c.exchange.s.tasks.load(ctx, id)
	if err != nil {
		return // the client will hear of it when it asks
	}
	params, err := mcp.AppendParams(nil, &mcp.LegacyTaskStatusParams{LegacyTask: c.exchange.s.tasks.shownLegacy(t)})
	if err != nil {
		return
	}
	// best effort
	x := c.exchange
	_ = x.Peer.Notify(x.Work, x.Out, x.Version(), mcp.NotificationLegacyTaskStatus, nil, params)
}

// taskProgress is what a handler has said of its progress, and the client is to hear.
type taskProgress struct {
	last, total float64
	message     string
	due         bool
}

// report sees to it that a client of 2025-11-25 that has asked for it hears of the progress, of the latest in any case.
// (specification 2025-11-25, basic/utilities/tasks, "Task Progress Notifications")
func (r *taskRun) report(value, total float64, message string) {
	if r.legacy == nil || r.legacy.token.IsZero() {
		return
	}
	r.mu.Lock()
	p := &r.legacy.progress
	grown := value > p.last && !math.IsInf(value, 1)
	if grown {
		*p = taskProgress{value, total, message, true}
	}
	r.mu.Unlock()
	if grown {
		r.notify(mcp.NotificationProgress)
	}
}

// dueProgress returns what the client is to hear, false if that is nothing: it hears of none any more when the task is
// over.
func (r *taskRun) dueProgress() (p taskProgress, due bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p = r.legacy.progress
	r.legacy.progress.due = false
	return p, p.due && !r.still && !r.record.Status.Terminal()
}

// tellTaskProgress sends the progress of a task that runs here.
func (c *connection) tellTaskProgress(id string) {
	k := c.exchange.s.tasks
	k.mu.Lock()
	r := k.runs[id]
	k.mu.Unlock()
	if r == nil {
		return
	}
	p, due := r.dueProgress()
	if !due {
		return
	}
	frame, err := progressFrame(r.info.Version, r.legacy.meta, r.legacy.token, p.last, p.total, p.message)
	if err == nil {
		c.sendNotification(mcp.NotificationProgress, frame)
	}
}

// inLegacyTask reports whether the handler works on a task of 2025-11-25.
func (r *RequestInfo) inLegacyTask() bool { return r != nil && r.task != nil && r.task.legacy != nil }

// log sends a log message on behalf of the task to its session, if there still is one. It does not wait.
func (r *taskRun) log(level mcp.LoggingLevel, logger string, data any) error {
	frame, err := logFrame(r.legacy.meta, level, logger, data)
	if err == nil && r.conn != nil {
		for range r.conn.logs.add(frame) {
			r.peer.Tel.NotificationDropped(mcp.NotificationMessage, names.DropQueueFull)
		}
		r.conn.notices.add(notice{method: mcp.NotificationMessage}, instrument.Ref{})
	}
	return err
}

// sendNotification sends a notification that belongs to no request. A client that is gone need not know.
func (c *connection) sendNotification(method string, frame []byte) {
	_ = c.exchange.Peer.SendCounted(c.exchange.Work, c.exchange.Out, method, frame)
}

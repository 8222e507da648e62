package mcpserver

import (
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// maxTaskNotices bounds the task notices in the queue of one client. The client may request the state of a task at any
// time.
const maxTaskNotices = 1024

// NotifyTask implements [tasks.Session].
func (c *connection) NotifyTask(method, id string) {
	if c.exchange.Terms.Confirmed.Load() {
		c.notices.offer(notice{method, id}, maxTaskNotices)
	}
}

// offer queues a notice, unless most notices are queued already.
func (n *notices) offer(one notice, most int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.pending.order) < most {
		n.pending.push(one, instrument.Ref{})
		n.begin()
	}
}

// tellTask sends the state of a task to the client.
func (c *connection) tellTask(id string) {
	x := c.exchange
	params, err := x.s.tasks.keeper.LegacyStatus(x.Work, id)
	if err != nil {
		return // the client gets the error when it asks
	}
	// best effort
	_ = x.Peer.Notify(x.Work, x.Out, x.Version(), mcp.NotificationLegacyTaskStatus, nil, params)
}

// tellTaskProgress sends the progress of a task that runs in this process.
func (c *connection) tellTaskProgress(id string) {
	p, due := c.exchange.s.tasks.keeper.DueProgress(id)
	if !due {
		return
	}
	frame, err := progressFrame(p.Version, p.Meta, p.Token, p.Value, p.Total, p.Message)
	if err == nil {
		c.sendNotification(mcp.NotificationProgress, frame)
	}
}

// sendNotification sends a notification that belongs to no request. It ignores errors: the client has left.
func (c *connection) sendNotification(method string, frame []byte) {
	_ = c.exchange.Peer.SendCounted(c.exchange.Work, c.exchange.Out, method, frame)
}

// inLegacyTask reports whether the handler works on a task of 2025-11-25.
func (r *RequestInfo) inLegacyTask() bool { return r != nil && r.task != nil && r.task.Legacy != nil }

// logInTask queues a log message about a task of 2025-11-25 for the session, if there is one. It does not wait.
func (r *RequestInfo) logInTask(level mcp.LoggingLevel, logger string, data any) error {
	frame, err := logFrame(r.task.Meta(), level, logger, data)
	if c := r.call.x.conn; err == nil && c != nil {
		for range c.logs.add(frame) {
			r.call.x.Peer.Tel.NotificationDropped(mcp.NotificationMessage, names.DropQueueFull)
		}
		c.notices.add(notice{method: mcp.NotificationMessage}, instrument.Ref{})
	}
	return err
}

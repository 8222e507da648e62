package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Notification is a notification of a client.
type Notification struct {
	Method  string
	Params  json.RawMessage // nil without params
	Session *Session        // nil for a modern client, and for a legacy client without a session
}

// NotificationHandler handles a notification. [Server.HandleNotification] describes when the server calls it.
type NotificationHandler func(ctx context.Context, n *Notification)

// HandleNotification sets the handler for notifications with the given method, which is a method of the protocol or
// a custom one. After notifications/initialized, for example, a handler may ask the client (see [Session.AskAll]).
// HandleNotification returns an error if the method already has a handler, and for notifications/cancelled, because
// the server itself handles cancellations.
//
// In a session, the server calls h for one notification at a time, in the order of arrival and concurrently with
// requests. Up to 256 notifications of 1 MiB in total wait in a queue. When the queue is full, the server drops and
// counts the oldest notification. The queue holds at most one notifications/roots/list_changed. Over HTTP without a
// session, the server calls h before it answers with 202. ctx ends with the connection or the session. The server
// reports a panic of h and continues.
// (specification 2025-11-25, basic/index, "Notifications")
func (s *Server) HandleNotification(method string, h NotificationHandler) error {
	switch {
	case method == "":
		return fmt.Errorf("handle notification: no method")
	case h == nil:
		return fmt.Errorf("handle notification %s: no handler", method)
	case method == mcp.NotificationCancelled || !s.hears.add(method, h):
		return fmt.Errorf("handle notification %s: the notification already has a handler", method)
	}
	return nil
}

// HandleRootsChanged calls h when a legacy client reports that its roots changed. h can request the new roots by
// [Session.AskAll]. Modern clients do not report changes of roots. HandleRootsChanged calls
// [Server.HandleNotification] for notifications/roots/list_changed. (specification 2025-11-25, client/roots, "Root
// List Changes")
func (s *Server) HandleRootsChanged(h func(ctx context.Context, session *Session)) error {
	if h == nil {
		return fmt.Errorf("handle notification %s: no handler", mcp.NotificationRootsListChanged)
	}
	return s.HandleNotification(mcp.NotificationRootsListChanged,
		func(ctx context.Context, n *Notification) { h(ctx, n.Session) })
}

// hearers holds the handlers of notifications, by method. A lookup takes no lock.
type hearers struct {
	mu    sync.Mutex // held for changes of the table
	table atomic.Pointer[map[string]NotificationHandler]
}

func (t *hearers) lookup(method string) NotificationHandler {
	if table := t.table.Load(); table != nil {
		return (*table)[method]
	}
	return nil
}

// add adds a handler. It returns false if the method already has one.
func (t *hearers) add(method string, h NotificationHandler) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	table := map[string]NotificationHandler{}
	if old := t.table.Load(); old != nil {
		maps.Copy(table, *old)
	}
	if table[method] != nil {
		return false
	}
	table[method] = h
	t.table.Store(&table)
	return true
}

// hear passes a notification to its handler. It returns false if the method has no handler. In a session, hear only
// queues the notification.
func (x *exchange) hear(m *jsonrpc.Message) bool {
	h := x.s.hears.lookup(m.Method)
	if h == nil {
		return false
	}
	n := &heard{handle: h, in: x.Describe(m), size: m.Size()}
	n.Method, n.Params = m.Method, bytes.Clone(m.Middle())
	if x.conn == nil {
		x.listenTo(n)
		return true
	}
	n.Session = x.conn.public
	x.conn.heard.add(n)
	return true
}

// listenTo calls the handler of a notification.
func (x *exchange) listenTo(n *heard) {
	ctx, op := x.Peer.Tel.StartHandler(x.Work, n.in)
	defer op.End(rpc.BrokenOff)
	usercode.Run(func() {
		op.Labelled(ctx, func(ctx context.Context) { n.handle(ctx, &n.Notification) })
		op.End(instrument.Result{})
	}, x.Peer.Failed(ctx, n.Method))
}

// heard is a notification with its handler.
type heard struct {
	Notification
	handle NotificationHandler
	in     instrument.Incoming
	size   int
}

// Limits of the queue of notifications in one session.
const (
	maxHeard      = 256
	maxHeardBytes = 1 << 20 // size of the frames; one larger frame may wait alone
)

// hearing is the queue of a client's notifications, and the task that calls their handlers.
type hearing struct {
	x *exchange // exchange of the session

	mu      sync.Mutex
	waiting []*heard // guarded by mu
	bytes   int      // guarded by mu; total size of the waiting notifications
	roots   bool     // guarded by mu; a change of roots is waiting
	running bool     // guarded by mu; the task is running
}

// add queues a notification. It does not block.
func (q *hearing) add(n *heard) {
	q.mu.Lock()
	reason := ""
	var lost []*heard
	if n.Method == mcp.NotificationRootsListChanged && q.roots {
		reason, lost = names.DropCoalesced, []*heard{n}
	} else {
		reason = names.DropQueueFull
		for len(q.waiting) > 0 && (len(q.waiting) == maxHeard || q.bytes+n.size > maxHeardBytes) {
			lost = append(lost, q.pop())
		}
		q.waiting = append(q.waiting, n)
		q.bytes += n.size
		q.roots = q.roots || n.Method == mcp.NotificationRootsListChanged
		q.begin()
	}
	q.mu.Unlock()
	for _, n := range lost {
		q.x.Peer.Tel.Notification(telemetry.DirectionReceived, n.Method)
		q.x.Peer.Tel.MessageSize(telemetry.DirectionReceived, instrument.KindNotification, n.size)
		q.x.Peer.Tel.NotificationDropped(n.Method, reason)
	}
}

// pop removes and returns the oldest notification. mu is held.
func (q *hearing) pop() *heard {
	n := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	q.bytes -= n.size
	q.roots = q.roots && n.Method != mcp.NotificationRootsListChanged
	return n
}

// begin starts the task if notifications are waiting and the task is not running. mu is held.
func (q *hearing) begin() {
	if !q.running && len(q.waiting) > 0 {
		q.running = q.x.Group.Start(q)
	}
}

// Run calls handlers until the queue is empty.
func (q *hearing) Run() {
	usercode.Pass(func() {
		for n := q.next(); n != nil; n = q.next() {
			q.x.listenTo(n)
		}
	}, q.resume)
}

// next removes and returns the oldest notification. It returns nil if the queue is empty or the session has ended.
func (q *hearing) next() (n *heard) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 && q.x.Work.Err() == nil {
		n = q.pop()
	}
	q.running = n != nil
	return n
}

// resume starts the task again after a handler has ended the goroutine of Run.
func (q *hearing) resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = false
	q.begin()
}

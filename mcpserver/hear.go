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

// Notification is a notification that a client has sent.
type Notification struct {
	Method  string
	Params  json.RawMessage // nil for none
	Session *Session        // that it belongs to; nil for a modern client, and for one without a session
}

// NotificationHandler hears of a notification; [Server.HandleNotification] says when, and how long ctx lasts.
type NotificationHandler func(ctx context.Context, n *Notification)

// HandleNotification has h hear of the notifications of one method that clients send: of the protocol's, or of the
// user's own. notifications/initialized is one, behind which a client may be asked (see [Session.AskAll]). It is an
// error if the method has a handler already, or is notifications/cancelled, which ends the context of the request that
// it is about.
//
// In a session, h is called for one notification after the other, in the order in which they came, while requests are
// handled. Up to 256 and 1 MiB of them wait; then the oldest is dropped, and counted. Of
// notifications/roots/list_changed only one waits. Without a session, over HTTP, h is called before the client gets its
// 202. ctx ends with the connection or the session. A panic is reported and has no other consequences.
// (specification 2025-11-25, basic/index, "Notifications")
func (s *Server) HandleNotification(method string, h NotificationHandler) error {
	switch {
	case method == "":
		return fmt.Errorf("handle notification: no method")
	case h == nil:
		return fmt.Errorf("handle notification %s: no handler", method)
	case method == mcp.NotificationCancelled || !s.hears.add(method, h):
		return fmt.Errorf("handle notification %s: it has a handler", method)
	}
	return nil
}

// HandleRootsChanged has h hear that the roots of a legacy client have changed, whom it may ask for them anew by
// [Session.AskAll]; modern clients do not say so. It is [Server.HandleNotification] for
// notifications/roots/list_changed. (specification 2025-11-25, client/roots, "Root List Changes")
func (s *Server) HandleRootsChanged(h func(ctx context.Context, session *Session)) error {
	if h == nil {
		return fmt.Errorf("handle notification %s: no handler", mcp.NotificationRootsListChanged)
	}
	return s.HandleNotification(mcp.NotificationRootsListChanged,
		func(ctx context.Context, n *Notification) { h(ctx, n.Session) })
}

// hearers are the handlers of notifications by method. Reading takes no lock.
type hearers struct {
	mu    sync.Mutex // held to change the table
	table atomic.Pointer[map[string]NotificationHandler]
}

func (t *hearers) lookup(method string) NotificationHandler {
	if table := t.table.Load(); table != nil {
		return (*table)[method]
	}
	return nil
}

// add reports false if there is a handler.
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

// hear gives a notification to its handler, and reports false if there is none. size is that of its frame.
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

// heard is a notification on the way to its handler.
type heard struct {
	Notification
	handle NotificationHandler
	in     instrument.Incoming
	size   int
}

// What waits for handlers of notifications in one session.
const (
	maxHeard      = 256
	maxHeardBytes = 1 << 20 // in their frames, or one that is larger by itself
)

// hearing are the notifications of a client that wait for their handlers. A task of the group calls them.
type hearing struct {
	x *exchange // of the session

	mu      sync.Mutex
	waiting []*heard // guarded by mu
	bytes   int      // guarded by mu; of those
	roots   bool     // guarded by mu; one of those says that roots have changed
	running bool     // guarded by mu; the task is
}

// add puts a notification behind the others. It does not wait.
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
		q.x.Peer.Tel.Notification(telemetry.Received, n.Method)
		q.x.Peer.Tel.MessageSize(telemetry.Received, instrument.KindNotification, n.size)
		q.x.Peer.Tel.NotificationDropped(n.Method, reason)
	}
}

// pop takes the oldest. mu is held.
func (q *hearing) pop() *heard {
	n := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	q.bytes -= n.size
	q.roots = q.roots && n.Method != mcp.NotificationRootsListChanged
	return n
}

// begin starts the task if there is need for it. mu is held.
func (q *hearing) begin() {
	if !q.running && len(q.waiting) > 0 {
		q.running = q.x.Group.Start(q)
	}
}

// Run calls handlers until nothing waits.
func (q *hearing) Run() {
	usercode.Pass(func() {
		for n := q.next(); n != nil; n = q.next() {
			q.x.listenTo(n)
		}
	}, q.resume)
}

// next returns the next notification, nil if there is none or the session is over.
func (q *hearing) next() (n *heard) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 && q.x.Work.Err() == nil {
		n = q.pop()
	}
	q.running = n != nil
	return n
}

// resume goes on in another goroutine behind the notification whose handler has ended this one.
func (q *hearing) resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = false
	q.begin()
}

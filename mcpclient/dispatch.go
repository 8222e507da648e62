package mcpclient

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/serving"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Notification is a notification from the server.
type Notification struct {
	Method string
	Params json.RawMessage // a valid JSON object; nil for none

	client *Client
	params jsonrpc.Params
	peer   *instrument.Peer
	size   int           // size of its frame, in bytes
	uri    string        // URI of the updated resource; empty for none
	missed bool          // the client may have missed this notification while the connection was lost
	behind chan struct{} // set only on the marker that settle queues: closed when all earlier notifications were handled
}

// Decode decodes the params into v, a pointer. v shares no memory with the notification.
func (n *Notification) Decode(v any) error {
	if n.Params == nil {
		return nil
	}
	_, err := mcp.Decode(n.Params, v)
	return err
}

// Handler is a [Feature] that handles notifications of the server, such as [HandleToolListChanged] or
// [HandleNotification]. [Client.Handle] adds a Handler to an existing client.
type Handler struct {
	method  string // empty for all methods
	handle  NotificationHandler
	missing bool // also call handle when the client may have missed a notification
}

func (h Handler) feature() feature { return feature{hears: &h} }

// Handle calls the handler for later notifications until remove is called. Use [Options.Features] for handlers that
// must also get the notifications right after the handshake.
func (c *Client) Handle(h Handler) (remove func()) { return c.dispatcher.hear(&h) }

// hear adds a handler, and starts a subscription if the handler needs one.
func (d *dispatcher) hear(h *Handler) (remove func()) {
	remove = d.add(h)
	d.c.subscriptions.listenIfWanted(d.c.core.Present())
	return remove
}

// dispatcher passes notifications to their handlers one by one, in order, outside of the goroutine that reads.
type dispatcher struct {
	c *Client

	mu       sync.Mutex
	changed  broadcast.Signal // sent when the handlers or the subscribed resources change; guarded by mu
	*hearers                  // nil before the first handler, because most clients have none; guarded by mu
}

// hearers holds the handlers and the queue of their notifications.
type hearers struct {
	handlers []*Handler // in the order in which they were added
	queue    notifyQueue
	now      *delivery // owned by the goroutine that empties the queue; nil while no such goroutine runs
}

// delivery is the progress of one notification through its handlers.
type delivery struct {
	n      *Notification // nil for none
	ctx    context.Context
	op     instrument.Op // zero for a notification that was missed
	left   []*Handler    // handlers that have not been called yet
	result instrument.Result
}

// hears reports whether e handles n.
func (e *Handler) hears(n *Notification) bool {
	return (e.method == n.Method || e.method == "") && (e.missing || !n.missed)
}

func (d *dispatcher) add(entry *Handler) (remove func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hearers == nil {
		d.hearers = &hearers{queue: notifyQueue{limit: d.c.cfg.Limits.Notifications, bytes: d.c.cfg.Limits.NotificationBytes}}
	}
	d.set(append(slices.Clip(d.handlers), entry))
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.set(slices.DeleteFunc(slices.Clone(d.handlers), func(e *Handler) bool { return e == entry }))
	}
}

// set replaces the handlers. The caller holds mu.
func (d *dispatcher) set(handlers []*Handler) {
	d.handlers = handlers
	d.changed.Send()
}

// wishesChanged reports that the subscribed resources, which are a part of the [wish], have changed.
func (d *dispatcher) wishesChanged() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed.Send()
}

// change returns a channel that is closed when the [wish] may have changed: either the handlers or the subscribed
// resources.
func (d *dispatcher) change() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed.Next()
}

// wanted returns the list changes that have handlers and that a server with these capabilities reports.
func (d *dispatcher) wanted(by *mcp.ServerCapabilities) (f mcp.SubscriptionFilter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hearers == nil {
		return f
	}
	hears := func(method string) bool {
		return slices.ContainsFunc(d.handlers, func(e *Handler) bool { return e.method == method || e.method == "" })
	}
	f.ToolsListChanged = by.Tools != nil && by.Tools.ListChanged && hears(mcp.NotificationToolListChanged)
	f.PromptsListChanged = by.Prompts != nil && by.Prompts.ListChanged && hears(mcp.NotificationPromptListChanged)
	f.ResourcesListChanged = by.Resources != nil && by.Resources.ListChanged && hears(mcp.NotificationResourceListChanged)
	return f
}

// of returns the handlers for n.
func (d *dispatcher) of(n *Notification) (all []*Handler) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hearers == nil {
		return nil
	}
	for _, e := range d.handlers {
		if e.hears(n) {
			all = append(all, e)
		}
	}
	return all
}

// Notified applies the effects of a notification on the client at once, and then queues the notification for the
// handlers.
func (h hooks) Notified(r *conn.Reader, m *jsonrpc.Message) {
	c := h.c
	params, err := m.Params()
	if err != nil {
		c.core.Refused(m, err)
		return
	}
	n := &Notification{Method: m.Method, Params: m.Middle(), client: c, params: params, peer: r.Session.Peer,
		size: m.Size()}
	if params.URI != nil {
		n.uri, _ = jsonrpc.Text(params.URI)
	}
	if r.Session.Era.Subscribes() {
		if why := c.subscriptions.unwanted(n); why != "" {
			c.core.Telemetry.NotificationDropped(m.Method, why)
			return
		}
	}
	switch m.Method {
	case mcp.NotificationProgress:
		p := new(mcp.ProgressParams)
		if n.Decode(p) == nil {
			c.core.Progress(p)
		}
	case mcp.NotificationCancelled:
		var p mcp.CancelledParams
		if n.Decode(&p) == nil {
			why := &conn.CancelledByServer{Reason: conn.Excerpt(p.Reason, conn.MaxShown)}
			c.answering.serving.Cancel(serving.ID{Link: r.Link, ID: jsonrpc.ID(p.RequestID)}, why, why)
			c.core.Cancelled(r.Link, jsonrpc.ID(p.RequestID), why)
		}
	case mcp.NotificationSubscriptionsAcknowledged:
		c.subscriptions.acknowledged(n)
	case mcp.NotificationToolListChanged:
		c.tools.forget()
	case mcp.NotificationElicitationComplete:
		c.urls.completed(n)
	}
	c.cache.changed(n.Method, n.uri)
	if !c.dispatcher.push(n) {
		c.core.Telemetry.Notification(telemetry.DirectionReceived, m.Method)
	}
}

// push queues n. It returns false if no handler wants n.
func (d *dispatcher) push(n *Notification) bool {
	if len(d.of(n)) == 0 {
		return false
	}
	d.mu.Lock()
	done := d.queue.push(n)
	if d.now == nil {
		d.now = new(delivery)
		d.c.core.Spawn(func() { usercode.Persist(d.c.core.Spawn, d.run) }) // ends when the queue is empty
	}
	d.mu.Unlock()
	if done.coalesced {
		d.c.core.Telemetry.NotificationDropped(n.Method, names.DropCoalesced)
	}
	for _, lost := range done.dropped {
		d.c.core.Telemetry.NotificationDropped(lost.Method, names.DropQueueFull)
	}
	return true
}

// settle waits until all queued notifications have been handled, or until ctx or the client ends.
func (d *dispatcher) settle(ctx context.Context) {
	d.mu.Lock()
	if d.hearers == nil || d.now == nil {
		d.mu.Unlock()
		return
	}
	n := &Notification{missed: true, behind: make(chan struct{})}
	d.queue.append(n)
	d.mu.Unlock()
	select {
	case <-n.behind:
	case <-ctx.Done():
	case <-d.c.core.Base.Done():
	}
}

// run empties the queue. When the client is closed, run still handles notifications that arrived before, such as the
// last log messages of a last call, while Close waits for handlers. If a handler ends the goroutine, another goroutine
// continues with the next handler.
func (d *dispatcher) run() {
	d.deliver()
	var until time.Time // zero until the client is closed
	for {
		d.mu.Lock()
		n, ok := d.queue.pop()
		if until.IsZero() && d.c.core.Base.Err() != nil {
			until = time.Now().Add(d.c.cfg.Timeouts.Close / 4)
		}
		if !ok || !until.IsZero() && time.Now().After(until) {
			d.now = nil
			d.mu.Unlock()
			return
		}
		d.mu.Unlock()
		d.take(n)
		d.deliver()
	}
}

// take starts the delivery of n. One span covers the delivery, except for a missed notification, which has no span.
func (d *dispatcher) take(n *Notification) {
	var left []*Handler
	if n.behind == nil {
		left = d.of(n)
	}
	*d.now = delivery{n: n, ctx: d.c.core.Base, left: left}
	if n.missed {
		return
	}
	d.now.ctx, d.now.op = d.c.core.Telemetry.StartHandler(d.c.core.Base,
		serving.Incoming(n.Method, &n.params, n.peer, n.size, instrument.Incoming{
			Notification: true, URI: n.uri,
			// a handler for all methods does not count
			Known: slices.ContainsFunc(left, func(h *Handler) bool { return h.method == n.Method }),
		}))
}

// deliver calls the remaining handlers. A failure of one handler does not affect the next.
func (d *dispatcher) deliver() {
	v := d.now
	for len(v.left) > 0 {
		h := v.left[0]
		v.left = v.left[1:]
		usercode.Run(func() { d.label(v, func(ctx context.Context) { h.handle(ctx, v.n) }) }, func(f *usercode.Failure) {
			v.result = conn.BrokenOff
			d.c.core.Failed(v.ctx, v.n.Method)(f)
		})
	}
	op, result := v.op, v.result
	if v.n != nil && v.n.behind != nil {
		close(v.n.behind)
	}
	*v = delivery{}
	op.End(result)
}

// label calls f with the profile labels of a notification. A missed notification has no operation of its own.
func (d *dispatcher) label(v *delivery, f func(ctx context.Context)) {
	if v.n.missed {
		d.c.core.Telemetry.Labelled(v.ctx, v.n.Method, "", f)
		return
	}
	v.op.Labelled(v.ctx, f)
}

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

// Notification is one notification of the server.
type Notification struct {
	Method string
	Params json.RawMessage // valid JSON, an object; nil for none

	client *Client
	params jsonrpc.Params
	peer   *instrument.Peer
	size   int           // of its frame, in bytes
	uri    string        // of the resource that was updated
	missed bool          // the client has not received it: the server may have sent one while no connection was there
	behind chan struct{} // of what is no notification, and closed behind those before it; nil for one
}

// Decode decodes the params into v, a pointer. Nothing in v shares memory with the notification.
func (n *Notification) Decode(v any) error {
	if n.Params == nil {
		return nil
	}
	_, err := mcp.Decode(n.Params, v)
	return err
}

// OnNotification hears the notifications of one method from now on, or all if method is empty, and returns a function
// that ends this. See [NotificationHandler].
func (c *Client) OnNotification(method string, h NotificationHandler) (remove func()) {
	return c.dispatcher.hear(&hearing{method: method, handle: h})
}

// hear adds a handler, for which there may be something to subscribe to.
func (d *dispatcher) hear(h *hearing) (remove func()) {
	remove = d.add(h)
	d.c.subscriptions.listenIfWanted(d.c.core.Present())
	return remove
}

// dispatcher brings notifications to their handlers: one after the other, in order, off the read loop.
type dispatcher struct {
	c *Client

	mu       sync.Mutex
	changed  broadcast.Signal // guarded by mu; sent when the handlers, or other wishes, change
	*hearers                  // guarded by mu; nil before the first handler, which most clients never have
}

// hearers are handlers, and the notifications on their way to them.
type hearers struct {
	handlers []*hearing // in the order in which they were added
	queue    notifyQueue
	now      *delivery // owned by the goroutine that empties the queue, too; nil without it
}

// delivery is one notification on its way to its handlers.
type delivery struct {
	n      *Notification // nil for none
	ctx    context.Context
	op     instrument.Op // the zero one for a notification that was missed
	left   []*hearing    // that have not been called
	result instrument.Result
}

type hearing struct {
	method  string
	handle  NotificationHandler
	missing bool // it also wants to know of what it may have missed
}

// hears reports whether n is for e.
func (e *hearing) hears(n *Notification) bool {
	return (e.method == n.Method || e.method == "") && (e.missing || !n.missed)
}

func (d *dispatcher) add(entry *hearing) (remove func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hearers == nil {
		d.hearers = &hearers{queue: notifyQueue{limit: d.c.cfg.NotificationQueue, bytes: d.c.cfg.NotificationBytes}}
	}
	d.set(append(slices.Clip(d.handlers), entry))
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.set(slices.DeleteFunc(slices.Clone(d.handlers), func(e *hearing) bool { return e == entry }))
	}
}

// set changes the handlers. mu is held.
func (d *dispatcher) set(handlers []*hearing) {
	d.handlers = handlers
	d.changed.Send()
}

// wishesChanged is for those who have changed what is wanted besides the handlers.
func (d *dispatcher) wishesChanged() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed.Send()
}

// change returns a channel that is closed when the handlers, or other wishes, may have become others.
func (d *dispatcher) change() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed.Next()
}

// wanted returns the changes of lists that there are handlers for, of those the server tells of.
func (d *dispatcher) wanted(by *mcp.ServerCapabilities) (f mcp.SubscriptionFilter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hearers == nil {
		return f
	}
	hears := func(method string) bool {
		return slices.ContainsFunc(d.handlers, func(e *hearing) bool { return e.method == method || e.method == "" })
	}
	f.ToolsListChanged = by.Tools != nil && by.Tools.ListChanged && hears(mcp.NotificationToolListChanged)
	f.PromptsListChanged = by.Prompts != nil && by.Prompts.ListChanged && hears(mcp.NotificationPromptListChanged)
	f.ResourcesListChanged = by.Resources != nil && by.Resources.ListChanged && hears(mcp.NotificationResourceListChanged)
	return f
}

// of returns the handlers of n.
func (d *dispatcher) of(n *Notification) (all []*hearing) {
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

// Notified deals with a notification: what concerns the client itself at once, the rest is queued for the handlers.
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
			c.answering.serving.Cancel(serving.ID{Link: r.Link, ID: p.RequestID}, why, why)
			c.core.Cancelled(r.Link, p.RequestID, why)
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
		c.core.Telemetry.Notification(telemetry.Received, m.Method)
	}
}

// push queues n, or reports false if no handler wants to hear it.
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

// settle waits until the handlers have heard what waits for them now, or until ctx or the client ends.
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

// run empties the queue. What came before the client was stopped is still heard, as long as Stop waits for handlers:
// the last log messages of a call that was the last. If a handler has ended the goroutine, another goes on behind it.
func (d *dispatcher) run() {
	d.deliver()
	var until time.Time // zero as long as the client has not been stopped
	for {
		d.mu.Lock()
		n, ok := d.queue.pop()
		if until.IsZero() && d.c.core.Base.Err() != nil {
			until = time.Now().Add(d.c.cfg.CloseTimeout / 4)
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

// take makes n the notification to deliver, under one span if it was received.
func (d *dispatcher) take(n *Notification) {
	var left []*hearing
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
			Known: slices.ContainsFunc(left, func(h *hearing) bool { return h.method == n.Method }), // and not only for all
		}))
}

// deliver calls the handlers that are left, if there is a notification. What becomes of one changes nothing for the
// next.
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

// label calls f with the profile labels of a notification. One that was missed has no operation.
func (d *dispatcher) label(v *delivery, f func(ctx context.Context)) {
	if v.n.missed {
		d.c.core.Telemetry.Labelled(v.ctx, v.n.Method, "", f)
		return
	}
	v.op.Labelled(v.ctx, f)
}

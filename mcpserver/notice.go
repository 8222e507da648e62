package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// notice is a notification that only reports a change. A client does not need a second, equal notice while the first
// one waits in its queue.
type notice struct {
	method string
	uri    string // URI of the updated resource, or id of the task; empty for a list
}

// params returns the params of the notification.
func (n notice) params() (json.RawMessage, error) {
	if n.uri == "" {
		return nil, nil
	}
	return mcp.AppendParams(nil, &mcp.ResourceUpdatedParams{URI: n.uri})
}

// queuedNotice is a notice in a backlog.
type queuedNotice struct {
	notice
	parent instrument.Ref // span of the change; zero if the notification starts its own trace
}

// backlog holds notices in the order of their arrival, without duplicates, until they are sent.
type backlog struct {
	order []queuedNotice
	known map[notice]struct{}
}

// push adds a notice. If the backlog already has it, push returns false and keeps the first parent.
func (b *backlog) push(n notice, parent instrument.Ref) bool {
	if _, there := b.known[n]; there {
		return false
	}
	if b.known == nil {
		b.known = map[notice]struct{}{}
	}
	b.known[n] = struct{}{}
	b.order = append(b.order, queuedNotice{n, parent})
	return true
}

// pop removes and returns the first notice. It returns false if the backlog is empty.
func (b *backlog) pop() (n queuedNotice, ok bool) {
	if len(b.order) == 0 {
		return queuedNotice{}, false
	}
	n, b.order = b.order[0], b.order[1:]
	delete(b.known, n.notice)
	return n, true
}

func (b *backlog) drop(n notice) {
	if _, there := b.known[n]; there {
		delete(b.known, n)
		b.order = slices.DeleteFunc(b.order, func(other queuedNotice) bool { return other.notice == n })
	}
}

// notices is the queue of notices for one client. A task of the group sends the notices. While the client does not
// read, all changes of one list or resource share one notice.
type notices struct {
	group *rpc.Group
	send  func(n queuedNotice)

	coalesced func(n notice) // called if an equal notice is already queued; may be nil

	mu      sync.Mutex
	pending backlog // guarded by mu
	sending bool    // guarded by mu; the task is running
	held    bool    // guarded by mu; sending is suspended
}

// add queues a notice. parent is the parent of the notification's span. add does not wait.
func (n *notices) add(one notice, parent instrument.Ref) {
	n.mu.Lock()
	added := n.pending.push(one, parent)
	n.begin()
	n.mu.Unlock()
	if !added && n.coalesced != nil {
		n.coalesced(one)
	}
}

// drop removes a queued notice. It has no effect on a notice that is being sent.
func (n *notices) drop(one notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending.drop(one)
}

// hold suspends sending. It has no effect on a notice that is being sent.
func (n *notices) hold() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = true
}

// resume sends the queued notices after hold.
func (n *notices) resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = false
	n.begin()
}

// begin starts the task if there is a notice to send and the task is not running. mu is held.
func (n *notices) begin() {
	if !n.held && !n.sending && len(n.pending.order) > 0 {
		n.sending = n.group.Start(n)
	}
}

// Run sends the queued notices.
func (n *notices) Run() {
	usercode.Pass(func() {
		for one, ok := n.next(); ok; one, ok = n.next() {
			n.send(one)
		}
	}, n.dropped)
}

// dropped continues in another goroutine with the next notice, after user code has ended the goroutine of Run.
func (n *notices) dropped() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sending = false
	n.begin()
}

// next removes and returns the next notice. It returns false if the queue is empty or sending is suspended.
func (n *notices) next() (one queuedNotice, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.held {
		one, ok = n.pending.pop()
	}
	n.sending = ok
	return one, ok
}

// change is a notice for all clients. Its span is the parent of the spans of all its notifications, so that all of
// them are in one trace. The span starts with the first client that wants the notice. Only one goroutine uses a
// change.
type change struct {
	notice
	started bool
	span    instrument.Change
}

// announceAll calls announce with a change for each notice, and ends their spans.
func announceAll(some []notice, announce func([]change)) {
	all := make([]change, len(some))
	for i, n := range some {
		all[i].notice = n
	}
	announce(all)
	for i := range all {
		all[i].span.End()
	}
}

// parent returns the span of the change. The first call starts the span, with the telemetry of that call's client.
func (c *change) parent(tel *instrument.Server) instrument.Ref {
	if !c.started {
		c.started, c.span = true, tel.StartChange(c.method, c.uri)
	}
	return c.span.Ref()
}

// wants reports whether the client has a session in which the server has promised such notices.
func (c *connection) wants(n notice) bool {
	a := c.exchange.Terms.Agreed.Load()
	switch {
	case a == nil || !c.exchange.Terms.Confirmed.Load():
		return false
	case n.uri != "":
		return c.watched.has(n.uri)
	}
	return lists[n.method].declared(&a.Declared)
}

// announce queues the notices that this client wants. Only this client gets them.
func (c *connection) announce(some []notice) {
	for _, n := range some {
		if c.wants(n) {
			c.notices.add(n, instrument.Ref{})
		}
	}
}

// announceChanges queues the notices of the changes that this client wants. The changes go to all clients.
func (c *connection) announceChanges(some []change) {
	for i := range some {
		if n := &some[i]; c.wants(n.notice) {
			c.notices.add(n.notice, n.parent(c.exchange.Peer.Tel))
		}
	}
}

// tell sends a queued notice in a session.
func (c *connection) tell(n queuedNotice) {
	switch n.method {
	case mcp.NotificationMessage:
		c.tellLogs()
		return
	case mcp.NotificationLegacyTaskStatus:
		c.tellTask(n.uri)
		return
	case mcp.NotificationProgress:
		c.tellTaskProgress(n.uri)
		return
	}
	x := c.exchange
	_ = x.inform(x.Work, x.Out, x.Version(), n, nil) // an error means that the client has left
}

// silence removes the capabilities of change notifications from c: a client without a session cannot get such
// notifications.
func silence(c *mcp.ServerCapabilities) {
	if c.Tools != nil {
		c.Tools.ListChanged = false
	}
	if c.Prompts != nil {
		c.Prompts.ListChanged = false
	}
	if c.Resources != nil {
		c.Resources.ListChanged, c.Resources.Subscribe = false, false
	}
}

// lists describes the notifications of changed lists: the capability that declares each of them, and the filter field
// for the subscriptions of modern clients.
var lists = map[string]struct {
	declared func(*mcp.ServerCapabilities) bool
	wish     func(*mcp.SubscriptionFilter) *bool
}{
	mcp.NotificationToolListChanged: {
		func(c *mcp.ServerCapabilities) bool { return c.Tools != nil && c.Tools.ListChanged },
		func(f *mcp.SubscriptionFilter) *bool { return &f.ToolsListChanged },
	},
	mcp.NotificationPromptListChanged: {
		func(c *mcp.ServerCapabilities) bool { return c.Prompts != nil && c.Prompts.ListChanged },
		func(f *mcp.SubscriptionFilter) *bool { return &f.PromptsListChanged },
	},
	mcp.NotificationResourceListChanged: {
		func(c *mcp.ServerCapabilities) bool { return c.Resources != nil && c.Resources.ListChanged },
		func(f *mcp.SubscriptionFilter) *bool { return &f.ResourcesListChanged },
	},
}

// coalesced counts a notice as dropped because an equal notice is queued. It does not count log messages and notices
// of tasks: these only refer to stored data, so the client loses nothing.
func (c *exchange) coalesced(n notice) {
	if lists[n.method].declared != nil || n.method == mcp.NotificationResourceUpdated {
		c.Peer.Tel.NotificationDropped(n.method, names.DropCoalesced)
	}
}

// inform sends a notice, with meta as its _meta.
func (x *exchange) inform(ctx context.Context, out rpc.Sink, v mcp.Version, n queuedNotice, meta mcp.Meta) error {
	params, err := n.params()
	if err != nil {
		return err
	}
	return x.Peer.Send(ctx, out, v, instrument.Request{Method: n.method, URI: n.uri, Parent: n.parent}, meta, params)
}

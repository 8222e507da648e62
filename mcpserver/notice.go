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

// notice is a notification that only reports a change. While one waits for a client, the client does not need an equal
// one.
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

// backlog holds notices that wait to be sent, each once, in the order in which they arrived.
type backlog struct {
	order []queuedNotice
	known map[notice]struct{}
}

// push adds a notice. If the backlog has it already, push reports false and keeps the first parent.
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

// pop removes and returns the first notice, false if there is none.
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

// notices is the queue of notices for one client. While the client does not read, the queue has one notice for all
// changes of a list or a resource. A task of the group sends the notices.
type notices struct {
	group *rpc.Group
	send  func(n queuedNotice)

	coalesced func(n notice) // called if an equal notice is queued already; may be nil

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

// drop removes a notice that is not being sent yet.
func (n *notices) drop(one notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending.drop(one)
}

// hold suspends sending. A notice that is being sent is not affected.
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

// begin starts the task if it has something to send and is not running. mu is held.
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

// dropped continues with the next notice in another goroutine, because the user's code has ended this one.
func (n *notices) dropped() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sending = false
	n.begin()
}

// next removes and returns the next notice, false if there is none or sending is suspended.
func (n *notices) next() (one queuedNotice, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.held {
		one, ok = n.pending.pop()
	}
	n.sending = ok
	return one, ok
}

// change is a notice for all clients. Its span is the parent of the spans of all its notifications, so that they are
// one trace. The span starts with the first client that wants the notice. Only one goroutine uses a change.
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

// parent returns the span of the change. tel, the telemetry of a client, starts the span if it has not started.
func (c *change) parent(tel *instrument.Server) instrument.Ref {
	if !c.started {
		c.started, c.span = true, tel.StartChange(c.method, c.uri)
	}
	return c.span.Ref()
}

// wants reports whether the client has a session in which the server has promised this notice.
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

// announce queues the notices that the client wants. No other client gets them.
func (c *connection) announce(some []notice) {
	for _, n := range some {
		if c.wants(n) {
			c.notices.add(n, instrument.Ref{})
		}
	}
}

// announceChanges queues the notices of the changes that the client wants. Other clients get them too.
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
	_ = x.inform(x.Work, x.Out, x.Version(), n, nil) // ignore errors: the client has left
}

// silence removes from c the notifications that a client without a session cannot get.
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

// lists maps each notification of a changed list to the capability that declares it, and to the filter field by which a
// modern client subscribes to it.
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

// coalesced counts a notice as dropped because an equal one is queued. It skips log messages and task notices: these
// only point to stored data, so nothing is lost.
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

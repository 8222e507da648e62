package mcpserver

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// notices are the notifications about changed lists that one client has yet to be sent: each at most once, so that a
// client which takes nothing gets one for all that change meanwhile. A task of the group sends them.
type notices struct {
	group *group
	send  func(method string)

	mu      sync.Mutex
	pending []string // guarded by mu; methods
	sending bool     // guarded by mu; the task runs
	held    bool     // guarded by mu; nothing is sent for now
}

// add sees to it that a notification is sent. It does not wait.
func (n *notices) add(method string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.pending, method) {
		n.pending = append(n.pending, method)
	}
	n.begin()
}

// hold keeps back what is not being sent yet.
func (n *notices) hold() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = true
}

// resume sends what was held back.
func (n *notices) resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = false
	n.begin()
}

// begin starts the task if there is need for it. mu is held.
func (n *notices) begin() {
	if !n.held && !n.sending && len(n.pending) > 0 {
		n.sending = n.group.start(n)
	}
}

// run sends what is pending.
func (n *notices) run() {
	for method, ok := n.next(); ok; method, ok = n.next() {
		n.send(method)
	}
}

// next returns the next notice, false if there is none.
func (n *notices) next() (method string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held || len(n.pending) == 0 {
		n.sending = false
		return "", false
	}
	method = n.pending[0]
	n.pending = n.pending[1:]
	return method, true
}

// announce sends a notification about a changed list, if the client has a session in which that was declared.
func (c *connection) announce(method string) {
	a := c.session.agreed.Load()
	if a != nil && c.session.confirmed.Load() && lists[method].declared(&a.declared) {
		c.notices.add(method)
	}
}

// tell sends a notification about a changed list in a session.
func (c *connection) tell(method string) {
	if method == mcp.NotificationMessage {
		c.tellLogs()
		return
	}
	_ = c.notify(c.out, c.session.agreed.Load().version, method, nil, nil) // a client that is gone need not know
}

// lists says of each notification about a changed list which capability declares it, and by what a modern client
// subscribes to it.
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

// notify sends a notification on the server's own account. meta goes into its _meta.
func (x *exchange) notify(out sink, v mcp.Version, method string, meta mcp.Meta, params json.RawMessage) error {
	ctx, op := x.tel.StartRequest(x.work, telemetry.Request{Method: method, Notification: true})
	op.Admit(x.peer(v), 0)
	var result telemetry.Result
	m := jsonrpc.Meta{User: meta}
	m.Traceparent, m.Tracestate, m.Baggage = op.TraceContext()
	frame, err := jsonrpc.AppendNotification(nil, method, m, params)
	if err == nil {
		err = out.notify(ctx, frame)
	}
	if err != nil {
		result = telemetry.Result{ErrorType: telemetry.ErrorConnectionLost, Err: err}
	} else {
		op.Sent(len(frame))
	}
	op.End(result)
	return err
}

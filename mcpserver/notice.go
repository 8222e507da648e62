package mcpserver

import (
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// notices are the notifications about changed lists that a connection has yet to send: each at most once.
type notices struct {
	mu      sync.Mutex
	pending []string // guarded by mu; methods
	sending bool     // guarded by mu; a goroutine is sending them
}

// announce sends a notification about a changed list, if the client has a session in which that was declared. It does not
// wait; a client that takes nothing gets one notification for all that change meanwhile.
func (c *connection) announce(method string) {
	a := c.session.agreed.Load()
	if a == nil || !c.session.confirmed.Load() || !a.announces(method) {
		return
	}
	if c.notices.add(method) {
		c.group.start(sendNotices{c, a.version})
	}
}

// sendNotices is the task of sending what is pending.
type sendNotices struct {
	c       *connection
	version mcp.Version
}

func (t sendNotices) run() {
	for method, ok := t.c.notices.next(); ok; method, ok = t.c.notices.next() {
		t.c.notify(t.version, method)
	}
}

// announces reports whether the client was told to expect a notification.
func (a *agreement) announces(method string) bool {
	switch method {
	case mcp.NotificationToolListChanged:
		return a.declared.Tools != nil && a.declared.Tools.ListChanged
	}
	return false
}

// add reports whether the caller has to see to it that the notices are sent.
func (n *notices) add(method string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.Contains(n.pending, method) {
		return false
	}
	n.pending = append(n.pending, method)
	begin := !n.sending
	n.sending = true
	return begin
}

// next returns the next notice, false if there is none.
func (n *notices) next() (method string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.pending) == 0 {
		n.sending = false
		return "", false
	}
	method = n.pending[0]
	n.pending = n.pending[1:]
	return method, true
}

// notify sends a notification without params.
func (c *connection) notify(v mcp.Version, method string) {
	ctx, op := c.tel.StartRequest(c.work, telemetry.Request{Method: method, Notification: true})
	op.Admit(c.peer(v), 0)
	var result telemetry.Result
	var meta jsonrpc.Meta
	meta.Traceparent, meta.Tracestate, meta.Baggage = op.TraceContext()
	frame, err := jsonrpc.AppendNotification(nil, method, meta, nil)
	if err == nil {
		err = c.out.notify(ctx, frame)
	}
	if err != nil {
		result = telemetry.Result{ErrorType: telemetry.ErrorConnectionLost, Err: err}
	} else {
		op.Sent(len(frame))
	}
	op.End(result)
}

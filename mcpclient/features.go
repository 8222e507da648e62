package mcpclient

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/mcp"
)

// hooks are what a client does when its core tells it of the connection.
type hooks struct{ c *Client }

// agreed returns the present session, for what has to know the version before it makes a call of method. If there is
// none, and the options say WaitForReady, it waits for one. It returns the options with the time that the operation
// has, waiting included.
func (c *Client) agreed(ctx context.Context, method string, options []CallOption) (*session, []CallOption, error) {
	a := askedBy(options)
	by := c.cfg.endOf(a, time.Now())
	if !by.IsZero() {
		options = append(options[:len(options):len(options)], until(by))
	}
	for {
		s, err := c.core.admitted(method)
		switch {
		case err == nil:
			return s, options, nil
		case err.Kind != kindState || !a.wait:
			return nil, nil, errorOf(err)
		}
		if err := c.core.awaitReady(ctx, method, by); err != nil {
			return nil, nil, errorOf(err)
		}
	}
}

// serve answers a request of the server.
func (h hooks) serve(r *reader, m *jsonrpc.Message, answer answerer) {
	h.c.answering.serve(r, m, answer)
}

// negotiated forgets what is known of the tools: it may be another version of the server.
func (h hooks) negotiated() { h.c.tools.forget() }

// began lets the features go on in a new session. Each does so in a goroutine of its own, which ends soon after the
// session at the latest; only Stop waits for them.
func (h hooks) began(s *session) {
	h.c.subscriptions.listenIfWanted(s)
	h.c.core.during(s, func() { h.c.logLevel.restore(h.c, s) })
	h.c.core.during(s, func() { h.c.subscriptions.restore(s) })
}

// ended takes the client off the list of those that run.
func (h hooks) ended() { running.Clients.Remove(h.c.number) }

// authorized hears that the requests have another authorization from now on: what only the one before was to see is
// forgotten.
func (h hooks) authorized() {
	h.c.cache.dropPrivate()
	h.c.tools.forgetPrivate()
}

// askForLife sends the server a ping, or what modern servers have instead. What comes of it is heard where messages are
// read.
func (h hooks) askForLife(s *session) bool {
	c := h.c
	return c.core.during(s, func() { // ends with the answer or the session
		method := mcp.MethodPing
		if !s.has(method) {
			method = mcp.MethodDiscover
		}
		cl := c.newCall(method, nil)
		cl.own, cl.timeout = true, 2*c.cfg.KeepAlive // the session ends sooner
		_ = cl.do(s.ctx)
		c.free(cl)
	})
}

// restoring marks a call that restores what was asked for in the sessions before: that a server answers it proves no
// more than the handshake did.
func restoring(a *asked) { a.own = true }

package mcpclient

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/methods"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/mcp"
)

// hooks implements the client's reactions to events of its core.
type hooks struct{ c *Client }

// agreed returns the present session, for operations that must know the version before a call of method. If there is no
// session, agreed waits for one, provided that the options include WaitForReady. The returned options have a deadline
// that includes this wait.
func (c *Client) agreed(ctx context.Context, method string, options []CallOption) (*conn.Session, []CallOption, error) {
	a := c.cfg.asked(options)
	by := c.cfg.endOf(a, time.Now())
	if !by.IsZero() {
		options = append(options[:len(options):len(options)], until(by))
	}
	for {
		s, err := c.core.Admitted(method)
		switch {
		case err == nil:
			return s, options, nil
		case err.Kind != conn.KindState || !a.Wait:
			return nil, nil, errorOf(err)
		}
		if err := c.core.AwaitReady(ctx, method, by); err != nil {
			return nil, nil, errorOf(err)
		}
	}
}

// Serve answers a request of the server.
func (h hooks) Serve(r *conn.Reader, m *jsonrpc.Message, answer conn.Answerer) {
	h.c.answering.serve(r, m, answer)
}

// Negotiated forgets the tools, because the restarted server may be another version.
func (h hooks) Negotiated() { h.c.tools.forget() }

// Began restores the client's features in a new session, each in its own goroutine. These goroutines end soon after the
// session at the latest. Only Close waits for them.
func (h hooks) Began(s *conn.Session) {
	h.c.subscriptions.listenIfWanted(s)
	h.c.core.During(s, func() { h.c.logLevel.restore(h.c, s) })
	h.c.core.During(s, func() { h.c.subscriptions.restore(s) })
}

// Ended removes the client from the list of running clients.
func (h hooks) Ended() { running.Clients.Remove(h.c.number) }

// Missed handles a gap in the connection. In modern sessions, the subscriptions detect gaps instead.
func (h hooks) Missed(cause string) {
	s := h.c.core.Present()
	if s == conn.NoSession || s.Era.Subscribes() {
		return
	}
	h.c.subscriptions.mu.Lock()
	w := h.c.subscriptions.wishes(s)
	h.c.subscriptions.mu.Unlock()
	h.c.missed(cause, w.filter)
}

// Authorized is called when the client has new credentials. It drops the results and tools that are valid only for the
// previous user.
func (h hooks) Authorized() {
	h.c.cache.dropPrivate()
	h.c.tools.forgetPrivate()
}

// AskForLife sends a ping, or a discovery request in revisions without ping. The reading goroutine sees the answer.
func (h hooks) AskForLife(s *conn.Session) bool {
	c := h.c
	return c.core.During(s, func() { // the goroutine ends with the answer or the session
		method := mcp.MethodPing
		if !s.Has(method) {
			method = mcp.MethodDiscover
		}
		cl := c.newCall(method, nil)
		cl.Own, cl.Timeout = true, 2*c.cfg.KeepAlive // the session ends sooner than this timeout
		_ = cl.Do(s.Ctx)
		c.free(cl)
	})
}

// restoring marks a call that restores the state of earlier sessions. The answer to such a call does not prove that the
// server works; neither does the handshake.
func restoring(a *asked) {
	*a = asked{}
	a.Own = true
}

// missed handles a gap: changes that the client may have missed. The client calls missed after every event that can
// lose a change: a new session, a reopened stream, or a subscription that was renewed, was late or replaced another
// one. cause is a Gap constant of package names. The server reports the changes in f from now on; missed calls their
// handlers. It also clears the cache and the known tools, and counts and logs the gap.
func (c *Client) missed(cause string, f mcp.SubscriptionFilter) {
	c.cache.clear()
	c.tools.forget()
	c.core.Telemetry.ChangeGap(cause)
	for method, uri := range methods.ChangesOf(&f) {
		n := &Notification{Method: method, client: c, missed: true}
		if uri != "" {
			n.Params = methods.UpdateOf(uri)
		}
		c.dispatcher.push(n)
	}
}

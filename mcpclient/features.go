package mcpclient

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

// What the core tells a client of its connection, see features in core.go.

// agreed returns the present session, for what has to know the version before it makes a call of method. If there is none, and
// the options say WaitForReady, it waits for one. It returns the options with the time that the operation has, waiting included.
func (c *Client) agreed(ctx context.Context, method string, options []CallOption) (*session, []CallOption, error) {
	a := askedBy(options)
	by := c.cfg.endOf(a, time.Now())
	if !by.IsZero() {
		options = append(options[:len(options):len(options)], until(by))
	}
	for {
		s, err := c.admitted(method)
		switch {
		case err == nil:
			return s, options, nil
		case err.Kind != kindState || !a.wait:
			return nil, nil, errorOf(err)
		}
		if err := c.awaitReady(ctx, method, by); err != nil {
			return nil, nil, errorOf(err)
		}
	}
}

// serve answers a request of the server.
func (c *Client) serve(r *reader, m *jsonrpc.Message, answer answerer) {
	c.answering.serve(r, m, answer)
}

// negotiated forgets what is known of the tools: it may be another version of the server.
func (c *Client) negotiated() { c.tools.forget() }

// began lets the features go on in a new session. Each does so in a goroutine of its own, which ends soon after the session at
// the latest; only Stop waits for them.
func (c *Client) began(s *session) {
	c.subscriptions.listenIfWanted(s)
	c.during(s, func() { c.logLevel.restore(c, s) })
	c.during(s, func() { c.subscriptions.restore(s) })
}

// authorized hears that the requests have another authorization from now on: what only the one before was to see is forgotten.
func (c *Client) authorized() {
	c.cache.dropPrivate()
	c.tools.forgetPrivate()
}

// restoring marks a call that restores what was asked for in the sessions before: that a server answers it proves no more than
// the handshake did.
func restoring(a *asked) { a.own = true }

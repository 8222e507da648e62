package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/introduction"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
)

// The methods of web.Conn, for the connection of a session over HTTP.

func (c *connection) Serving(r *http.Request) *rpc.Exchange {
	x := *c.exchange
	return x.Carry(r, &x)
}

func (c *connection) HoldNotices() { c.notices.hold() }

func (c *connection) ResumeNotices() { c.notices.resume() }

func (c *connection) State() (st web.State) {
	if a := c.exchange.Terms.Agreed.Load(); a != nil {
		st.Version, st.Client, st.Capabilities, st.Declared = a.Version, a.Client, a.Capabilities, a.Declared
	}
	st.Confirmed = c.exchange.Terms.Confirmed.Load()
	if level := c.exchange.Terms.Level.Load(); level != nil {
		st.Level = *level
	}
	st.Watched = c.watched.snapshot()
	return st
}

func (c *connection) SetState(st *web.State) {
	c.exchange.Terms.Confirmed.Store(st.Confirmed)
	if st.Level.Defined() {
		c.exchange.Terms.Level.Store(new(st.Level)) // a copy, because st changes later
	}
	c.watched.replace(st.Watched)
}

func (c *connection) Restore(ctx context.Context, st *web.State) error {
	a := &engine.Agreement{
		Version: st.Version, Client: st.Client, Capabilities: st.Capabilities, Declared: st.Declared,
	}
	for _, said := range []any{st.Client, st.Capabilities} {
		text, _ := json.Marshal(said) // cannot fail: said was decoded from JSON
		a.Weight += introduction.Weight(text, introduction.Values(text))
	}
	err := error(rpc.ErrInternal) // remains if a handler panics in Init
	c.exchange.Peer.Guard(ctx, mcp.MethodInitialize, func() { err = c.welcome(ctx, a) })
	if err != nil {
		return err
	}
	c.SetState(st)
	c.Rewatch(ctx, nil)
	return nil
}

func (c *connection) Watched() []string { return c.watched.snapshot() }

func (c *connection) Rewatch(ctx context.Context, before []string) {
	x := c.exchange
	ctx = withSession(ctx, c.public)
	after := c.watched.snapshot()
	for _, uri := range after {
		if h := x.s.resources.subscriber.Load(); h != nil && !slices.Contains(before, uri) {
			// ignore the error: the client already knows that it watches the resource
			x.Peer.Guard(ctx, mcp.MethodSubscribe, func() { _ = (*h).SubscribeResource(ctx, uri) })
		}
	}
	for _, uri := range before {
		if !slices.Contains(after, uri) {
			c.notices.drop(notice{mcp.NotificationResourceUpdated, uri})
			// ignore the error: there is no request to answer
			x.Peer.Guard(ctx, mcp.MethodUnsubscribe, func() { _ = x.s.resources.unwatch(ctx, uri) })
		}
	}
}

func (c *connection) Announce(some []web.Notice) { c.announce(noticesOf(some)) }

func (c *connection) AnnounceAll() {
	var some []notice
	for method := range lists {
		some = append(some, notice{method: method})
	}
	for _, uri := range c.watched.snapshot() {
		some = append(some, notice{mcp.NotificationResourceUpdated, uri})
	}
	c.announce(some)
}

func (c *connection) Log(level mcp.LoggingLevel, frame []byte) { c.log(level, frame) }

func (c *connection) Complete(elicitation string) { c.complete(elicitation) }

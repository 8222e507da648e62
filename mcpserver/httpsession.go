package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/mcpotel/mcpotel/internal/server/introduction"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
)

// The methods of web.Conn, for the connection of a session over HTTP.

func (c *connection) Principal() string { return c.exchange.client.principal }

func (c *connection) Account() quota.Account { return c.exchange.client.who }

func (c *connection) Exchange() *rpc.Exchange { return &c.exchange.Exchange }

func (c *connection) Serving(r *http.Request) *rpc.Exchange {
	x := *c.exchange
	x.Server = &x
	x.Work = within.Values(c.exchange.Work, r.Context())
	x.httpRequest = r
	return &x.Exchange
}

func (c *connection) Watch() { c.watchOver() }

func (c *connection) Heard() { c.alive.Heard() }

func (c *connection) Busy() bool { return c.table.Busy(c.exchange.Asks.Paused()) }

func (c *connection) HoldNotices() { c.notices.hold() }

func (c *connection) ResumeNotices() { c.notices.resume() }

func (c *connection) Because(reason error) { c.public.because(reason) }

func (c *connection) Why() error { return c.public.why() }

func (c *connection) Leave(reason error) { c.exchange.role.leave(reason) }

func (c *connection) Close() (left int) { return c.close(false) }

func (c *connection) Share(others web.Others, passing bool) {
	s := c.exchange.s
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	c.passing.Store(passing)
	c.others = others
}

func (c *connection) SetPassing(passing bool) { c.passing.Store(passing) }

func (c *connection) SetAway(away bool) { c.away.Store(away) }

func (c *connection) State() (st web.State) {
	if a := c.exchange.terms.agreed.Load(); a != nil {
		st.Version, st.Client, st.Capabilities, st.Declared = a.version, a.client, a.capabilities, a.declared
	}
	st.Confirmed = c.exchange.terms.confirmed.Load()
	if level := c.exchange.terms.level.Load(); level != nil {
		st.Level = *level
	}
	st.Watched = c.watched.snapshot()
	return st
}

func (c *connection) SetState(st *web.State) {
	c.exchange.terms.confirmed.Store(st.Confirmed)
	if st.Level.Defined() {
		c.exchange.terms.level.Store(new(st.Level)) // a copy, because st changes later
	}
	c.watched.replace(st.Watched)
}

func (c *connection) Restore(ctx context.Context, st *web.State) error {
	a := &agreement{version: st.Version, client: st.Client, capabilities: st.Capabilities, declared: st.Declared}
	for _, said := range []any{st.Client, st.Capabilities} {
		text, _ := json.Marshal(said) // cannot fail: said was decoded from JSON
		a.weight += introduction.Weight(text, introduction.Values(text))
	}
	err := error(rpc.ErrInternal) // the error if a host panics
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
			// the client was already told that it watches the resource, so an error has no effect
			x.Peer.Guard(ctx, mcp.MethodSubscribe, func() { _ = (*h).SubscribeResource(ctx, uri) })
		}
	}
	for _, uri := range before {
		if !slices.Contains(after, uri) {
			c.notices.drop(notice{mcp.NotificationResourceUpdated, uri})
			// no client could get the error
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

// amend changes the stored state of a session in all processes. See [web.Others].
func (x *exchange) amend(ctx context.Context, change func()) error {
	if x.conn == nil || x.conn.others == nil {
		change()
		return nil
	}
	return x.conn.others.Amend(ctx, change)
}

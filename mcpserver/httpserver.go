package mcpserver

import (
	"context"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
)

// httpServer is an HTTPHandler as a web.Server.
type httpServer HTTPHandler

func (h *httpServer) Observer(n instrument.Network) rpc.Observer { return h.s.observer(n) }

func (h *httpServer) Unsupported(v mcp.Version) *mcp.Error { return rpc.WireError(h.s.unsupported(v)) }

// statelessRequest holds the data of a stateless request for package web and for this package in one allocation.
type statelessRequest struct {
	web.Stateless
	exchange exchange
	sender   peer
}

// with connects x to its call, and returns the part for package web.
func (x *statelessRequest) with(c *rpc.Call) *web.Stateless {
	x.exchange.Server, x.exchange.client = &x.exchange, &x.sender
	x.Exchange, x.Call = &x.exchange.Exchange, c
	return &x.Stateless
}

// answeredStateless is a stateless request of the role answering, with its call.
type answeredStateless struct {
	request statelessRequest
	call    call
}

func (answering) newStateless() *web.Stateless {
	x := new(answeredStateless)
	return x.request.with(x.call.of(&x.request.exchange))
}

// Wait implements [web.StatelessHandler].
func (c *call) Wait(done <-chan struct{}) { <-done }

func (h *httpServer) NewStateless() *web.Stateless { return h.role.newStateless() }

func (h *httpServer) Prepare(x *rpc.Exchange, r *http.Request, c web.Client, t web.Terms) {
	e := x.Server.(*exchange)
	h.recognize(e.client, c)
	e.Peer = &e.client.Peer
	e.s, e.role, e.audience, e.httpRequest = h.s, h.role, h.audience, r
	switch {
	case t.Modern:
		e.headers, e.terms = web.Headers(r.Header), &h.none
	case t.Version != "":
		e.terms = h.assumed[t.Version]
	default:
		e.terms = new(terms)
	}
}

// recognize sets the fields of p for the client c.
func (h *httpServer) recognize(p *peer, c web.Client) {
	p.Observer, p.principal, p.who, p.watching = c.Observer, c.Principal, c.Account, h.watching
	p.Untrusted = h.cfg.distrusts(c.Principal)
	if c.Account != (quota.Account{}) {
		p.rates = h.rates.Of(c.Account, &h.s.cfg.rates, time.Now())
	}
}

func (h *httpServer) Open(life context.Context, o *web.Opening) (web.Conn, func(reason error)) {
	p := new(peer)
	h.recognize(p, o.Client)
	if p.rates == nil {
		p.rates = new(rates.Book)
	}
	c, stop := h.s.open(life, p, o.Out, 0, nil)
	c.table.Confine(o.Requests)
	c.introduced, c.quit = o.Introduce, o.Quit
	c.public.id, c.public.principal = o.ID, p.principal
	if !o.Since.IsZero() {
		c.since = o.Since
	}
	return c, stop
}

func (h *httpServer) IsNotice(n web.Notice) bool {
	_, list := lists[n.Method]
	return list || n.Method == mcp.NotificationResourceUpdated && n.URI != ""
}

func (h *httpServer) Announce(some []web.Notice, to []web.Conn) {
	announceAll(noticesOf(some), func(all []change) {
		for _, c := range to {
			c.(*connection).announceChanges(all)
		}
		h.audience.announce(all)
	})
}

func noticesOf(some []web.Notice) []notice {
	all := make([]notice, len(some))
	for i, n := range some {
		all[i] = notice{n.Method, n.URI}
	}
	return all
}

func (h *httpServer) AnnounceAll() {
	for sub := range h.audience.all() {
		for method := range lists {
			if n := (notice{method: method}); sub.wants(n) {
				sub.notices.add(n, instrument.Ref{})
			}
		}
		for _, uri := range sub.watched.snapshot() {
			sub.notices.add(notice{mcp.NotificationResourceUpdated, uri}, instrument.Ref{})
		}
	}
}

func (h *httpServer) EndStreams() {
	h.s.mu.Lock()
	delete(h.s.audiences, h.audience)
	delete(h.s.fleets, (*HTTPHandler)(h))
	h.s.mu.Unlock()
	h.audience.close()
	h.role.endStreams()
}

func (h *httpServer) Farewell() time.Duration { return h.s.farewell() }

func (h *httpServer) Close(ctx context.Context) {
	h.role.close(ctx)
	h.gone()
}

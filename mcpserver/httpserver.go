package mcpserver

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
)

// httpServer connects an HTTP handler with the features of a server.
type httpServer struct {
	*engine.HTTP
	s        *Server
	audience *audience // subscriptions of stateless clients
}

// Handle implements [engine.Role].
func (a answering) Handle(h *engine.HTTP) (engine.Handler, error) {
	own := &httpServer{HTTP: h, s: a.s, audience: newAudience(h.MaxSubscriptions)}
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if h.Sessions != nil {
		a.s.fleets[own] = struct{}{}
	} else {
		a.s.audiences[own.audience] = struct{}{}
	}
	return own, nil
}

// statelessRequest holds a stateless request with its exchange and its call in one allocation.
type statelessRequest struct {
	request  engine.Stateless
	exchange exchange
	call     call
}

func (h *httpServer) NewStateless() *web.Stateless {
	x := new(statelessRequest)
	x.exchange.s, x.exchange.audience = h.s, h.audience
	return x.request.With(&x.exchange.Exchange, &x.exchange, x.call.of(&x.exchange))
}

// Wait implements [web.StatelessHandler].
func (c *call) Wait(done <-chan struct{}) { <-done }

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
	delete(h.s.fleets, h)
	h.s.mu.Unlock()
	h.audience.close()
}

func (h *httpServer) Farewell() time.Duration { return h.s.farewell() }

func (h *httpServer) Close(context.Context) {}

func (h *httpServer) Subscriptions() (open, limit int) {
	h.audience.mu.Lock()
	defer h.audience.mu.Unlock()
	return h.audience.places.Used, h.audience.places.Limit
}

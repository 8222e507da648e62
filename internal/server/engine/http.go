package engine

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

// HTTPOptions configure an HTTP handler. mcpserver.HTTPOptions documents the fields of the same names.
type HTTPOptions struct {
	web.Options
	MaxSubscriptions  int
	MaxWatchedBytes   int
	TrustTraceContext bool
}

// HTTP serves a [Server] over HTTP.
type HTTP struct {
	HTTPOptions
	Server *Server
	Web    *web.Handler

	role     Handler
	watching *quota.Memory          // memory for watched URIs of sessions and subscriptions
	rates    rates.Books            // rate limits of the accounts
	none     Terms                  // terms of modern clients, always empty
	assumed  map[mcp.Version]*Terms // terms of legacy clients without sessions
	gone     func()                 // removes the handler from the metrics of current usage
}

// NewHTTP returns a handler. It returns an error for options that the role of the server does not support.
func (s *Server) NewHTTP(o *HTTPOptions) (*HTTP, error) {
	h := &HTTP{
		HTTPOptions: *o, Server: s, watching: quota.NewMemory(o.MaxWatchedBytes), assumed: map[mcp.Version]*Terms{},
	}
	h.Legacy, h.Modern, h.FrameLimit, h.NullID, h.Total = s.Legacy, s.Modern, s.FrameLimit, s.NullID(), s.Total
	for _, v := range s.Legacy {
		h.assumed[v] = new(Terms)
		h.assumed[v].Agreed.Store(&Agreement{Version: v})
	}
	var err error
	if h.role, err = s.role.Handle(h); err != nil {
		return nil, err
	}
	h.Web = web.New(&webServer{h.role, h}, &h.Options)
	h.observeLimits()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[h] = struct{}{}
	s.enlist()
	return h, nil
}

// Shutdown stops the handler. See mcpserver.HTTPHandler.Shutdown.
func (h *HTTP) Shutdown(ctx context.Context) error {
	err := h.Web.Shutdown(ctx)
	s := h.Server
	s.flush(ctx, s.everyObserver()...)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.handlers, h)
	s.enlist()
	return err
}

// webServer implements [web.Server] for an [HTTP]. The role's [Handler] implements some of the methods.
type webServer struct {
	Handler
	h *HTTP
}

func (w *webServer) Observer(n instrument.Network) rpc.Observer { return w.h.Server.Observer(n) }

func (w *webServer) Unsupported(v mcp.Version) *mcp.Error {
	return rpc.WireError(w.h.Server.Unsupported(v))
}

func (w *webServer) Prepare(x *rpc.Exchange, r *http.Request, c web.Client, t web.Terms) {
	e := x.Server.(interface{ base() *Exchange }).base()
	w.h.recognize(e.Client, c)
	e.Peer = &e.Client.Peer
	e.Home, e.HTTPRequest = w.h.Server, r
	switch {
	case t.Modern:
		e.Headers, e.Terms = web.Headers(r.Header), &w.h.none
	case t.Version != "":
		e.Terms = w.h.assumed[t.Version]
	default:
		e.Terms = new(Terms)
	}
}

// recognize sets the fields of p for the client c.
func (h *HTTP) recognize(p *Peer, c web.Client) {
	p.Observer, p.Principal, p.Account, p.Watching = c.Observer, c.Principal, c.Account, h.watching
	p.Untrusted = c.Principal == "" && !h.TrustTraceContext
	if c.Account != (quota.Account{}) {
		p.Rates = h.rates.Of(c.Account, &h.Server.Rates, time.Now())
	}
}

func (w *webServer) Open(life context.Context, o *web.Opening) (web.Conn, func(reason error)) {
	p := new(Peer)
	w.h.recognize(p, o.Client)
	if p.Rates == nil {
		p.Rates = new(rates.Book)
	}
	c, stop := w.h.Server.open(life, p, o.Out, 0, nil)
	c.Calls.Confine(o.Requests)
	c.introduced, c.quit = o.Introduce, o.Quit
	c.ID = o.ID
	if !o.Since.IsZero() {
		c.since = o.Since
	}
	return c.Role, stop
}

func (w *webServer) Close(ctx context.Context) {
	w.Handler.Close(ctx)
	w.h.gone()
}

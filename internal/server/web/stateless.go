package web

import (
	"context"
	"net/http"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
)

// Stateless is an HTTP request for a message without a session, together with its response. The server embeds it
// in a struct with its exchange and its call, so that one allocation holds all of them.
type Stateless struct {
	Exchange *rpc.Exchange // exchange of the message
	Call     *rpc.Call     // call of a request; its handler is a StatelessHandler
	reply    reply
	post     post
	visit    visit
}

// StatelessHandler is the handler of a stateless request.
type StatelessHandler interface {
	rpc.Handler
	// Wait sends the messages of the request, in the goroutine of the HTTP request, until the response is over.
	Wait(over <-chan struct{})
}

// arrival returns the visit of an HTTP request, and a Stateless if its message will belong to no session. One
// allocation holds both, instead of four. So a tiny call needs 39 allocations instead of 43; 30 of them are net/http's.
// A request in a session allocates its parts separately, because only some of them live as long as its call.
func (h *Handler) arrival(r *http.Request) (*Stateless, *visit) {
	if r.Method != http.MethodPost || h.hasSessions() && !saysModern(r.Header) {
		return nil, new(visit)
	}
	x := h.server.NewStateless()
	x.post.stateless = x
	return x, &x.visit
}

// saysModern reports whether the headers name a modern revision.
func saysModern(h http.Header) bool {
	versions := h[HeaderVersion]
	return len(versions) > 0 && mcp.Version(versions[0]).Era() == mcp.Modern
}

// ownPost returns the post inside x, or a new one if x is nil.
func (x *Stateless) ownPost() *post {
	if x == nil {
		return new(post)
	}
	return &x.post
}

// newStateless prepares the stateless request of a POST. modern selects the form of the response.
func (h *Handler) newStateless(p *post, work context.Context, t Terms, modern bool) *Stateless {
	x := p.stateless
	if x == nil {
		x = h.server.NewStateless()
	}
	x.reply = reply{response: response{cfg: &h.cfg, w: p.w, ctl: p.ctl, accept: p.accept}, modern: modern}
	x.Exchange.Engine, x.Exchange.Out, x.Exchange.Work, x.Exchange.Life = &h.engine, &x.reply, work, work
	h.server.Prepare(x.Exchange, p.r, h.client(p.r, p.visit.who), t)
	return x
}

// serveStateless handles a message or a batch, and returns when the response is over.
func (h *Handler) serveStateless(p *post, x *Stateless) {
	if h.takes(p, x.Exchange) {
		return
	}
	defer x.reply.close()
	p.lead(func() {
		if p.broken != nil {
			x.Exchange.Receive(p.frame)
		} else {
			p.beginAs(x.Call, x.Exchange, &x.reply)
		}
	}, x.reply.close)
	if !x.reply.isOver() { // a subscription or a relayed request: release the frame
		p.frame, p.m = nil, jsonrpc.Message{}
		x.Call.Handler.(StatelessHandler).Wait(x.reply.done())
	}
}

// takes handles a notification or a response. It reports false for any other message.
func (h *Handler) takes(p *post, x *rpc.Exchange) bool {
	switch {
	case p.broken != nil || p.m.Kind == jsonrpc.Request:
		return false
	case p.m.Kind == jsonrpc.Notification:
		h.accept(p, x.Notification(&p.m))
	default:
		h.accept(p, x.Response(&p.m))
	}
	return true
}

// lead calls the function deal. If user code ends the goroutine, lead calls the function respond to complete the
// response, because net/http would otherwise send nothing.
func (p *post) lead(deal, respond func()) {
	usercode.Pass(deal, func() {
		respond()
		_ = p.ctl.Flush()
	})
}

// begin handles a request.
func (p *post) begin(x *rpc.Exchange, out rpc.Sink) { p.beginAs(x.Server.NewCall(), x, out) }

// beginAs handles a request with the call c.
func (p *post) beginAs(c *rpc.Call, x *rpc.Exchange, out rpc.Sink) {
	if p.params != nil {
		x.Begin(c, &p.m, p.params, 0, out)
	} else {
		x.Request(c, &p.m, out)
	}
}

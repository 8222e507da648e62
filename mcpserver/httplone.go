package mcpserver

import (
	"net/http"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
)

// lone is a message that is answered by itself: its exchange, who sends it, and the response that is the whole of it.
type lone struct {
	exchange
	sender peer
	reply  reply
	parcel parcel
	stay   visit
	first  *rpc.Call // that it is, if it is a request by itself
}

// answeredLone is a lone with its call, for a server that answers by itself.
type answeredLone struct {
	lone lone
	call call
}

func (answering) newLone() *lone {
	x := new(answeredLone)
	x.lone.first = x.call.of(&x.lone.exchange)
	return &x.lone
}

// wait waits until the response is over. Nothing is to be done for it meanwhile in the goroutine that brings the call.
func (c *call) wait(done <-chan struct{}) { <-done }

// arrival returns the visit of an HTTP request, and what its message needs if that will be answered by itself. All of
// it is allocated at once, and not in four pieces: 39 allocations where there were 43 for a tiny call, 30 of which are
// those of net/http. What belongs to a session is in pieces, of which only some live as long as its call.
func (h *HTTPHandler) arrival(r *http.Request) (*lone, *visit) {
	if r.Method != http.MethodPost || h.hasSessions() && !saysModern(r.Header) {
		return nil, new(visit)
	}
	x := h.role.newLone()
	x.parcel.lone = x
	return x, &x.stay
}

// saysModern reports whether headers name a modern revision.
func saysModern(h http.Header) bool {
	versions := h[headerVersion]
	return len(versions) > 0 && mcp.Version(versions[0]).Era() == mcp.Modern
}

// ownParcel returns the parcel that is a part of x, or one by itself if x is nil.
func (x *lone) ownParcel() *parcel {
	if x == nil {
		return new(parcel)
	}
	return &x.parcel
}

// alone returns what a message needs that is answered by itself.
func (h *HTTPHandler) alone(p *parcel, modern bool) *lone {
	x := p.lone
	if x == nil {
		x = h.role.newLone()
	}
	h.recognize(&x.sender, h.observer(p.r), h.cfg.Principal(p.r), p.visit.who)
	x.exchange = exchange{
		Exchange: rpc.Exchange{Engine: &h.engine, Peer: &x.sender.Peer, Server: &x.exchange},
		s:        h.s, role: h.role, client: &x.sender, audience: h.audience,
	}
	x.reply = reply{response: response{cfg: &h.cfg, w: p.w, ctl: p.ctl, accept: p.accept}, modern: modern}
	x.Out = &x.reply
	x.httpRequest = p.r
	return x
}

// serveAlone answers a message, or a batch if it is broken as one message, and returns when the response is over.
func (h *HTTPHandler) serveAlone(p *parcel, x *lone) {
	if h.takes(p, &x.exchange) {
		return
	}
	defer x.reply.close()
	p.lead(func() {
		if p.broken != nil {
			x.Receive(p.frame)
		} else {
			p.beginAs(x.first, &x.exchange, &x.reply)
		}
	}, x.reply.close)
	if !x.reply.isOver() { // a subscription, or a request that is passed on, whose frame is not kept
		p.frame, p.m = nil, jsonrpc.Message{}
		x.first.Handler.(loneHandler).wait(x.reply.done())
	}
}

// takes deals with a message that is neither broken nor a request, and reports whether it is such a one.
func (h *HTTPHandler) takes(p *parcel, x *exchange) bool {
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

// lead deals with the message. If a handler ends the goroutine, respond completes the response: net/http would not even
// send what is there.
func (p *parcel) lead(deal, respond func()) {
	usercode.Pass(deal, func() {
		respond()
		_ = p.ctl.Flush()
	})
}

// loneHandler is the handler of a request that is answered by itself.
type loneHandler interface {
	rpc.Handler
	// wait does what is to be done for the request in the goroutine that brings it, until the response is over.
	wait(over <-chan struct{})
}

// begin begins to answer a request.
func (p *parcel) begin(x *exchange, out rpc.Sink) { p.beginAs(x.NewCall(), x, out) }

// beginAs begins to answer a request, which c becomes.
func (p *parcel) beginAs(c *rpc.Call, x *exchange, out rpc.Sink) {
	if p.params != nil {
		x.Begin(c, &p.m, p.params, 0, out)
	} else {
		x.Request(c, &p.m, out)
	}
}

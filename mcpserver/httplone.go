package mcpserver

import (
	"net/http"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
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
	call   call // that it is, if it is a request by itself
}

// arrival returns the visit of an HTTP request, and what its message needs if that will be answered by itself. All of
// it is allocated at once, and not in four pieces: 39 allocations where there were 43 for a tiny call, 30 of which are
// those of net/http. What belongs to a session is in pieces, of which only some live as long as its call.
func (h *HTTPHandler) arrival(r *http.Request) (*lone, *visit) {
	if r.Method != http.MethodPost || h.hasSessions() && !saysModern(r.Header) {
		return nil, new(visit)
	}
	x := new(lone)
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
		x = new(lone)
	}
	h.recognize(&x.sender, h.observer(p.r), h.cfg.Principal(p.r), p.visit.who)
	x.exchange = exchange{engine: &h.engine, peer: &x.sender}
	x.reply = reply{response: response{cfg: &h.cfg, w: p.w, ctl: p.ctl, accept: p.accept}, modern: modern}
	x.out = &x.reply
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
			x.take(p.frame)
		} else {
			p.begin(&x.exchange, &x.reply, &x.call)
		}
	}, x.reply.close)
	if !x.reply.isOver() { // a subscription, or a request that is passed on, whose frame is not kept
		p.frame, p.m = nil, jsonrpc.Message{}
		if relayed := x.call.relayed; relayed != nil {
			relayed.box.Run(x.reply.done())
		} else {
			<-x.reply.done()
		}
	}
}

// takes deals with a message that is neither broken nor a request, and reports whether it is such a one.
func (h *HTTPHandler) takes(p *parcel, x *exchange) bool {
	switch {
	case p.broken != nil || p.m.Kind == jsonrpc.Request:
		return false
	case p.m.Kind == jsonrpc.Notification:
		h.accept(p, x.notification(&p.m))
	default:
		h.accept(p, x.response(&p.m))
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

// begin begins to answer a request, which c becomes.
func (p *parcel) begin(x *exchange, out sink, c *call) {
	if p.params != nil {
		x.begin(c, &p.m, p.params, 0, out)
	} else {
		x.request(c, &p.m, out)
	}
}

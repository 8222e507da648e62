package mcpserver

import (
	"net/http"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
)

// statelessRequest is an HTTP request whose message belongs to no session, and the response to it.
type statelessRequest struct {
	exchange exchange
	sender   peer
	reply    reply
	post     httpPost
	visit    visit
	first    *rpc.Call // the call of the message, if it is a request
}

// answeredStateless is a stateless request with its call, for a server that answers.
type answeredStateless struct {
	request statelessRequest
	call    call
}

func (answering) newStateless() *statelessRequest {
	x := new(answeredStateless)
	x.request.first = x.call.of(&x.request.exchange)
	return &x.request
}

// wait waits until the response is over.
func (c *call) wait(done <-chan struct{}) { <-done }

// arrival returns the visit of an HTTP request, and the stateless request if the message will belong to no session, nil
// otherwise. Both are one allocation, and not four: 39 instead of 43 for a tiny call, of which net/http has 30. A
// request in a session has allocations of its own, because only some of them live as long as its call.
func (h *HTTPHandler) arrival(r *http.Request) (*statelessRequest, *visit) {
	if r.Method != http.MethodPost || h.hasSessions() && !saysModern(r.Header) {
		return nil, new(visit)
	}
	x := h.role.newStateless()
	x.post.stateless = x
	return x, &x.visit
}

// saysModern reports whether headers name a modern revision.
func saysModern(h http.Header) bool {
	versions := h[headerVersion]
	return len(versions) > 0 && mcp.Version(versions[0]).Era() == mcp.Modern
}

// ownPost returns the POST that is a part of x, or a new one if x is nil.
func (x *statelessRequest) ownPost() *httpPost {
	if x == nil {
		return new(httpPost)
	}
	return &x.post
}

// newExchange returns the stateless request of a POST, ready to handle the message.
func (h *HTTPHandler) newExchange(p *httpPost, modern bool) *statelessRequest {
	x := p.stateless
	if x == nil {
		x = h.role.newStateless()
	}
	h.recognize(&x.sender, h.observer(p.r), h.cfg.Principal(p.r), p.visit.who)
	x.exchange = exchange{
		Exchange: rpc.Exchange{Engine: &h.engine, Peer: &x.sender.Peer, Server: &x.exchange},
		s:        h.s, role: h.role, client: &x.sender, audience: h.audience,
	}
	x.reply = reply{response: response{cfg: &h.cfg, w: p.w, ctl: p.ctl, accept: p.accept}, modern: modern}
	x.exchange.Out = &x.reply
	x.exchange.httpRequest = p.r
	return x
}

// serveStateless handles the message or the batch, and returns when the response is over.
func (h *HTTPHandler) serveStateless(p *httpPost, x *statelessRequest) {
	if h.takes(p, &x.exchange) {
		return
	}
	defer x.reply.close()
	p.lead(func() {
		if p.broken != nil {
			x.exchange.Receive(p.frame)
		} else {
			p.beginAs(x.first, &x.exchange, &x.reply)
		}
	}, x.reply.close)
	if !x.reply.isOver() { // a subscription, or a request of a relay: the frame is not needed any more
		p.frame, p.m = nil, jsonrpc.Message{}
		x.first.Handler.(statelessHandler).wait(x.reply.done())
	}
}

// takes handles a notification or a response, and reports false for any other message.
func (h *HTTPHandler) takes(p *httpPost, x *exchange) bool {
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

// lead calls deal. If a handler ends the goroutine, respond completes the response, because net/http would send nothing
// of it.
func (p *httpPost) lead(deal, respond func()) {
	usercode.Pass(deal, func() {
		respond()
		_ = p.ctl.Flush()
	})
}

// statelessHandler is the handler of a stateless request.
type statelessHandler interface {
	rpc.Handler
	// wait sends what belongs to the request, in the goroutine of the HTTP request, until the response is over.
	wait(over <-chan struct{})
}

// begin handles a request.
func (p *httpPost) begin(x *exchange, out rpc.Sink) { p.beginAs(x.NewCall(), x, out) }

// beginAs handles a request with the call c.
func (p *httpPost) beginAs(c *rpc.Call, x *exchange, out rpc.Sink) {
	if p.params != nil {
		x.Begin(c, &p.m, p.params, 0, out)
	} else {
		x.Request(c, &p.m, out)
	}
}

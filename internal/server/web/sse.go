package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// sessionParameter is the query parameter with the session id of an HTTP+SSE message. The server puts it into the URL
// that it sends to the client.
const sessionParameter = "sessionId"

// hasSSE reports whether HTTP+SSE is served.
func (h *Handler) hasSSE() bool {
	return !h.cfg.NoSSE && h.hasSessions() && slices.Contains(h.cfg.Legacy, mcp.Version20241105)
}

// getSSE opens a session of HTTP+SSE. The session lasts as long as its only stream. (specification 2024-11-05,
// basic/transports, "HTTP with SSE")
func (h *Handler) getSSE(w http.ResponseWriter, r *http.Request) {
	resp := h.streamTo(w)
	s := h.newSession(r, resp)
	if s == nil {
		h.full(w, r)
		return
	}
	if s.shared != nil {
		if err := s.shared.create(r.Context()); err != nil {
			h.unavailable(w, r)
			resp.close()
			s.release()
			h.end(s)
			return
		}
	}
	s.await()
	if h.sessions.open(s) && resp.event(sse.Event{Name: "endpoint", Data: endpoint(r.URL, s.id)}) == nil {
		ended := s.conn.Exchange().Peer.Tel.StreamOpened(names.StreamSSE)
		select {
		case <-resp.done():
		case <-r.Context().Done():
		}
		ended()
	}
	resp.close()
	s.release()
	h.end(s)
}

// endpoint returns the URL for the messages of a session. It has only a query, so it is relative to the stream's URL
// and works behind any proxy.
func endpoint(u *url.URL, session string) []byte {
	query := u.Query()
	query.Set(sessionParameter, session)
	return []byte("?" + query.Encode())
}

// postSSE handles a message for a session of HTTP+SSE. Answers go to the session's stream.
func (h *Handler) postSSE(p *post) {
	id := p.r.URL.Query().Get(sessionParameter)
	if h.fleet != nil && h.sessions.known(id) == nil {
		h.postElsewhere(p, id)
		return
	}
	s := h.session(p.w, p.r, id, true)
	if s == nil {
		return
	}
	defer s.release()
	x := s.conn.Serving(p.r)
	x.Place = p.visit
	switch {
	case p.broken != nil && !x.Batches():
		h.violation(p, p.broken)
		return
	case h.takes(p, x):
		return
	}
	accepted := func() {
		p.w.Header()["Content-Length"] = []string{"0"} // makes flushing send the whole response
		p.w.WriteHeader(http.StatusAccepted)
	}
	p.lead(func() {
		if p.broken != nil {
			x.Receive(p.frame)
		} else {
			x.Request(x.Server.NewCall(), &p.m, x.Out)
		}
	}, accepted)
	accepted()
}

// postElsewhere passes a message to the process that has the stream of its session.
func (h *Handler) postElsewhere(p *post, id string) {
	switch err := h.fleet.handOver(p.r, id, h.cfg.Principal(p.r), p.frame); {
	case errors.Is(err, store.ErrNoSession):
		h.sessionNotFound(p.w, p.r)
	case err != nil:
		h.unavailable(p.w, p.r)
	default:
		p.w.WriteHeader(http.StatusAccepted)
	}
}

// sseSink is the sink of a session of HTTP+SSE.
type sseSink struct{ channel *response }

func (b sseSink) Notify(_ context.Context, frame []byte) error {
	return b.channel.event(sse.Event{Name: "message", Data: frame})
}

func (b sseSink) Answer(ctx context.Context, a rpc.Answer) error {
	if a.Frame == nil {
		return nil
	}
	return b.Notify(ctx, a.Whole())
}

func (b sseSink) Reach() rpc.Reach { return rpc.Reach{Asks: true, Read: true} }

func (b sseSink) Ask(ctx context.Context, frame []byte) error { return b.Notify(ctx, frame) }

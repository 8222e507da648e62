package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// postAlone answers a message of a legacy client without a session, in the revision that the message's header names.
// (specification 2025-06-18, basic/transports, "Protocol Version Header")
func (h *Handler) postAlone(p *post) {
	v := p.version
	if v == "" {
		v = mcp.Version20250326
	}
	if !slices.Contains(h.cfg.Legacy, v) {
		v = h.cfg.Legacy[len(h.cfg.Legacy)-1]
	}
	h.serveLegacy(p, v)
}

// serveLegacy answers a stateless legacy message in revision v, which may be empty. The message is not cancelled when
// its connection closes.
func (h *Handler) serveLegacy(p *post, v mcp.Version) {
	x := h.newStateless(p, context.WithoutCancel(p.r.Context()), Terms{Version: v}, len(h.cfg.Legacy) == 0)
	h.serveStateless(p, x)
}

// initialize answers the request that opens a session.
func (h *Handler) initialize(p *post) {
	if !h.hasSessions() {
		h.serveLegacy(p, "")
		return
	}
	s := h.newSession(p.r, nil)
	if s == nil {
		h.full(p.w, p.r)
		return
	}
	s.conn.HoldNotices() // the session has no stream for notices yet
	out := &opening{reply: reply{response: response{cfg: &h.cfg, w: p.w, ctl: p.ctl, accept: p.accept}}, h: h, s: s,
		work: p.r.Context()}
	defer func() { // deferred, because a handler may end the goroutine
		if !out.leave() {
			h.end(s)
		}
		s.release()
	}()
	p.lead(func() { p.begin(s.conn.Serving(p.r), out) }, func() {})
	if !out.isOver() { // a relay has forwarded the request
		select {
		case <-out.done():
		case <-p.r.Context().Done():
		}
	}
}

// full refuses a new session because the limit of sessions is reached.
func (h *Handler) full(w http.ResponseWriter, r *http.Request) {
	h.refuse(w, r, tooBusy(ErrTooManySessions))
}

// opening is the sink of an initialize request. It opens the session if the request succeeds.
type opening struct {
	reply
	h    *Handler
	s    *session
	work context.Context

	mu     sync.Mutex // held while answering
	opened bool       // guarded by mu
	left   bool       // guarded by mu; the HTTP request is over
}

// leave records that the HTTP request is over, and reports whether the session was opened.
func (o *opening) leave() (opened bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left = true
	return o.opened
}

func (o *opening) Answer(ctx context.Context, a rpc.Answer) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.left {
		return errGone
	}
	if a.Frame != nil && a.Err == nil {
		opened, err := o.h.agree(o.work, o.s)
		if opened {
			o.opened = true
			o.w.Header()[headerSession] = []string{o.s.id}
		}
		if err != nil {
			e := ErrStore
			if errors.Is(err, errRecordTooLarge) {
				e = &mcp.Error{Code: mcp.CodeInvalidParams, Message: "the client's name, version and capabilities are too large"}
			}
			a = rpc.Answer{Frame: rpc.AppendError(nil, a.ID, e), Err: e, Refused: true}
			return cmp.Or(o.reply.Answer(ctx, a), error(&rpc.AnsweredInstead{Err: rpc.Fail(e, err)}))
		}
	}
	return o.reply.Answer(ctx, a)
}

// postSession processes a message that belongs to a session.
func (h *Handler) postSession(p *post) {
	s := h.session(p.w, p.r, p.r.Header.Get(headerSession), false)
	if s == nil {
		return
	}
	defer s.release()
	x := s.conn.Serving(p.r)
	switch {
	case !h.knownVersion(p):
		return
	case p.broken != nil && !x.Batches():
		h.violation(p, p.broken)
		return
	case h.takes(p, x):
		return
	}
	x.Place = p.visit
	resp := &response{cfg: &h.cfg, w: p.w, ctl: p.ctl, accept: p.accept}
	st := s.newStream(resp)
	if s.shared != nil {
		st.asked = askedBy(&p.m, p.frame)
	}
	respond := func() { st.serve(p.r.Context(), resp) }
	p.lead(func() {
		if p.broken != nil {
			x.Out = st
			x.Receive(p.frame)
		} else {
			p.begin(x, st)
		}
	}, respond)
	respond()
}

// session returns the session of an HTTP request, held. If there is no such session, it refuses the request and returns
// nil. sse selects sessions of HTTP+SSE instead of Streamable HTTP. (specification 2025-11-25, basic/transports,
// "Session Management")
func (h *Handler) session(w http.ResponseWriter, r *http.Request, id string, sse bool) *session {
	var s *session
	var err error
	if principal := h.cfg.Principal(r); h.fleet != nil && !sse {
		s, err = h.fleet.session(r, id, principal)
	} else {
		s = h.sessions.find(id, principal, sse)
	}
	switch {
	case err == ErrTooManySessions:
		h.full(w, r)
	case err != nil:
		h.unavailable(w, r)
	case s == nil:
		h.sessionNotFound(w, r)
	default:
		return s
	}
	return nil
}

func (h *Handler) sessionNotFound(w http.ResponseWriter, r *http.Request) {
	h.refuse(w, r, refusal{reason: names.RefusalSession, status: http.StatusNotFound,
		err: &mcp.Error{Code: codeSessionNotFound, Message: "session not found"}})
}

// unavailable refuses a request because the store of sessions has failed.
func (h *Handler) unavailable(w http.ResponseWriter, r *http.Request) {
	h.refuse(w, r, refusal{reason: names.RefusalStore, status: http.StatusServiceUnavailable, err: ErrStore})
}

// codeSessionNotFound is the error code in the body of a 404, which makes a legacy client open a new session. The
// specification defines no code; other servers use this one.
const codeSessionNotFound = -32001

// delete ends a session at the client's request.
func (h *Handler) delete(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(headerSession)
	switch {
	case !h.hasSessions():
		h.notAllowed(w, r)
		return
	case id == "":
		h.refuse(w, r, badRequest(names.RefusalHeader, "the header "+headerSession+" is missing"))
		return
	}
	s := h.session(w, r, id, false)
	if s == nil {
		return
	}
	defer s.release()
	if s.shared != nil {
		if _, err := s.shared.delete(r.Context(), 0); err != nil {
			h.unavailable(w, r)
			return
		}
	}
	h.end(s)
	w.WriteHeader(http.StatusNoContent)
}

package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// post is a POST request with its body: one message or a batch.
type post struct {
	w         http.ResponseWriter
	r         *http.Request
	visit     *visit
	ctl       http.ResponseController
	stateless *Stateless // the Stateless that contains this post, or nil
	pump      *pump      // reads the body if ctl supports no deadlines; otherwise nil
	accept    accept
	frame     []byte
	m         jsonrpc.Message
	params    *jsonrpc.Params    // nil until parsed
	broken    *jsonrpc.Violation // the violation if the frame is not one message; set for a batch, too
	version   mcp.Version        // revision in the header; empty if absent
}

// post handles a POST request. It uses the memory of x for the request, unless x is nil.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, v *visit, x *Stateless) {
	p := x.ownPost()
	p.w, p.r, p.visit, p.ctl, p.accept = w, r, v, *http.NewResponseController(w), accepted(r.Header)
	v.who = h.account(r)
	switch {
	case !isJSON(r.Header):
		h.turnAway(w, r, refusal{reason: names.RefusalMediaType, status: http.StatusUnsupportedMediaType,
			err: &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "the body must be " + typeJSON}})
		return
	case !p.accept.json && !p.accept.stream:
		h.turnAway(w, r, notAcceptable(jsonrpc.ID{}, usual))
		return
	}
	if !h.readBody(p) {
		return
	}
	if err := v.place(); err != nil {
		h.refuse(w, r, tooBusy(err))
		return
	}
	var err error
	if p.m, err = jsonrpc.Parse(p.frame); err != nil {
		p.broken = jsonrpc.ViolationOf(&p.m, err)
	}
	h.dispatch(p)
}

// notAcceptable returns the refusal for a client that does not accept the response types.
func notAcceptable(id jsonrpc.ID, types string) refusal {
	return refusal{reason: names.RefusalMediaType, status: http.StatusNotAcceptable, id: id,
		err: &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "the client must accept " + types}}
}

// dispatch selects the rules by which the handler answers a message.
// (specification 2026-07-28, basic/versioning, "Backward Compatibility with Initialization-Based Versions")
func (h *Handler) dispatch(p *post) {
	versions := p.r.Header[HeaderVersion]
	if len(versions) > 0 {
		p.version = mcp.Version(versions[0])
	}
	switch {
	case p.broken != nil && p.broken.Reason != jsonrpc.BatchFrame:
		h.violation(p, p.broken)
	case h.isSSE(p.r): // checked before the version header: the client reads answers from its SSE stream
		h.postSSE(p)
	case p.version != "" && p.version.Era() == mcp.Modern:
		h.modern(p)
	case len(p.r.Header[headerSession]) > 0 && h.hasSessions():
		h.postSession(p)
	default:
		h.undeclared(p)
	}
}

// undeclared handles a message with neither a modern revision nor a session in its headers.
func (h *Handler) undeclared(p *post) {
	legacy := len(h.cfg.Legacy) > 0
	if p.broken == nil && p.m.Kind == jsonrpc.Request {
		params, err := p.m.Params()
		if err != nil {
			h.violation(p, jsonrpc.ViolationOf(&p.m, err))
			return
		}
		p.params = &params
		switch {
		case p.m.Method == mcp.MethodInitialize:
			h.initialize(p)
			return
		case len(h.cfg.Modern) > 0 && (!legacy || params.Modern()):
			h.modern(p) // fails with an error about the missing headers
			return
		}
	}
	switch {
	case !h.knownVersion(p):
	case !legacy:
		h.refuse(p.w, p.r, refusal{reason: names.RefusalHeader, status: http.StatusBadRequest,
			err: &mcp.Error{Code: mcp.CodeHeaderMismatch, Message: "the header " + HeaderVersion + " is missing"}})
	case h.cfg.Stateless:
		h.postAlone(p)
	default:
		h.refuse(p.w, p.r, badRequest(names.RefusalHeader, "the header "+headerSession+
			" is missing; a session begins with "+mcp.MethodInitialize))
	}
}

// knownVersion reports whether the server supports the revision in the header of a legacy message. If not, it refuses
// the message. (specification 2025-11-25, basic/transports, "Protocol Version Header")
func (h *Handler) knownVersion(p *post) bool {
	if p.version == "" || slices.Contains(h.cfg.Legacy, p.version) {
		return true
	}
	h.refuseVersion(p)
	return false
}

// refuseVersion refuses a message with an unsupported revision. A server with modern revisions answers with the modern
// error.
func (h *Handler) refuseVersion(p *post) {
	e := h.server.Unsupported(p.version)
	if len(h.cfg.Modern) == 0 {
		e = &mcp.Error{Code: mcp.CodeInvalidRequest, Message: e.Message}
	}
	h.refuse(p.w, p.r, refusal{reason: names.RefusalVersion, status: http.StatusBadRequest, id: p.m.ID, err: e})
}

// violation counts and refuses a body that is not a valid message.
func (h *Handler) violation(p *post, v *jsonrpc.Violation) {
	o := h.observer(p.r)
	o.Violation(v, p.frame, len(p.frame), 0)
	h.refuseViolation(p, v)
}

// refuseViolation refuses an invalid body that was already counted.
func (h *Handler) refuseViolation(p *post, v *jsonrpc.Violation) {
	h.refuse(p.w, p.r, refusal{reason: names.RefusalInvalid, status: http.StatusBadRequest, id: v.ID, told: true,
		err: &mcp.Error{Code: rpc.CodeOf(v.Reason), Message: v.Error()}})
}

// modern answers a message of the modern era as a stateless request.
func (h *Handler) modern(p *post) {
	switch {
	case len(h.cfg.Modern) == 0:
		h.refuseVersion(p)
		return
	case p.broken != nil:
		h.violation(p, p.broken)
		return
	case p.m.Kind != jsonrpc.Request && p.m.Kind != jsonrpc.Notification:
		h.refuse(p.w, p.r, badRequest(names.RefusalInvalid, "clients must not send responses in this revision"))
		return
	case p.m.Method == mcp.MethodSubscriptionsListen && !p.accept.stream:
		h.refuse(p.w, p.r, notAcceptable(p.m.ID, typeStream))
		return
	case p.m.Method == mcp.MethodSubscriptionsListen:
		defer p.visit.linger()()
	}
	h.serveStateless(p, h.newStateless(p, p.r.Context(), Terms{Modern: true}, true))
}

// accept replies to a notification or response. err is nil, a validation error or a store failure.
func (h *Handler) accept(p *post, err error) {
	switch {
	case errors.Is(err, ErrStore):
		h.unavailable(p.w, p.r)
		return
	case err != nil:
		h.refuseViolation(p, jsonrpc.ViolationOf(&p.m, err))
		return
	}
	p.w.WriteHeader(http.StatusAccepted)
}

// isSSE reports whether a request is addressed to a session of HTTP+SSE.
func (h *Handler) isSSE(r *http.Request) bool {
	return strings.Contains(r.URL.RawQuery, sessionParameter+"=") && h.hasSSE()
}

package mcpserver

import (
	"errors"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// httpRefusal is a response to an HTTP request that does not become a request of MCP, or of which a session or a body
// cannot be had.
type httpRefusal struct {
	reason string // one of the Refusal words
	status int
	id     jsonrpc.ID // of the request, zero if it is not known
	err    *mcp.Error
	told   bool // another record tells of it
}

// refuse answers an HTTP request with a refusal, and counts and logs it. Every refusal of the handler passes here.
func (h *HTTPHandler) refuse(w http.ResponseWriter, r *http.Request, f httpRefusal) {
	o := h.observer(r)
	o.Tel.Refused(r.Context(), instrument.Refusal{
		Reason: f.reason, Status: f.status, Err: errors.New(f.err.Message), RemoteAddr: r.RemoteAddr, Told: f.told,
	})
	if f.status == http.StatusServiceUnavailable {
		w.Header()["Retry-After"] = retryAfter
	}
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(f.status)
	_, _ = w.Write(rpc.AppendError(nil, f.id, f.err)) // who is gone has no use for it
}

// turnAway refuses a request whose body has not been read. net/http reads it then, up to a point: no longer than this
// handler would have, if the writer allows deadlines; otherwise for ever, which takes a connection and nothing of this
// handler's.
func (h *HTTPHandler) turnAway(w http.ResponseWriter, r *http.Request, f httpRefusal) {
	if d := h.cfg.bodyPatience(); r.ContentLength != 0 && d > 0 {
		if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(d)); err != nil {
			h.noDeadlines(r, err)
		}
	}
	h.refuse(w, r, f)
}

// badRequest is a refusal with the status 400.
func badRequest(reason, message string) httpRefusal {
	return httpRefusal{reason: reason, status: http.StatusBadRequest,
		err: &mcp.Error{Code: mcp.CodeInvalidRequest, Message: message}}
}

// tooBusy is a refusal with the status 503 for one of the endings.
func tooBusy(err *mcp.Error) httpRefusal {
	return httpRefusal{reason: refusalReason(err), status: http.StatusServiceUnavailable, err: err}
}

// refusalReason returns the word for an error with which the server refuses a request, empty for an error about the
// request itself.
func refusalReason(err error) string {
	if e, _ := errors.AsType[*mcp.Error](err); e == errStore {
		return names.RefusalStore
	}
	switch word := endingOf(err); word {
	case names.ErrorOverloaded:
		return names.RefusalOverloaded
	case names.ErrorRateLimited:
		return names.RefusalRateLimited
	case names.ErrorShutdown:
		return names.RefusalShutdown
	}
	return ""
}

// Refused counts and logs a request that a middleware in front of h has refused with a status, so that it is seen
// beside those that h refuses itself: in the metric mcp_server.request.refused, and in records of that name at a
// limited rate. The middleware of package bearer calls it. 401 and 403 have the reason unauthorized, 429 has
// rate_limited, and others have _OTHER. err is for the log and may be nil. Refused may be called by several goroutines.
func (h *HTTPHandler) Refused(r *http.Request, status int, err error) {
	reason := names.Other
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		reason = names.RefusalUnauthorized
	case http.StatusTooManyRequests:
		reason = names.RefusalRateLimited
	}
	o := h.observer(r)
	o.Tel.Refused(r.Context(), instrument.Refusal{Reason: reason, Status: status, Err: err, RemoteAddr: r.RemoteAddr})
}

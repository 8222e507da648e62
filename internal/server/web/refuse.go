package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Errors with which the handler answers requests.
var (
	// ErrStore answers what cannot be done without the store.
	ErrStore           = &mcp.Error{Code: mcp.CodeInternalError, Message: "the store of sessions cannot be reached"}
	ErrNoRoom          = &mcp.Error{Code: mcp.CodeInternalError, Message: "too many large requests at once"}
	ErrTooManySessions = &mcp.Error{Code: mcp.CodeInternalError, Message: "too many sessions"}

	errStopping = relay.ErrStopping // the server's, too
)

// refusal is a response to an HTTP request that does not become a request of MCP, or of which a session or a body
// cannot be had.
type refusal struct {
	reason string // one of the Refusal words
	status int
	id     jsonrpc.ID // of the request, zero if it is not known
	err    *mcp.Error
	told   bool // another record tells of it
}

// refuse answers an HTTP request with a refusal, and counts and logs it. Every refusal of the handler passes here.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, f refusal) {
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
func (h *Handler) turnAway(w http.ResponseWriter, r *http.Request, f refusal) {
	if d := h.cfg.bodyPatience(); r.ContentLength != 0 && d > 0 {
		if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(d)); err != nil {
			h.noDeadlines(r, err)
		}
	}
	h.refuse(w, r, f)
}

// badRequest is a refusal with the status 400.
func badRequest(reason, message string) refusal {
	return refusal{reason: reason, status: http.StatusBadRequest,
		err: &mcp.Error{Code: mcp.CodeInvalidRequest, Message: message}}
}

// tooBusy is a refusal with the status 503: the server is busy or shuts down.
func tooBusy(err *mcp.Error) refusal {
	reason := names.RefusalOverloaded
	if err == errStopping {
		reason = names.RefusalShutdown
	}
	return refusal{reason: reason, status: http.StatusServiceUnavailable, err: err}
}

// Refused counts and logs a refusal of a middleware. See mcpserver.HTTPHandler.Refused.
func (h *Handler) Refused(r *http.Request, status int, err error) {
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

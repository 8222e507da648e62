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

// Errors of refused HTTP requests.
var (
	// ErrStore is the error for a request that needs the store while the store fails.
	ErrStore           = &mcp.Error{Code: mcp.CodeInternalError, Message: "the store of sessions cannot be reached"}
	ErrNoRoom          = &mcp.Error{Code: mcp.CodeInternalError, Message: "too many large requests at once"}
	ErrTooManySessions = &mcp.Error{Code: mcp.CodeInternalError, Message: "too many sessions"}

	errStopping = relay.ErrStopping // the error that the server uses, too
)

// refusal is an error response to an HTTP request that the handler rejects before it becomes an MCP request.
type refusal struct {
	reason string // one of the constants names.Refusal…
	status int
	id     jsonrpc.ID // id of the JSON-RPC request; zero if unknown
	err    *mcp.Error
	told   bool // another log record already reports the error
}

// refuse answers an HTTP request with a refusal, counts it and logs it. Every refusal of the handler passes through
// refuse.
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
	_, _ = w.Write(rpc.AppendError(nil, f.id, f.err)) // ignore the error: the client has disconnected
}

// turnAway refuses a request before its body is read. net/http then reads and discards a part of the body. If the
// writer supports deadlines, net/http gets as much time as the handler would have had. Otherwise it has no limit, and a
// slow client occupies a connection but no capacity of this handler.
func (h *Handler) turnAway(w http.ResponseWriter, r *http.Request, f refusal) {
	if d := h.cfg.bodyPatience(); r.ContentLength != 0 && d > 0 {
		if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(d)); err != nil {
			h.noDeadlines(r, err)
		}
	}
	h.refuse(w, r, f)
}

// badRequest returns a refusal with status 400.
func badRequest(reason, message string) refusal {
	return refusal{reason: reason, status: http.StatusBadRequest,
		err: &mcp.Error{Code: mcp.CodeInvalidRequest, Message: message}}
}

// tooBusy returns a refusal with status 503: the server is overloaded or is shutting down.
func tooBusy(err *mcp.Error) refusal {
	reason := names.RefusalOverloaded
	if err == errStopping {
		reason = names.RefusalShutdown
	}
	return refusal{reason: reason, status: http.StatusServiceUnavailable, err: err}
}

// Refused counts and logs a refusal by a middleware. See mcpserver.HTTPHandler.Refused.
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

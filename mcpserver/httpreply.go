package mcpserver

import (
	"context"
	"errors"
	"net/http"

	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/mcp"
)

// reply is the sink of what leads to one response and to no other: JSON if there is nothing but the answer, a stream of
// events if a notification comes first.
type reply struct {
	mute
	response
	modern bool
}

func (r *reply) notify(ctx context.Context, frame []byte) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !r.accept.stream:
		return errNoPlace
	}
	return r.event(message(frame))
}

func (r *reply) answer(_ context.Context, a answer) error {
	status := statusOf(a, r.modern)
	switch {
	case a.frame == nil && r.modern: // its client has left
		r.end(http.StatusServiceUnavailable)
		return nil
	case a.frame == nil:
		r.end(http.StatusAccepted)
		return nil
	case r.isOpen() || status == http.StatusOK && !r.accept.json:
		return r.last(message(a.whole()))
	}
	return r.document(status, a)
}

// message is the event of a frame.
func message(frame []byte) sse.Event { return sse.Event{Data: frame, HasData: true} }

// statusOf returns the status of a response that is one answer. Legacy clients take most errors from the body only: a
// 404 would tell them that their session is gone.
// (specification 2026-07-28, basic/transports/streamable-http, "Protocol Version Header" and "Server Validation")
func statusOf(a answer, modern bool) int {
	e, ok := errors.AsType[*mcp.Error](a.err)
	switch {
	case a.err == nil || !ok && !a.refused:
		return http.StatusOK
	case e == errBusy, e == errTooOften:
		return http.StatusTooManyRequests
	case e == errTooManySessions && !modern:
		return http.StatusServiceUnavailable
	case (e == errShuttingDown || e == errOverloaded || e == errStore) && a.refused:
		return http.StatusServiceUnavailable
	}
	code := wireError(a.err).Code
	switch {
	case !modern && a.refused && (code == mcp.CodeParseError || code == mcp.CodeInvalidRequest):
		return http.StatusBadRequest
	case !modern:
		return http.StatusOK
	case code == mcp.CodeMethodNotFound:
		return http.StatusNotFound
	case a.refused, code <= mcp.CodeHeaderMismatch && code >= mcp.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

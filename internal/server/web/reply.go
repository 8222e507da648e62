package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/mcp"
)

// reply is the sink for the response to one stateless message. The response is JSON if it consists of the answer alone,
// and a stream of events if a notification precedes the answer.
type reply struct {
	rpc.Mute
	response
	modern bool
}

func (r *reply) Notify(ctx context.Context, frame []byte) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !r.accept.stream:
		return rpc.ErrNoStream
	}
	return r.event(message(frame))
}

func (r *reply) Answer(_ context.Context, a rpc.Answer) error {
	status := StatusOf(a, r.modern)
	switch {
	case a.Frame == nil && r.modern: // the client has disconnected
		r.end(http.StatusServiceUnavailable)
		return nil
	case a.Frame == nil:
		r.end(http.StatusAccepted)
		return nil
	case r.isOpen() || status == http.StatusOK && !r.accept.json:
		return r.last(message(a.Whole()))
	}
	return r.document(status, a)
}

// message returns the event that carries a frame.
func message(frame []byte) sse.Event { return sse.Event{Data: frame, HasData: true} }

// StatusOf returns the HTTP status of a response that consists of one answer. Legacy clients get most errors with
// status 200, because they would interpret a 404 as the end of their session. (specification 2026-07-28,
// basic/transports/streamable-http, "Protocol Version Header" and "Server Validation")
func StatusOf(a rpc.Answer, modern bool) int {
	e, ok := errors.AsType[*mcp.Error](a.Err)
	switch {
	case a.Err == nil || !ok && !a.Refused:
		return http.StatusOK
	case e == rpc.ErrBusy, e == rpc.ErrTooOften:
		return http.StatusTooManyRequests
	case e == ErrTooManySessions && !modern:
		return http.StatusServiceUnavailable
	case (e == errStopping || e == rpc.ErrOverloaded || e == ErrStore) && a.Refused:
		return http.StatusServiceUnavailable
	}
	code := rpc.WireError(a.Err).Code
	switch {
	case !modern && a.Refused && (code == mcp.CodeParseError || code == mcp.CodeInvalidRequest):
		return http.StatusBadRequest
	case !modern:
		return http.StatusOK
	case code == mcp.CodeMethodNotFound:
		return http.StatusNotFound
	case a.Refused, code <= mcp.CodeHeaderMismatch && code >= mcp.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

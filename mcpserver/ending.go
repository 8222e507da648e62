package mcpserver

import (
	"context"
	"errors"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// errTimeLimit is wrapped in the cause of a handler's context that has reached [Options.RequestTimeout].
var errTimeLimit = errors.New("not done")

// endings lists the errors that end a request for a reason outside of its handler, with the error.type of each. The
// first match counts, because an error may wrap both errShuttingDown, which the client gets, and the reason.
//
// The client gets all of them as -32603, except for time limits of tools. Neither JSON-RPC nor MCP has a code for an
// overloaded server, implementations have chosen different codes, and clients cannot know the meaning of a code in the
// range that 2026-07-28 leaves to implementations. Over HTTP, the status 429 or 503 tells the client.
var endings = []struct {
	cause error
	word  string
}{
	{rpc.ErrCancelled, names.ErrorCancelled},
	{relay.ErrLeft, names.ErrorConnectionLost},
	{ErrSessionSilent, names.ErrorConnectionLost},
	{ErrSessionTimeout, names.ErrorConnectionLost},
	{errTimeLimit, names.ErrorTimeout},
	{tasks.ErrExpired, names.ErrorTimeout},
	{errShuttingDown, names.ErrorShutdown},
	{rpc.ErrTooOften, names.ErrorRateLimited},
	{rpc.ErrBusy, names.ErrorOverloaded},
	{rpc.ErrOverloaded, names.ErrorOverloaded},
	{web.ErrNoRoom, names.ErrorOverloaded},
	{errUnread, names.ErrorOverloaded},
	{web.ErrTooManySessions, names.ErrorOverloaded},
	{rpc.ErrBatchFull, names.ErrorOverloaded},
}

// endingOf returns the error.type of a request that ended because of err. It is empty for an error of the handler or of
// the client.
func endingOf(err error) string {
	if err == nil {
		return ""
	}
	wire, _ := errors.AsType[*mcp.Error](err)
	for _, e := range endings {
		if e.cause == error(wire) || errors.Is(err, e.cause) && !isWire(e.cause) {
			return e.word
		}
	}
	return ""
}

// isWire reports whether err is a protocol error. errors.Is treats protocol errors with the same code as equal.
func isWire(err error) bool {
	_, wire := err.(*mcp.Error)
	return wire
}

// interrupted returns r, the telemetry of an answer. If why ended the request, r gets the error.type that belongs to
// why.
func interrupted(r instrument.Result, why error) instrument.Result {
	word := endingOf(why)
	if word == "" {
		return r
	}
	if r.Err == nil {
		r.Err = why
	}
	r.ErrorType, r.ToolError, r.CallerLeft = word, false, word == names.ErrorCancelled
	if word == names.ErrorConnectionLost || word == names.ErrorCancelled {
		r.HasCode, r.Code = false, 0 // the client gets no answer
	}
	return r
}

// endCause returns the cause for the contexts of handlers when their connection or session ends. A nil reason means
// that the client has disconnected. A client that is still connected gets errShuttingDown.
func endCause(reason error) error {
	switch reason {
	case nil:
		reason = relay.ErrLeft
	case ErrSessionSilent, ErrSessionTimeout:
	default:
		return errShuttingDown
	}
	return rpc.Fail(errShuttingDown, reason)
}

// interruption returns the cause of ctx if ctx had ended before the handler failed, because the end of ctx then counts
// as the reason. Otherwise it returns nil.
func interruption(ctx context.Context, result any, err error) error {
	r, _ := result.(*mcp.CallToolResult)
	if ctx.Err() == nil || err == nil && (r == nil || !r.IsError) {
		return nil
	}
	if cause := context.Cause(ctx); cause != context.DeadlineExceeded {
		return cause
	}
	return errTimeLimit // deadline of a middleware around the HTTP handler
}

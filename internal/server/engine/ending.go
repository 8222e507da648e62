package engine

import (
	"context"
	"errors"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// ErrStopping is the error for requests, and the cause of contexts, when the server ends a connection or shuts down.
var ErrStopping = relay.ErrStopping

// endings lists the errors that end a request from outside of its handler, each with its error.type. The first match
// counts, because an error may wrap both ErrStopping, which the client gets, and the reason.
//
// The client gets -32603 for each of them, except for a tool's time limit. Neither JSON-RPC nor MCP has a code for an
// overloaded server, implementations have chosen different codes, and clients cannot know the meaning of a code in the
// range that 2026-07-28 leaves to implementations. Over HTTP, the client sees the overload in the status 429 or 503.
var endings = []struct {
	cause error
	word  string
}{
	{rpc.ErrCancelled, names.ErrorCancelled},
	{relay.ErrLeft, names.ErrorConnectionLost},
	{ErrSilent, names.ErrorConnectionLost},
	{web.ErrTimeout, names.ErrorConnectionLost},
	{rpc.ErrTimeLimit, names.ErrorTimeout},
	{ErrStopping, names.ErrorShutdown},
	{rpc.ErrTooOften, names.ErrorRateLimited},
	{rpc.ErrBusy, names.ErrorOverloaded},
	{rpc.ErrOverloaded, names.ErrorOverloaded},
	{web.ErrNoRoom, names.ErrorOverloaded},
	{relay.ErrUnread, names.ErrorOverloaded},
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

// Interrupted returns r, the telemetry of an answer. If why ended the request, the result has the error.type of why.
func Interrupted(r instrument.Result, why error) instrument.Result {
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

// EndReason returns the error for requests whose connection or session ends because of reason. A nil reason means that
// the client has disconnected. [ErrSilent] and [web.ErrTimeout] are returned as they are, all other reasons as
// [ErrStopping].
func EndReason(reason error) error {
	switch reason {
	case nil:
		return relay.ErrLeft
	case ErrSilent, web.ErrTimeout:
		return reason
	}
	return ErrStopping
}

// endCause returns the cause for the contexts of handlers when their connection or session ends because of reason. A
// client that is still connected gets ErrStopping.
func endCause(reason error) error {
	if reason = EndReason(reason); reason == ErrStopping {
		return reason
	}
	return rpc.Fail(ErrStopping, reason)
}

// Interruption returns the cause of ctx if ctx had ended before the handler failed, because then the end of ctx counts
// as the reason of the failure. Otherwise it returns nil.
func Interruption(ctx context.Context, failed bool) error {
	if !failed || ctx.Err() == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != context.DeadlineExceeded {
		return cause
	}
	return rpc.ErrTimeLimit // deadline of a middleware around the HTTP handler
}

// WithoutAnswer describes the end of a request that gets no answer because of why.
func WithoutAnswer(why error) instrument.Result {
	return Interrupted(instrument.Result{ErrorType: names.ErrorCancelled, Err: why, CallerLeft: true}, why)
}

// refusalReason returns the reason label for an error with which the server refuses a request. The label is empty if
// the request itself is wrong.
func refusalReason(err error) string {
	if e, _ := errors.AsType[*mcp.Error](err); e == web.ErrStore {
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

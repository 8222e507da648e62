package mcpclient

import (
	"errors"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrorKind classifies an error, with the values of the published telemetry schema.
type ErrorKind string

const (
	// KindTransport: the connection was lost ([ErrConnectionLost]), the transport or the server was busy
	// ([ErrBackpressure]), the server requires an authorization that the client does not have ([ErrUnauthorized]), or HTTP
	// failed without an answer of the server.
	KindTransport = ErrorKind(conn.KindTransport)
	// KindProtocol: the server's answer violates the protocol or has the wrong structure.
	KindProtocol = ErrorKind(conn.KindProtocol)
	// KindJSONRPC: the server answered with an error, which is in [Error.Server].
	KindJSONRPC = ErrorKind(conn.KindJSONRPC)
	// KindState: the operation is impossible in the client's present state or with the server's capabilities.
	KindState = ErrorKind(conn.KindState)
	// KindTimeout: no answer within the timeout.
	KindTimeout = ErrorKind(conn.KindTimeout)
	// KindCancelled: the caller's context ended first, or the server cancelled the task ([ErrTaskCancelled]).
	KindCancelled = ErrorKind(conn.KindCancelled)
	// KindShutdown: the client was closed or has given up.
	KindShutdown = ErrorKind(conn.KindShutdown)
	// KindInvalid: the client cannot send the caller's values, or a handler of the client failed to provide input for the
	// call.
	KindInvalid = ErrorKind(conn.KindInvalid)
)

// Conditions to test with [errors.Is]. An error wraps only the conditions that apply to it.
var (
	ErrNotReady       = conn.ErrNotReady
	ErrConnectionLost = conn.ErrConnectionLost
	ErrBackpressure   = conn.ErrBackpressure
	ErrTimeout        = error(conn.ErrTimeout)
	ErrShutdown       = conn.ErrShutdown
	ErrUnauthorized   = conn.ErrUnauthorized
	ErrUnsupported    = errors.New("not supported by the server")
	ErrListCutShort   = errors.New("the list is incomplete, because its cursors cannot be followed")
	ErrToolChanged    = errors.New("the tool has changed, and the change was not accepted") // see [UseDriftDetection]
)

// Error is the type of all errors that operations of a [Client] return.
type Error struct {
	Kind ErrorKind
	Op   string // the method, or the operation of the client

	// Server is the server's error: code, message, data. It is set only for [KindJSONRPC]. [errors.As] finds it too, and
	// [errors.Is] matches it with [mcp.ErrMethodNotFound] and similar errors.
	Server *mcp.Error

	// Unsent is true only if the server certainly did not act on the request; see [SafeToRetry].
	Unsent bool

	// TaskID is the ID of the task of the failed call; empty for none. [Client.ResumeTask] continues the task unless it
	// has ended. The ID may grant access to the task's result, so the text of the error omits it.
	TaskID string

	cause error
}

// Error describes the failure and, if it is not obvious, the remedy, for example "tools/call: no answer within 1s;
// raise the limit with WithTimeout or Options.RequestTimeout".
func (e *Error) Error() string { return e.fault().Error() }

// Unwrap returns the server's error, or the condition that ended the operation.
func (e *Error) Unwrap() error { return e.fault().Unwrap() }

// Is reports whether the server's error implies target, such as [ErrTaskUnknown].
func (e *Error) Is(target error) bool { return e.Server != nil && errors.Is(e.cause, target) }

// ErrorType returns the attribute error.type: the server's error code, the HTTP status if there was no JSON-RPC answer,
// or a word from a small closed set.
func (e *Error) ErrorType() string { return e.fault().ErrorType() }

func (e *Error) fault() *conn.Fault {
	return &conn.Fault{Kind: conn.FaultKind(e.Kind), Op: e.Op, Server: e.Server, Unsent: e.Unsent, Cause: e.cause}
}

// errorOf converts a fault to an Error, and nil to nil.
func errorOf(f *conn.Fault) *Error {
	if f == nil {
		return nil
	}
	return &Error{Kind: ErrorKind(f.Kind), Op: f.Op, Server: f.Server, Unsent: f.Unsent, cause: f.Cause}
}

// SafeToRetry reports whether the server certainly did not act on the request of err, so that a retry cannot make the
// server act twice. There are two cases: the client never sent the request completely, or the server rejected it
// unread. These rejections count:
//
//   - status 401 or 429
//   - status 403 with a challenge or a JSON-RPC error
//   - status 503 with Retry-After or a JSON-RPC error
//   - the session is unknown
//   - the stream was refused in HTTP/2
//
// The client trusts these answers. Other statuses prove nothing, because a proxy may answer 502, 503 or 504 after the
// server has acted; a broken connection proves nothing either. Once the server may have seen one attempt of a call, no
// later error of that call is safe to retry. False means that the outcome is unknown, not that a retry is harmful.
func SafeToRetry(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Unsent
}

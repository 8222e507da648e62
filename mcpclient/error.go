package mcpclient

import (
	"errors"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrorKind says what went wrong, in the words of the published schema.
type ErrorKind string

const (
	// KindTransport: the connection was lost ([ErrConnectionLost]), it or the server took no more ([ErrBackpressure]), the
	// server wants an authorization that cannot be had ([ErrUnauthorized]), or HTTP answered instead of the server.
	KindTransport = ErrorKind(conn.KindTransport)
	// KindProtocol: the server's answer breaks the protocol, or is of the wrong shape.
	KindProtocol = ErrorKind(conn.KindProtocol)
	// KindJSONRPC: the server answered with an error, in [Error.Server].
	KindJSONRPC = ErrorKind(conn.KindJSONRPC)
	// KindState: the operation is not possible in the client's present state, or with what the server declared.
	KindState = ErrorKind(conn.KindState)
	// KindTimeout: no answer within the timeout.
	KindTimeout = ErrorKind(conn.KindTimeout)
	// KindCancelled: the caller's context ended first, or the server has cancelled the task ([ErrTaskCancelled]).
	KindCancelled = ErrorKind(conn.KindCancelled)
	// KindShutdown: the client was stopped, or has given up for good.
	KindShutdown = ErrorKind(conn.KindShutdown)
	// KindInvalid: what the caller passed cannot be sent, or a handler of the client's failed to give what the server
	// needs for the call.
	KindInvalid = ErrorKind(conn.KindInvalid)
)

// Conditions to test with [errors.Is]. Each is in the chain of the errors it names and of no other.
var (
	ErrNotReady       = conn.ErrNotReady
	ErrConnectionLost = conn.ErrConnectionLost
	ErrBackpressure   = conn.ErrBackpressure
	ErrTimeout        = error(conn.ErrTimeout)
	ErrShutdown       = conn.ErrShutdown
	ErrUnauthorized   = conn.ErrUnauthorized
	ErrUnsupported    = errors.New("not supported by the server")
	ErrListCutShort   = errors.New("the list is cut short by its cursors")
	ErrToolChanged    = errors.New("the tool has changed, and the change is not accepted") // see [UseDriftDetection]
)

// Error is the one type of error that operations of a [Client] return.
type Error struct {
	Kind ErrorKind
	Op   string // the method, or what the client was doing

	// Server is what the server said: code, message, data. Set for [KindJSONRPC] only; also found by errors.As, and by
	// errors.Is with [mcp.ErrMethodNotFound] and its kin.
	Server *mcp.Error

	// Unsent is true only if the server cannot have acted on the request; see [SafeToRetry].
	Unsent bool

	// TaskID is the task that the error is about, empty for none: [Client.ResumeTask] goes on with it unless it has ended.
	// It can be all it takes to see what the task brings, so the error's text does not have it.
	TaskID string

	cause error
}

// Error says what went wrong and, where that is not plain, what to do about it: "tools/call: no answer within 1s;
// WithTimeout or Options.RequestTimeout gives it longer".
func (e *Error) Error() string { return e.fault().Error() }

// Unwrap returns the server's error, or the condition that ended the operation.
func (e *Error) Unwrap() error { return e.fault().Unwrap() }

// Is finds the condition that an error of the server stands for, such as [ErrTaskUnknown].
func (e *Error) Is(target error) bool { return e.Server != nil && errors.Is(e.cause, target) }

// ErrorType is the value of the attribute error.type: the server's code, the status if only HTTP answered, or one word
// of a small closed set.
func (e *Error) ErrorType() string { return e.fault().ErrorType() }

func (e *Error) fault() *conn.Fault {
	return &conn.Fault{Kind: conn.FaultKind(e.Kind), Op: e.Op, Server: e.Server, Unsent: e.Unsent, Cause: e.cause}
}

// errorOf returns what users see of a fault, nil for nil.
func errorOf(f *conn.Fault) *Error {
	if f == nil {
		return nil
	}
	return &Error{Kind: ErrorKind(f.Kind), Op: f.Op, Server: f.Server, Unsent: f.Unsent, cause: f.Cause}
}

// SafeToRetry reports whether err comes from a request on which the server cannot have acted: sending it again cannot
// make the server act twice. Either part of it never left, or HTTP says that it was refused unread: with 401, with 429,
// with a 403 that has a challenge or a JSON-RPC error, with a 503 that has Retry-After or a JSON-RPC error, with an
// unknown session, or by refusing the stream in HTTP/2. That word is taken for true. No other status proves anything,
// for a proxy may answer 502, 503 or 504 after the server has acted; nor does a connection that is cut. Once one try of
// a call may have been seen, no later error of that call is safe to retry. False means unknown, not harmful.
func SafeToRetry(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Unsent
}

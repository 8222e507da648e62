package mcpclient

import (
	"context"
	"errors"
	"strconv"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// fault is why the core could not do what it was asked to. Users see it as an [Error].
type fault struct {
	Kind   faultKind
	Op     string // the method, or what was being done
	Server *mcp.Error
	Unsent bool // the server cannot have acted on it
	Cause  error
}

// faultKind says what went wrong, in the words of the published schema. Their meaning is that of [Kind].
type faultKind string

const (
	kindTransport faultKind = "transport"
	kindProtocol  faultKind = "protocol"
	kindJSONRPC   faultKind = "jsonrpc"
	kindState     faultKind = "state"
	kindTimeout   faultKind = "timeout"
	kindCancelled faultKind = "cancelled"
	kindShutdown  faultKind = "shutdown"
	kindInvalid   faultKind = "invalid"
)

// Conditions in the chain of a fault.
var (
	errNotReady       = errors.New("client is not ready")
	errConnectionLost = errors.New("connection lost")
	errBackpressure   = errors.New("transport busy")
	errTimeout        = timeoutError{}
	errShutdown       = errors.New("client is shut down")
	errUnauthorized   = errors.New("not authorized")
)

// timeoutError makes a timeout look like one in the ways of net and context.
type timeoutError struct{}

func (timeoutError) Error() string        { return "no answer in time" }
func (timeoutError) Timeout() bool        { return true }
func (timeoutError) Temporary() bool      { return true } // without it, it is no net.Error
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

func (f *fault) Error() string {
	text := string(f.Kind)
	switch {
	case f.Server != nil:
		text = "server error " + strconv.FormatInt(f.Server.Code, 10) + ": " + f.Server.Message
	case f.Cause != nil:
		text += ": " + f.Cause.Error()
	}
	if f.Op == "" {
		return text
	}
	return f.Op + ": " + text
}

func (f *fault) Unwrap() error {
	if f.Server != nil {
		return f.Server
	}
	return f.Cause
}

// ErrorType is the value of the attribute error.type: the server's code, the status if only HTTP answered, or one word
// of a small closed set.
func (f *fault) ErrorType() string {
	if f.Server != nil {
		return strconv.FormatInt(f.Server.Code, 10)
	}
	switch f.Kind {
	case kindTransport:
		switch status := httpStatus(f.Cause); {
		case errors.Is(f.Cause, errBackpressure):
			return "transport_busy"
		case errors.Is(f.Cause, errConnectionLost) || status == 0:
			return "connection_lost"
		default:
			return strconv.Itoa(status)
		}
	case kindProtocol:
		return "protocol_violation"
	case kindState:
		return "not_ready"
	case kindTimeout, kindCancelled, kindShutdown:
		return string(f.Kind)
	}
	return "_OTHER"
}

// httpStatus returns the status of the response that ended an operation, 0 if there was none.
func httpStatus(err error) int {
	if e, ok := errors.AsType[*transport.RequestError](err); ok {
		return e.Status
	}
	return 0
}

// result describes to the telemetry how an operation ended that came to f, nil for a success.
func (f *fault) result() instrument.Result {
	if f == nil {
		return instrument.Result{}
	}
	r := instrument.Result{ErrorType: f.ErrorType(), Kind: string(f.Kind), Err: f, CallerLeft: f.Kind == kindCancelled}
	if f.Server != nil {
		r.Code, r.HasCode, r.Message = f.Server.Code, true, f.Server.Message
	}
	return r
}

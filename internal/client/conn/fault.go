package conn

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Fault is an error of the core. Package mcpclient converts it to an Error for users.
type Fault struct {
	Kind   FaultKind
	Op     string // method, or name of the operation
	Server *mcp.Error
	Unsent bool // the server cannot have acted on the request
	Cause  error
}

// FaultKind classifies a fault, with the values of the published telemetry schema. ErrorKind of package mcpclient
// describes the kinds.
type FaultKind string

const (
	KindTransport FaultKind = "transport"
	KindProtocol  FaultKind = "protocol"
	KindJSONRPC   FaultKind = "jsonrpc"
	KindState     FaultKind = "state"
	KindTimeout   FaultKind = "timeout"
	KindCancelled FaultKind = "cancelled"
	KindShutdown  FaultKind = "shutdown"
	KindInvalid   FaultKind = "invalid"
)

// Conditions that a fault may wrap.
var (
	ErrNotReady       = errors.New("client is not ready")
	ErrConnectionLost = errors.New("connection lost")
	ErrBackpressure   = errors.New("transport busy")
	ErrTimeout        = timeoutError{}
	ErrShutdown       = errors.New("client is shut down")
	ErrUnauthorized   = errors.New("not authorized")
	errDraining       = fmt.Errorf("%w: the client refuses new operations, because Shutdown was called", ErrShutdown)
)

// Refusal is the cause of a fault of [KindState] if a feature of the client refused to send a request.
type Refusal struct {
	Word string // value of the attribute error.type
	Err  error
}

func (r *Refusal) Error() string { return r.Err.Error() }
func (r *Refusal) Unwrap() error { return r.Err }

// timeoutError is a timeout for the packages net and context.
type timeoutError struct{}

func (timeoutError) Error() string        { return "no answer in time" }
func (timeoutError) Timeout() bool        { return true }
func (timeoutError) Temporary() bool      { return true } // required by net.Error
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

func (f *Fault) Error() string {
	text := string(f.Kind)
	switch {
	case f.Server != nil:
		text = "server error " + strconv.FormatInt(f.Server.Code, 10) + ": " + f.Server.Message
	case f.Cause != nil:
		text = f.Cause.Error() // more specific than the kind
	}
	if f.Op == "" || f.Op == opAwait {
		return text
	}
	return f.Op + ": " + text
}

func (f *Fault) Unwrap() error {
	if f.Server != nil {
		return f.Server
	}
	return f.Cause
}

// ErrorType returns the attribute error.type: the server's error code, the HTTP status if there was no JSON-RPC answer,
// or a word from a small closed set.
func (f *Fault) ErrorType() string {
	if f.Server != nil {
		return strconv.FormatInt(f.Server.Code, 10)
	}
	switch f.Kind {
	case KindTransport:
		switch status := HTTPStatus(f.Cause); {
		case errors.Is(f.Cause, ErrBackpressure):
			return "transport_busy"
		case errors.Is(f.Cause, ErrConnectionLost) || status == 0:
			return "connection_lost"
		default:
			return strconv.Itoa(status)
		}
	case KindProtocol:
		return "protocol_violation"
	case KindState:
		if r, ok := errors.AsType[*Refusal](f.Cause); ok {
			return r.Word
		}
		return "not_ready"
	case KindTimeout, KindCancelled, KindShutdown:
		return string(f.Kind)
	}
	return "_OTHER"
}

// HTTPStatus returns the status of the HTTP response that ended an operation, or 0 if there was none.
func HTTPStatus(err error) int {
	if e, ok := errors.AsType[*transport.RequestError](err); ok {
		return e.Status
	}
	return 0
}

// Result describes the end of an operation for the telemetry. A nil f means success.
func (f *Fault) Result() instrument.Result {
	if f == nil {
		return instrument.Result{}
	}
	r := instrument.Result{ErrorType: f.ErrorType(), Kind: string(f.Kind), Err: f, Unsent: f.Unsent,
		CallerLeft: f.Kind == KindCancelled}
	if f.Server != nil {
		r.Code, r.HasCode, r.Message = f.Server.Code, true, f.Server.Message
	}
	return r
}

package rpc

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Errors with which the core answers requests.
var (
	ErrInternal = &mcp.Error{Code: mcp.CodeInternalError, Message: "internal error"}
	// ErrPanicked is the error of a handler that panicked or ended its goroutine. A log record has the details.
	ErrPanicked = &mcp.Error{Code: mcp.CodeInternalError, Message: "internal error"}
	ErrBusy     = &mcp.Error{Code: mcp.CodeInternalError, Message: "too many requests at once"} // limit of one client
	// ErrOverloaded means that all clients together have too many requests.
	ErrOverloaded = &mcp.Error{Code: mcp.CodeInternalError, Message: "too many requests at once"}
	// ErrTooOften means that one client exceeds a rate.
	ErrTooOften = &mcp.Error{Code: mcp.CodeInternalError,
		Message: "too many requests of this kind; try again later"}
	errDuplicateID = &mcp.Error{Code: mcp.CodeInvalidRequest,
		Message: "a request with this id is still being answered"}
)

// ErrTimeLimit is wrapped in the cause of a handler's context that exceeded a time limit of the server.
var ErrTimeLimit = errors.New("time limit of the server exceeded")

// Failure is an error that hides its cause from the client.
type Failure struct {
	Wire  *mcp.Error
	Cause error
}

// Fail returns a Failure with an error for the client and the hidden cause.
func Fail(wire *mcp.Error, cause error) *Failure { return &Failure{wire, cause} }

func (f *Failure) Error() string   { return f.Cause.Error() }
func (f *Failure) Unwrap() []error { return []error{f.Wire, f.Cause} }

// InvalidRequest returns an error with a message that the client sees in full.
func InvalidRequest(format string, args ...any) error {
	return Refusal(mcp.CodeInvalidRequest, format, args...)
}

// InvalidParams returns an error with a message that the client sees in full.
func InvalidParams(format string, args ...any) error {
	return Refusal(mcp.CodeInvalidParams, format, args...)
}

// Refusal returns an error with a message that the client sees in full.
func Refusal(code int64, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return Fail(&mcp.Error{Code: code, Message: err.Error()}, err)
}

// WireError returns the error that the client sees: an [*mcp.Error] in err, or ErrInternal.
func WireError(err error) *mcp.Error {
	if e, ok := errors.AsType[*mcp.Error](err); ok {
		return e
	}
	return ErrInternal
}

// CauseOf returns the error of a handler. If err is the error of ctx, which has ended, CauseOf returns the cause of
// ctx.
func CauseOf(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}

// ResultOf describes the end of an operation with an error for telemetry. A nil error describes success.
func ResultOf(err error) instrument.Result {
	if err == nil {
		return instrument.Result{}
	}
	e := WireError(err)
	return instrument.Result{Code: e.Code, HasCode: true, Message: e.Message, Err: err}
}

// AppendError appends an error response. It omits an id that is zero, and data that is not JSON.
func AppendError(dst []byte, id jsonrpc.ID, e *mcp.Error) []byte {
	w := &jsonrpc.WireError{Code: e.Code, Message: e.Message, Data: e.Data}
	frame, err := jsonrpc.AppendError(dst, id, w)
	if err != nil {
		w.Data = nil
		frame, _ = jsonrpc.AppendError(dst, id, w)
	}
	return frame
}

// MaxKept is the size of the largest buffer that the pool keeps, in bytes.
const MaxKept = 64 << 10

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// GetBuffer returns a buffer for an answer.
func GetBuffer() *[]byte { return buffers.Get().(*[]byte) }

// PutBuffer returns buf to the pool. frame was built in buf.
func PutBuffer(buf *[]byte, frame []byte) {
	if cap(frame) <= MaxKept {
		*buf = frame[:0]
		buffers.Put(buf)
	}
}

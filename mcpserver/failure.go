package mcpserver

import (
	"errors"
	"sync"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Errors with which the core answers requests.
var (
	errInternal = &mcp.Error{Code: mcp.CodeInternalError, Message: "internal error"}
	// errPanicked is the error of a handler that panicked or ended its goroutine, of which there is a record.
	errPanicked = &mcp.Error{Code: mcp.CodeInternalError, Message: "internal error"}
	errBusy     = &mcp.Error{Code: mcp.CodeInternalError, Message: "too many requests at once"} // of one client
	// errOverloaded is about the requests of all clients.
	errOverloaded  = &mcp.Error{Code: mcp.CodeInternalError, Message: "too many requests at once"}
	errDuplicateID = &mcp.Error{Code: mcp.CodeInvalidRequest,
		Message: "a request with this id is still being answered"}
)

// failure is an error for the client with a cause that is not for it.
type failure struct {
	wire  *mcp.Error
	cause error
}

func (f *failure) Error() string   { return f.cause.Error() }
func (f *failure) Unwrap() []error { return []error{f.wire, f.cause} }

// wireError returns what the client gets to see of an error: all of an [*mcp.Error], and of any other only that there
// is one.
func wireError(err error) *mcp.Error {
	if e, ok := errors.AsType[*mcp.Error](err); ok {
		return e
	}
	return errInternal
}

// failed describes for telemetry the end of an operation with err, nil for none.
func failed(err error) instrument.Result {
	if err == nil {
		return instrument.Result{}
	}
	e := wireError(err)
	return instrument.Result{Code: e.Code, HasCode: true, Message: e.Message, Err: err}
}

// appendError appends an error response, without an id for the zero one. Data that is no JSON is left out.
func appendError(dst []byte, id jsonrpc.ID, e *mcp.Error) []byte {
	w := &jsonrpc.WireError{Code: e.Code, Message: e.Message, Data: e.Data}
	frame, err := jsonrpc.AppendError(dst, id, w)
	if err != nil {
		w.Data = nil
		frame, _ = jsonrpc.AppendError(dst, id, w)
	}
	return frame
}

// maxKept is the largest buffer that is kept for the next answer.
const maxKept = 64 << 10

var buffers = sync.Pool{New: func() any { return new([]byte) }}

func takeBuffer() *[]byte { return buffers.Get().(*[]byte) }

// releaseBuffer gives a buffer back that has become frame.
func releaseBuffer(buf *[]byte, frame []byte) {
	if cap(frame) <= maxKept {
		*buf = frame[:0]
		buffers.Put(buf)
	}
}

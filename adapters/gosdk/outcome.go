package gosdk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

const resultInputRequired = "input_required"

// outcome returns the outcome of an operation with a result.
func outcome(result mcp.Result) instrument.Result {
	switch r := result.(type) {
	case *mcp.CallToolResult:
		if r != nil {
			return instrument.Result{ToolError: r.IsError, ResultType: resultType(r.NeedsInput())}
		}
	case *mcp.GetPromptResult:
		if r != nil {
			return instrument.Result{ResultType: resultType(r.NeedsInput())}
		}
	case *mcp.ReadResourceResult:
		if r != nil {
			return instrument.Result{ResultType: resultType(r.NeedsInput())}
		}
	}
	return instrument.Result{}
}

func resultType(needsInput bool) string {
	if needsInput {
		return resultInputRequired
	}
	return ""
}

// Codes of the SDK's own errors, which are not responses of the peer.
const (
	codeClientClosing = -32003
	codeServerClosing = -32004
	codeRejected      = -32005 // rejected by the transport
)

// failure returns the outcome of a message that this side failed to send.
func failure(ctx context.Context, method string, err error) instrument.Result {
	r := instrument.Result{Err: err}
	switch {
	case ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded):
		r.ErrorType = names.ErrorTimeout
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		r.ErrorType, r.CallerLeft = names.ErrorCancelled, true
	default:
		if refused := refusal(err); refused != nil {
			r.Code, r.HasCode, r.Message = refused.Code, true, refused.Message
			r.Expected = method == methodDiscover
			break
		}
		r.ErrorType = httpStatus(err)
		if isLost(err) {
			r.ErrorType = names.ErrorConnectionLost
		}
		r.Expected = method == methodDiscover
	}
	return r
}

// httpStatus returns the status that an HTTP server sent instead of a response; empty if err has none. The SDK puts
// only the text of the status into the error, at the end.
func httpStatus(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		return statuses[text[i+len(": "):]]
	}
	return ""
}

var statuses = func() map[string]string {
	m := map[string]string{}
	for code := 400; code < 600; code++ {
		if text := http.StatusText(code); text != "" {
			m[text] = strconv.Itoa(code)
		}
	}
	return m
}()

// refusal returns the error in the peer's response; nil without one. The SDK's own errors have the same type, and the
// error chain contains errors of both kinds if an HTTP server sent a response with an error status.
func refusal(err error) *jsonrpc.Error {
	if e, ok := err.(*jsonrpc.Error); ok && e.Code != codeClientClosing && e.Code != codeServerClosing &&
		e.Code != codeRejected {
		return e
	}
	switch u := err.(type) {
	case interface{ Unwrap() error }:
		if inner := u.Unwrap(); inner != nil {
			return refusal(inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range u.Unwrap() {
			if e := refusal(inner); e != nil {
				return e
			}
		}
	}
	return nil
}

// isLost reports whether err means that the connection is gone.
func isLost(err error) bool {
	for _, gone := range []error{
		mcp.ErrConnectionClosed, mcp.ErrSessionMissing, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, fs.ErrClosed,
		net.ErrClosed,
		syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNREFUSED,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	var e *jsonrpc.Error
	return errors.As(err, &e) && (e.Code == codeClientClosing || e.Code == codeServerClosing)
}

// handled returns the outcome of a request that this side has handled. An error without a code has the code 0 on the
// wire and here. The SDK answers cancelled requests as well, mostly with an error or with a tool error.
func handled(ctx context.Context, result mcp.Result, err error) instrument.Result {
	r := outcome(result)
	switch {
	case ctx.Err() != nil && (err != nil || r.ToolError):
		if cause := context.Cause(ctx); isLost(cause) {
			return instrument.Result{ErrorType: names.ErrorConnectionLost, Err: cause}
		}
		return instrument.Result{ErrorType: names.ErrorCancelled, Err: err, CallerLeft: true}
	case err == nil:
		return r
	}
	r = instrument.Result{HasCode: true, Message: err.Error(), Err: err}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		r.Code = e.Code
	}
	return r
}

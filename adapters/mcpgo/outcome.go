package mcpgo

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"regexp"
	"syscall"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// failure returns the outcome of a message that could not be sent, or was not answered in time.
func failure(ctx context.Context, err error) instrument.Result {
	r := instrument.Result{Err: err}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.ErrorType = names.ErrorTimeout
	case ctx.Err() != nil:
		r.ErrorType, r.CallerLeft = names.ErrorCancelled, true
	case isLost(err):
		r.ErrorType = names.ErrorConnectionLost
	default:
		r.ErrorType = httpStatus(err)
	}
	return r
}

// isLost reports whether err means that the connection, or the session, is gone.
func isLost(err error) bool {
	for _, gone := range []error{
		transport.ErrTransportClosed, transport.ErrSessionTerminated, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe,
		fs.ErrClosed,
		net.ErrClosed, syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNREFUSED,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

var status = regexp.MustCompile(`^request failed with status (\d{3}):`)

// httpStatus returns the status that an HTTP server sent instead of a response; empty if err has none. Except for 401,
// mcp-go puts only the text of the status into the error.
func httpStatus(err error) string {
	if errors.Is(err, transport.ErrAuthorizationRequired) || errors.Is(err, transport.ErrOAuthAuthorizationRequired) {
		return "401"
	}
	if m := status.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return ""
}

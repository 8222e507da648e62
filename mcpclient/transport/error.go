package transport

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
)

var (
	// ErrBusy is the error of [Conn.Send] when the outbound queue is full. Nothing was sent; a retry may succeed.
	ErrBusy = errors.New("transport is busy")

	// ErrClosed is wrapped by every error of [Conn.Send] after the connection was closed or the peer has gone. If
	// [Conn.Close] has ended the connection, every error of [Conn.Receive] wraps ErrClosed too.
	ErrClosed = errors.New("transport is closed")
)

// FrameTooLargeError ends a connection because the peer sent a frame above the limit. It has no Tail, because
// nothing after the limit is read. With [Config.SkipOversize] the error is a [*RequestError], which has both ends
// of the frame.
type FrameTooLargeError struct {
	Size  int    // in bytes, as far as the frame was read: at least Limit+1
	Limit int    // in bytes
	Head  []byte // the beginning of the frame; may be shortened
}

// Error states the size of the frame, as far as it was read, and the limit.
func (e *FrameTooLargeError) Error() string {
	return fmt.Sprintf("a message of at least %d bytes is over the limit of %d; raise it with Options.Limits.Frame",
		e.Size, e.Limit)
}

// ExitError reports that the server process has ended, and how. Exit status zero is an ExitError too, because the
// connection is over.
type ExitError struct {
	PID    int
	Code   int      // exit status; -1 if a signal ended the process, or if the status is unknown
	Signal string   // the signal that ended the process, such as SIGKILL; empty if none
	Stderr []string // the last lines of standard error, at most 20 lines of at most 1 KiB, the latest last
}

// Error names the process, its status and its last line of standard error.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("process %d exited with status %d", e.PID, e.Code)
	switch {
	case e.Signal != "":
		text = fmt.Sprintf("process %d was ended by %s", e.PID, e.Signal)
	case e.Code < 0:
		text = fmt.Sprintf("process %d ended with unknown status", e.PID)
	}
	if n := len(e.Stderr); n > 0 {
		text += fmt.Sprintf("; its last output: %q", e.Stderr[n-1])
	}
	return text
}

// Permanent reports whether another [Transport.Dial] will return the same error. If an error in the chain of err has a
// method Permanent() bool, that method decides. Otherwise Permanent reports whether the executable does not exist or
// may not be executed.
func Permanent(err error) bool {
	type judge interface {
		error
		Permanent() bool
	}
	if j, ok := errors.AsType[judge](err); ok {
		return j.Permanent()
	}
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// permanentError marks the wrapped error as permanent.
type permanentError struct{ error }

func (e permanentError) Permanent() bool { return true }
func (e permanentError) Unwrap() error   { return e.error }

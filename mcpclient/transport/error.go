package transport

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
)

var (
	// ErrBusy is what [Conn.Send] returns when its outbound space is full. Nothing has been sent; a later try may succeed.
	ErrBusy = errors.New("transport is busy")

	// ErrClosed is in every error that says a connection can carry nothing any more, because it was closed or because the
	// peer is gone.
	ErrClosed = errors.New("transport is closed")
)

// FrameTooLargeError ends a connection: the peer sent a frame over the limit. It has no Tail, since nothing behind the
// limit is read; a frame that [Config.SkipOversize] skips is a [*RequestError], which has both.
type FrameTooLargeError struct {
	Size  int    // in bytes, as far as the frame was seen: at least Limit+1
	Limit int    // in bytes
	Head  []byte // its beginning, as much as was kept
}

// Error says how large the frame is, as far as it was read, and how large it may be.
func (e *FrameTooLargeError) Error() string {
	return fmt.Sprintf("a message of at least %d bytes is over the limit of %d; Options.FrameLimit raises it",
		e.Size, e.Limit)
}

// ExitError says that the server's process has ended, and how. An exit status of zero is an ExitError too: the
// connection is over.
type ExitError struct {
	PID    int
	Code   int      // the exit status; -1 if a signal ended the process, or if the status could not be had
	Signal string   // the signal that ended the process, such as SIGKILL; empty if none did
	Stderr []string // the last lines of its standard error, 20 at most and each cut after 1 KiB, the latest last
}

// Error names the process, its status and the last line it wrote to its standard error.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("process %d exited with status %d", e.PID, e.Code)
	switch {
	case e.Signal != "":
		text = fmt.Sprintf("process %d was ended by %s", e.PID, e.Signal)
	case e.Code < 0:
		text = fmt.Sprintf("process %d ended with unknown status", e.PID)
	}
	if n := len(e.Stderr); n > 0 {
		text += fmt.Sprintf("; its last words: %q", e.Stderr[n-1])
	}
	return text
}

// Permanent reports whether err, which [Transport.Dial] returned, will be the same the next time: the executable does
// not exist or must not be executed, or an error in its chain has a method Permanent() bool that says so. That method
// decides where there is one.
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

// permanentError marks the error in it as permanent.
type permanentError struct{ error }

func (e permanentError) Permanent() bool { return true }
func (e permanentError) Unwrap() error   { return e.error }

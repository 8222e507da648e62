package transport

import "errors"

// ErrInterrupted is the error of a Receive that was interrupted. See [Interruptible].
var ErrInterrupted = errors.New("receive was interrupted")

// Interruptible is implemented by a [Conn] whose Receive can be interrupted at little cost, and on which all that the
// server sends comes by Receive, on one stream. A client may then receive in the goroutine of the caller who waits for
// the answer, as long as there is only one, instead of handing the answer over from another goroutine. [Stdio] has such
// connections, but not on Windows.
type Interruptible interface {
	Conn

	// Interrupter returns a function that has the Receive that waits, or else the next one that would wait, return
	// [ErrInterrupted]; what has been received of a frame is kept for the Receive behind that. It may be called from any
	// goroutine and at any time, never blocks, and does nothing once the connection is over. Several calls before a
	// Receive returns are one. Interrupter returns nil if the connection cannot be interrupted on this system.
	Interrupter() (interrupt func())
}

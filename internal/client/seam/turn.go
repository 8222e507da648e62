package seam

import "errors"

// ErrInterrupted is the error of a Receive that was interrupted. See [Interruptible].
var ErrInterrupted = errors.New("receive was interrupted")

// Interruptible is implemented by a Conn whose Receive can be interrupted at little cost, and on which all that the
// server sends comes by Receive, on one stream. The core then lends its turn to receive to the caller that waits for an
// answer, as long as there is only one, and the answer need not be handed from one goroutine to another. Connections of
// Stdio have it, but not on Windows.
//
//	who receives       what ends that                        then
//	the connection     a caller that has called in a row     the caller
//	a caller           its answer                            the caller of the next call, or after 2 ms the connection
//	a caller           its end, another caller, Stop: an     the connection
//	                   interruption
//
// Without it, a call of 200 bytes by one caller takes 1.7 to 2.0 times as long (2 cores, 2026-11); calls of 64 callers
// take the same.
type Interruptible interface {
	// Interrupter returns a function that has the Receive that waits, or else the next one that would wait, return
	// [ErrInterrupted]; what has been received of a frame is kept for the Receive behind that. It may be called from any
	// goroutine and at any time, never blocks, and does nothing once the connection is over. Several calls before a
	// Receive returns are one. Interrupter returns nil if the connection cannot be interrupted on this system.
	Interrupter() (interrupt func())
}

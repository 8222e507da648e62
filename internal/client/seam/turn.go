package seam

import "errors"

// ErrInterrupted is the error of a Receive that was interrupted. See [Interruptible].
var ErrInterrupted = errors.New("receive was interrupted")

// Interruptible is implemented by a Conn whose Receive can be interrupted cheaply, and that delivers all messages of
// the server through Receive, on one stream. The core then lets the only waiting caller receive its own answer, so the
// answer need not pass from one goroutine to another. Connections of Stdio implement it, except on Windows.
//
//	receiver           ends when                             next receiver
//	the connection     a caller has made several calls in    the caller
//	                   a row
//	a caller           its answer arrives                    the caller of the next call, or the connection after 2 ms
//	a caller           it gives up, another caller arrives,  the connection
//	                   or Stop is called: each interrupts Receive
//
// Without Interruptible, a call of 200 bytes by one caller takes 1.7 to 2.0 times as long (2 cores, 2026-11); calls of
// 64 callers take the same time.
type Interruptible interface {
	// Interrupter returns a function that makes the waiting Receive return [ErrInterrupted]. If no Receive waits, the next
	// Receive that would wait returns it. The next Receive after that continues a partly received frame. The function may
	// be called from any goroutine at any time, never blocks, and has no effect once the connection has ended. Several
	// calls before a Receive returns count as one. Interrupter returns nil if the connection cannot be interrupted on this
	// system.
	Interrupter() (interrupt func())
}

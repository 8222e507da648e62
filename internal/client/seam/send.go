package seam

import "context"

// Sender is implemented by a Conn on which each request has its own stream, so that the Conn knows when an answer is
// complete. The goroutine that received the answer then passes it directly to the caller, without Receive and without
// the goroutine that waits in Receive. HTTP connections implement it.
//
//	the answer                                   goes to
//	a complete body, for a request in flight     answer, in the receiving goroutine
//	the first message on the request's stream    the same
//	a later message on a stream                  Receive: it must not overtake earlier messages
//	an answer that the callback refuses          Receive
//
// Without Sender, a call of 200 bytes takes 3 to 6 % longer, with one caller and with 64, and two to four more
// allocations (2 cores, 2026-11). Running the exchange in the caller's goroutine gained another 2 % with 64 callers,
// but lost 5 to 9 % with one caller, so it was removed.
type Sender[Message, Frame any] interface {
	// SendFor sends a request as Send does. answer, if not nil, is called with the frame of a complete answer, in any
	// goroutine. answer reports whether it accepts the frame; otherwise Receive delivers the frame. answer must return
	// quickly.
	SendFor(ctx context.Context, m Message, answer func(Frame) bool) error
}

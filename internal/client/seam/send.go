package seam

import "context"

// Sender is implemented by a Conn on which each request has its own stream, so that the Conn knows when an answer
// is complete. The goroutine that has received the answer then passes it directly to the caller, without Receive
// and the goroutine that waits there. Connections of HTTP implement it.
//
//	the answer                                   goes to
//	a complete body, for a request in flight     answer, in the receiving goroutine
//	the first message on the request's stream    the same
//	a later message on a stream                  Receive: it must not overtake earlier messages
//	an answer that the callback refuses          Receive
//
// Without it, a call of 200 bytes takes 3 to 6 % longer, with one caller and with 64, and two to four more allocations
// (2 cores, 2026-11). Running the exchange in the caller's goroutine gained another 2 % with 64 callers, but with one
// caller it lost 5 to 9 %, so it was removed.
type Sender[Message, Frame any] interface {
	// SendFor sends a request like Send. answer, if not nil, is called with the frame of a complete answer, in any
	// goroutine, and reports whether it accepts the frame; if not, Receive delivers it. answer must return quickly.
	SendFor(ctx context.Context, m Message, answer func(Frame) bool) error
}

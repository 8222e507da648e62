package seam

import "context"

// Sender is implemented by a Conn on which a request has a stream of its own, and which so knows what is all of an
// answer. The goroutine that has received it then gives it to its caller, past Receive and the goroutine that waits
// there. Connections of HTTP have it.
//
//	the answer                                  is taken by
//	a text by itself, for a request in flight   answer, in the goroutine that has it
//	the first message on the request's stream   the same
//	one behind other messages on a stream       Receive: it must not overtake them
//	one that answer does not take               Receive
//
// Without it, a call of 200 bytes takes 3 to 6 % longer, with one caller and with 64, and two to four allocations more
// (2 cores, 2026-11). To do the exchange in the goroutine of the caller as well gained 2 % with 64 callers and lost 5
// to 9 % with one, so that was taken out.
type Sender[Message, Frame any] interface {
	// SendFor is Send for a request. answer, if it is not nil, is offered the frame that is all of the answer, in whatever
	// goroutine has it, and reports whether it has taken that; if not, Receive gets it. It must be quick.
	SendFor(ctx context.Context, m Message, answer func(Frame) bool) error
}

package seam

import "errors"

// ErrResting is what [Rester.ReceiveOrRest] returns instead of waiting for what will not come.
var ErrResting = errors.New("the connection has nothing to deliver")

// Rester is implemented by a Conn that often has nothing to deliver by itself, and knows when. A client that makes no
// calls then has no goroutine that waits, and not its stack. Connections of HTTP have it.
//
//	state       entered when                                         a goroutine receives
//	receiving   a request is on its way, or a stream is open         yes
//	resting     the last of them has ended, and all was received     no
//
// Without it, an idle client takes 12 to 15 KiB instead of 5 to 7 (1,000 and 10,000 clients, 2026-11).
type Rester[Frame any] interface {
	// ReceiveOrRest is Receive with a ctx that cannot end. But as long as nothing is expected, it does not wait: it
	// returns [ErrResting], and wake is called, once, when there is something to receive, which may be the end of the
	// connection. Until then no goroutine need receive.
	//
	// wake may be called from any goroutine, and before ReceiveOrRest has returned. It must be quick and call no method of
	// the connection; that is for a goroutine it starts.
	ReceiveOrRest(wake func()) (Frame, error)
}

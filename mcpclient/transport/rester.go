package transport

import "errors"

// ErrResting is what [Rester.ReceiveOrRest] returns instead of waiting for what will not come.
var ErrResting = errors.New("the connection has nothing to deliver")

// A Rester is a [Conn] that often has nothing to deliver by itself, and knows when. A client that makes no calls then
// has no goroutine that waits, and not its stack. [HTTP] has such connections.
type Rester interface {
	Conn

	// ReceiveOrRest is Receive with a ctx that cannot end. But as long as nothing is expected, it does not wait: it
	// returns [ErrResting], and wake is called, once, when there is something to receive, which may be the end of the
	// connection. Until then no goroutine need receive.
	//
	// wake may be called from any goroutine, and before ReceiveOrRest has returned. It must be quick and call no method of
	// the connection; that is for a goroutine it starts.
	ReceiveOrRest(wake func()) (Frame, error)
}

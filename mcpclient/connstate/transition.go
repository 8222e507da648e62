package connstate

import "time"

// Transition is the record of one move of the connection from a state to the next.
//
// From and To differ, with one exception: the end of a connection is recorded as a move from Closing to Closing with
// the reason [ReasonTransportClosed] or [ReasonCloseTimeout], because no state follows. Entering the first state,
// Starting, is not recorded.
type Transition struct {
	From, To State
	Reason   Reason

	// Attempt is the number of attempts to connect since the connection was last ready, counted from 1. On the move to
	// Ready, it is the number of the successful attempt. On the move from Ready to Backoff, it is 0.
	Attempt int

	// Epoch is the number of the connection or renegotiation in the life of the client, counted from 1.
	Epoch uint64

	// Duration is the time spent in From.
	Duration time.Duration
}

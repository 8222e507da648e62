package connstate

import "time"

// Transition is the record of one move of the connection.
//
// From and To differ, with one exception: the end of a connection, after which no state follows, is recorded as a move
// from Closing to Closing with the reason [ReasonTransportClosed] or [ReasonCloseTimeout]. Entering the first state,
// Starting, is not recorded.
type Transition struct {
	From, To State
	Reason   Reason

	// Attempt counts the attempts to connect since the connection was last ready, starting with 1. On the move to Ready it
	// is the number of the successful attempt; on the move from Ready to Backoff it is 0.
	Attempt int

	// Epoch numbers the connections and renegotiations over the life of the client, starting with 1.
	Epoch uint64

	// Duration is the time spent in From.
	Duration time.Duration
}

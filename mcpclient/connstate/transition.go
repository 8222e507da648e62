package connstate

import "time"

// Transition is the record of one move of the connection.
//
// From and To differ, with one exception: the end of a connection, after which no state follows, is recorded as a move
// from Closing to Closing with the reason [TransportClosed] or [CloseTimeout]. The first state, Starting, is entered
// without a record.
type Transition struct {
	From, To State
	Reason   Reason

	// Attempt counts the attempts to connect since the connection was last ready: 1 is the first. On the move to Ready
	// it is the number of the attempt that succeeded; it is 0 when a ready connection moves to Backoff.
	Attempt int

	// Epoch numbers what the client opened or negotiated anew, from 1, over the life of the client.
	Epoch uint64

	// Duration is the time spent in From.
	Duration time.Duration
}

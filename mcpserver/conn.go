package mcpserver

import (
	"context"
	"fmt"
)

// Conn is one connection to a client, on which each message is a frame of its own: what [NewStreamConn] makes of two
// streams, the Peer of the client's in-memory transport, or anything else that carries messages both ways.
//
// Send and Close may be called from any goroutine, Receive from one at a time. A Conn that knows its network may have a
// method Network() [telemetry.Network] besides. One that knows whether more has come than Receive has returned may have
// a method Buffered() bool, which is called where Receive could be: if it returns false, a tool that has been quick so
// far is run before Receive is called again, for want of anything else to do.
type Conn interface {
	// Send accepts one frame of JSON without line breaks, and does not keep it. It may wait for the client, as long as
	// ctx allows.
	Send(ctx context.Context, frame []byte) error

	// Receive returns the next frame, which then belongs to the caller. At the end of what the client sends it returns
	// [io.EOF]; when ctx ends, its cause. A [*FrameTooLargeError] says that one frame was skipped, any other error that
	// the connection is over.
	Receive(ctx context.Context) ([]byte, error)

	// Close sends what has been accepted, as far as the client takes it without delay, and ends the connection.
	Close() error
}

// FrameTooLargeError is returned by [Conn.Receive] for a frame above the limit, which has been skipped.
type FrameTooLargeError struct {
	Size  int    // of the frame, in bytes
	Limit int    // in bytes
	Head  []byte // its beginning, as much as was kept
	Tail  []byte // its end, likewise
}

// Error says how large the frame is and how large it may be.
func (e *FrameTooLargeError) Error() string {
	return fmt.Sprintf("frame of %d bytes is above the limit of %d", e.Size, e.Limit)
}

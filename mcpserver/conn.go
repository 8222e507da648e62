package mcpserver

import (
	"context"
	"fmt"
)

// Conn is a connection to one client that carries messages in both directions, one message per frame. [NewStreamConn]
// makes a Conn from two streams; the Peer of a client's in-memory transport is another.
//
// Send and Close may be called from any goroutine, Receive from one goroutine at a time. A Conn may implement two
// optional methods. Network() [telemetry.Network] describes the network for telemetry. Buffered() bool reports whether
// Receive has a frame, or a part of one, at hand. The server calls Buffered from the goroutine that calls Receive. If
// it returns false, the server may run a tool that has been fast so far before it calls Receive again, since nothing
// else is waiting.
type Conn interface {
	// Send sends one frame, which is JSON without line breaks. Send does not keep the frame after it returns. It may block
	// until the client reads, at most until ctx ends.
	Send(ctx context.Context, frame []byte) error

	// Receive returns the next frame, which then belongs to the caller. It returns [io.EOF] after the client's last frame,
	// and the cause of ctx when ctx ends. A [*FrameTooLargeError] means that one frame was skipped; any other error means
	// that the connection has ended.
	Receive(ctx context.Context) ([]byte, error)

	// Close sends the accepted frames that the client reads without delay, and closes the connection.
	Close() error
}

// FrameTooLargeError is the error of [Conn.Receive] for a frame above the size limit. The frame has been skipped.
type FrameTooLargeError struct {
	Size  int    // size of the frame in bytes
	Limit int    // limit in bytes
	Head  []byte // beginning of the frame, as far as it was kept
	Tail  []byte // end of the frame, as far as it was kept
}

// Error returns a message with the size of the frame and the limit.
func (e *FrameTooLargeError) Error() string {
	return fmt.Sprintf("frame of %d bytes is above the limit of %d", e.Size, e.Limit)
}

package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/stdio"
)

// Serve serves one client over c until the client has sent its last message. Then Serve closes c and returns nil:
// handlers that still run have [Options.DrainTimeout] to finish, and the server sends their answers. If ctx ends,
// Serve ends the contexts of handlers at once, sends the answers that they still return, and returns the cause of ctx.
//
// When Serve returns, all its goroutines have ended, except for handlers that ignore the end of their context for a
// second; the error then contains the number of such handlers. Serve also waits until the log handler has accepted all
// records, at most for DrainTimeout or a second, whichever is longer. Calls that have become tasks belong to the
// server and continue, see [Server.Shutdown]. The contexts of handlers have the values of ctx.
func (s *Server) Serve(ctx context.Context, c Conn) error {
	return s.engine.Serve(ctx, c, func(ctx context.Context) ([]byte, error) {
		frame, err := c.Receive(ctx)
		if err == nil {
			return frame, nil
		}
		if large, ok := errors.AsType[*FrameTooLargeError](err); ok {
			return nil, (*rpc.FrameTooLargeError)(large)
		}
		return nil, err
	})
}

// ServeStdio serves the client on standard input and output, as [Server.Serve] does, and returns when standard input
// ends. A program may run only one ServeStdio at a time.
//
// Standard output carries only frames. On Linux, macOS and the BSDs, ServeStdio redirects all other output of the
// program and its children from standard output to standard error until it returns. If ctx ends during a read that
// cannot be interrupted, for example a read from a terminal, one goroutine still waits for input after ServeStdio has
// returned. (specification 2026-07-28, basic/transports/stdio)
func (s *Server) ServeStdio(ctx context.Context) error {
	in, out, restore, err := stdio.Streams()
	if err != nil {
		return fmt.Errorf("stdio: %w", err)
	}
	return errors.Join(s.Serve(ctx, NewStreamConn(in, out, s.cfg.Limits.Frame)), restore())
}

// Conn is a connection to one client that carries messages in both directions, one message per frame. [NewStreamConn]
// makes a Conn from two streams; the Peer of a client's in-memory transport is another Conn.
//
// Any goroutine may call Send and Close; only one goroutine at a time may call Receive. A Conn may implement two
// optional methods:
//
//   - Network() [telemetry.Network] describes the network for telemetry.
//   - Buffered() bool reports whether Receive has a frame, or a part of one, at hand. The server calls Buffered from the
//     goroutine that calls Receive. If Buffered returns false, the server may first run a tool whose calls have been fast
//     so far, because no message is waiting, and then call Receive again.
type Conn interface {
	// Send sends one frame, which is JSON without line breaks. Send does not keep the frame after it returns. Send may
	// block until the client reads, at most until ctx ends.
	Send(ctx context.Context, frame []byte) error

	// Receive returns the next frame, which then belongs to the caller. It returns [io.EOF] after the client's last
	// frame, and the cause of ctx when ctx ends. A [*FrameTooLargeError] means that Receive has skipped one frame; any
	// other error means that the connection has ended.
	Receive(ctx context.Context) ([]byte, error)

	// Close sends those accepted frames that the client reads without delay, and closes the connection.
	Close() error
}

// FrameTooLargeError is the error of [Conn.Receive] for a frame above the size limit. Receive has skipped the frame.
type FrameTooLargeError struct {
	Size  int    // size of the frame in bytes
	Limit int    // limit in bytes
	Head  []byte // beginning of the frame, up to the size that the connection keeps
	Tail  []byte // end of the frame, up to the size that the connection keeps
}

// Error returns a message with the size of the frame and the limit.
func (e *FrameTooLargeError) Error() string {
	return fmt.Sprintf("frame of %d bytes is above the limit of %d", e.Size, e.Limit)
}

package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/stdio"
)

// Serve serves one client over c until the client has sent its last message. Then Serve closes c and returns nil:
// handlers that still run have [Options.DrainTimeout] to finish, and the server sends their answers. If ctx ends, Serve
// ends the contexts of handlers at once, sends the answers that they still return, and returns the cause of ctx.
//
// When Serve returns, all its goroutines have ended, unless a handler ignores the end of its context for a second; then
// the error has the number of such handlers. The log records are written, if the log handler accepts them within
// DrainTimeout, or a second. Calls that have become tasks belong to the server and continue, see [Server.Shutdown]. The
// contexts of handlers have the values of ctx.
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
// ends. A program may run one ServeStdio at a time.
//
// Standard output carries only frames: on Linux, macOS and the BSDs, all other output of the program and its children
// to standard output goes to standard error until ServeStdio returns. If ctx ends and reading cannot be interrupted, as
// from a terminal, one goroutine waits for more input after ServeStdio has returned.
// (specification 2026-07-28, basic/transports/stdio)
func (s *Server) ServeStdio(ctx context.Context) error {
	in, out, restore, err := stdio.Streams()
	if err != nil {
		return fmt.Errorf("stdio: %w", err)
	}
	return errors.Join(s.Serve(ctx, NewStreamConn(in, out, s.cfg.FrameLimit)), restore())
}

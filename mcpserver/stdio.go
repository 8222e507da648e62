package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ServeStdio answers the client at the other end of standard input and output, as [Server.Serve] does, and returns when
// standard input ends. One at a time may run in a program.
//
// Standard output carries nothing but frames: on Linux, macOS and the BSDs, whatever else the program and its children
// write to it goes to standard error until ServeStdio returns. Where reading cannot be interrupted, as from a terminal,
// one goroutine waits for more input after ServeStdio has returned because ctx ended.
// (specification 2026-07-28, basic/transports/stdio)
func (s *Server) ServeStdio(ctx context.Context) error {
	in, out, restore, err := standardStreams()
	if err != nil {
		return fmt.Errorf("stdio: %w", err)
	}
	return errors.Join(s.Serve(ctx, NewStreamConn(in, out, s.cfg.FrameLimit)), restore())
}

// interruptible returns a reader of r whose Close ends a Read that waits.
func interruptible(r io.ReadCloser) io.ReadCloser {
	read, write := io.Pipe()
	go func() { // ends with r, or with the first input after read was closed
		_, err := io.Copy(write, r)
		_ = write.CloseWithError(errors.Join(err, r.Close()))
	}()
	return read
}

package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ServeStdio serves the client on standard input and output, as [Server.Serve] does, and returns when standard input
// ends. A program may run one ServeStdio at a time.
//
// Standard output carries only frames: on Linux, macOS and the BSDs, all other output of the program and its children
// to standard output goes to standard error until ServeStdio returns. If ctx ends and reading cannot be interrupted, as
// from a terminal, one goroutine waits for more input after ServeStdio has returned.
// (specification 2026-07-28, basic/transports/stdio)
func (s *Server) ServeStdio(ctx context.Context) error {
	in, out, restore, err := standardStreams()
	if err != nil {
		return fmt.Errorf("stdio: %w", err)
	}
	return errors.Join(s.Serve(ctx, NewStreamConn(in, out, s.cfg.FrameLimit)), restore())
}

// interruptible returns a reader of r whose Close interrupts a waiting Read.
func interruptible(r io.ReadCloser) io.ReadCloser {
	read, write := io.Pipe()
	go func() { // ends with r, or with the first input after read was closed
		_, err := io.Copy(write, r)
		_ = write.CloseWithError(errors.Join(err, r.Close()))
	}()
	return read
}

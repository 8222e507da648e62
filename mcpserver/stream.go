package mcpserver

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/ndjson"
	"github.com/mcpotel/mcpotel/internal/oversize"
	"github.com/mcpotel/mcpotel/internal/server/engine"
)

// NewStreamConn returns a connection over a pair of streams, such as two pipes or the same socket twice. Each line is
// a frame. The connection skips frames of more than limit bytes; zero means [DefaultFrameLimit].
//
// Close closes both streams. When the context of Receive ends, the connection stops reading r: by a deadline if r
// supports it, otherwise by closing r.
// (specification 2026-07-28, basic/transports/stdio)
func NewStreamConn(r io.ReadCloser, w io.WriteCloser, limit int) Conn {
	if limit <= 0 {
		limit = DefaultFrameLimit
	}
	return &streamConn{
		r: r, w: w, network: networkOf(r),
		in: ndjson.NewReader(r, limit, true), out: ndjson.NewWriter(w, 0),
	}
}

type streamConn struct {
	r       io.ReadCloser
	w       io.WriteCloser
	network instrument.Network
	in      *ndjson.Reader
	out     *ndjson.Writer

	ctx  context.Context // context of the latest Receive; its end interrupts the read; owned by Receive
	stop func() bool     // stops watching ctx; owned by Receive
}

// Measure implements [engine.Measured].
func (c *streamConn) Measure(waited engine.Waited) (queued func() int) {
	c.out = ndjson.NewWriter(c.w, 0, ndjson.Waited(waited))
	return c.out.Queued
}

// Network returns the network of the connection.
func (c *streamConn) Network() instrument.Network { return c.network }

func networkOf(r io.Reader) instrument.Network {
	switch r := r.(type) {
	case net.Conn:
		switch n := r.LocalAddr().Network(); n {
		case "tcp", "unix":
			return instrument.Network{Transport: n}
		}
	case *os.File, *io.PipeReader:
		return instrument.Network{Transport: "pipe"}
	}
	return instrument.Network{}
}

func (c *streamConn) Send(ctx context.Context, frame []byte) error { return c.out.SendWait(ctx, frame) }

// SendParts is like Send, for a frame in parts. It does not copy the parts, so it returns only when the client has
// read them. If ctx ends earlier, the connection ends.
func (c *streamConn) SendParts(ctx context.Context, parts ...[]byte) error {
	stop := context.AfterFunc(ctx, func() {
		if d, ok := c.w.(interface{ SetWriteDeadline(time.Time) error }); !ok || d.SetWriteDeadline(time.Unix(1, 0)) != nil {
			_ = c.w.Close()
		}
	})
	defer stop()
	return c.out.SendParts(ctx, parts...)
}

func (c *streamConn) Receive(ctx context.Context) ([]byte, error) {
	c.watch(ctx)
	frame, err := c.in.Next()
	if err == nil {
		return frame, nil
	}
	if large, ok := errors.AsType[*oversize.Error](err); ok {
		return nil, &FrameTooLargeError{Size: large.Size, Limit: large.Limit, Head: large.Head, Tail: large.Tail}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, err
}

// Buffered reports whether the connection has read input that Receive has not returned.
func (c *streamConn) Buffered() bool { return c.in.Buffered() }

// watch interrupts the read when ctx ends. A repeated call with the same context costs nothing.
func (c *streamConn) watch(ctx context.Context) {
	if ctx == c.ctx {
		return
	}
	if c.stop != nil {
		c.stop()
	}
	c.ctx, c.stop = ctx, context.AfterFunc(ctx, c.interrupt)
}

func (c *streamConn) interrupt() {
	if d, ok := c.r.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
		return
	}
	_ = c.r.Close()
}

// flushTimeout is how long Close waits for the client to read accepted frames.
const flushTimeout = time.Second

func (c *streamConn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	_ = c.out.Flush(ctx) // the client loses the frames that it does not read
	_ = c.out.Close(ctx) // close out before the stream, which may be a socket for both directions
	return errors.Join(c.w.Close(), ignoreClosed(c.r.Close()))
}

// ignoreClosed ignores the error of a stream that interrupt has already closed, or that is the other half of a closed
// socket.
func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

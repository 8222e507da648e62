package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
)

// Transport is a connection to a client. See mcpserver.Conn.
type Transport interface {
	rpc.Conn
	Close() error
}

// Measured is a connection that measures how long frames wait in it before they are sent. Measure is called once,
// before anything is sent. After that, the connection calls waited for each frame, and queued returns the number of
// waiting frames.
type Measured interface {
	Measure(waited Waited) (queued func() int)
}

// Waited records how long a frame has waited. It is a named type so that only connections of this module are Measured.
type Waited func(time.Duration)

// maxWatchedAlone limits the memory in bytes for the watched URIs of a connection that is not over HTTP.
const maxWatchedAlone = 16 << 20

// Serve serves one client over t until receive returns an error. See mcpserver.Server.Serve. For a frame that it has
// skipped, receive returns a [*rpc.FrameTooLargeError].
func (s *Server) Serve(
	ctx context.Context, t Transport, receive func(context.Context) ([]byte, error),
) error {
	var network instrument.Network
	if n, ok := t.(interface{ Network() instrument.Network }); ok {
		network = n.Network()
	}
	p := &Peer{Rates: new(rates.Book), Watching: quota.NewMemory(maxWatchedAlone)}
	p.Observer = s.Observer(network)
	var queued func() int
	if m, ok := t.(Measured); ok && p.Tel != nil {
		queued = m.Measure(p.Tel.QueueWait)
	}
	ctx, quit := context.WithCancelCause(ctx)
	defer quit(nil)
	c, stop := s.open(ctx, p, &rpc.Pipe{Conn: t, Observer: p.Observer}, rpc.MaxSpare, queued)
	c.quit = quit
	c.Watch()
	end := c.X.Read(ctx, receive, bufferedOf(t), c.alive)
	err, lost := end.Err, end.Err != nil || end.Panicked != nil
	c.X.Asks.Close()
	if !lost { // a client that has closed its end may still read
		c.Role.Drain()
	}
	c.Role.Leave(context.Cause(ctx))
	stop(context.Cause(ctx))
	c.Because(err)
	left := c.close(lost && ctx.Err() == nil)
	var closed error
	if failed := s.Apart(ctx, "Conn.Close", func() { closed = t.Close() }); failed != nil {
		closed = failed
	}
	s.flush(ctx, p.Observer)
	if end.Panicked != nil {
		panic(end.Panicked) // the caller of Serve may recover from it
	}
	if err == nil && closed != nil {
		err = fmt.Errorf("close: %w", closed)
	}
	if left > 0 {
		err = errors.Join(err, fmt.Errorf("handlers still running although their contexts have ended: %d", left))
	}
	return err
}

// bufferedOf returns a function that reports whether t has read input that its Receive has not returned yet. bufferedOf
// returns nil if t cannot report this.
func bufferedOf(t Transport) func() bool {
	if b, ok := t.(interface{ Buffered() bool }); ok {
		return b.Buffered
	}
	return nil
}

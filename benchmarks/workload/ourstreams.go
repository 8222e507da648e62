package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/ndjson"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Streams returns a transport that can be dialled once: transport.Stdio without the process, with the same framing. The
// library reads unknown streams in additional goroutines, which would take most of an idle client's memory here.
func Streams(r io.ReadCloser, w io.WriteCloser) transport.Transport { return &streams{r, w} }

type streams struct {
	r io.ReadCloser
	w io.WriteCloser
}

func (s *streams) Name() string               { return "streams" }
func (s *streams) Network() transport.Network { return transport.Network{Transport: "pipe"} }

// Dial may be called only once.
func (s *streams) Dial(_ context.Context, cfg transport.Config) (transport.Conn, error) {
	limit := cfg.FrameLimit
	if limit <= 0 {
		limit = transport.DefaultFrameLimit
	}
	return &streamConn{
		streams: s, in: ndjson.NewReader(s.r, limit, cfg.SkipOversize),
		out: ndjson.NewWriter(s.w, 0, ndjson.Waited(cfg.QueueWait)),
	}, nil
}

type received struct {
	frame []byte
	err   error
}

type streamConn struct {
	*streams
	in     *ndjson.Reader
	out    *ndjson.Writer
	answer chan received // from the goroutine that reads; nil if there is none; owned by Receive
	close  sync.Once
	closed atomic.Bool
}

func (c *streamConn) Send(ctx context.Context, m transport.Message) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := c.out.Send(m.Data)
	switch {
	case errors.Is(err, ndjson.ErrBusy):
		return transport.ErrBusy
	case errors.Is(err, ndjson.ErrClosed):
		return fmt.Errorf("%w: %w", transport.ErrClosed, err)
	}
	return err
}

func (c *streamConn) Cancel(_ int64, notice transport.Message) {
	_ = c.Send(context.Background(), notice)
}

// Receive reads in the caller's goroutine if the caller's context has no end, and otherwise in another goroutine.
func (c *streamConn) Receive(ctx context.Context) (transport.Frame, error) {
	if ctx.Err() != nil {
		return transport.Frame{}, context.Cause(ctx)
	}
	if ctx.Done() == nil && c.answer == nil {
		frame, err := c.in.Next()
		return transport.Frame{Data: frame}, c.why(err)
	}
	if c.answer == nil {
		answer := make(chan received, 1)
		c.answer = answer
		go func() {
			frame, err := c.in.Next()
			answer <- received{frame, err}
		}()
	}
	select {
	case a := <-c.answer:
		c.answer = nil
		return transport.Frame{Data: a.frame}, c.why(a.err)
	case <-ctx.Done():
		return transport.Frame{}, context.Cause(ctx)
	}
}

func (c *streamConn) why(err error) error {
	if c.closed.Load() {
		return transport.ErrClosed
	}
	return err
}

func (c *streamConn) Close(ctx context.Context) (err error) {
	c.close.Do(func() {
		c.closed.Store(true)
		_ = c.out.Flush(ctx)
		_ = c.w.Close()
		_ = c.r.Close()
		err = c.out.Close(ctx)
	})
	return err
}

func (c *streamConn) Info() transport.Info { return transport.Info{Queued: c.out.Queued()} }

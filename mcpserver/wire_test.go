package mcpserver_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcpserver"
)

// wire is a connection in memory. It works in a bubble of testing/synctest.
type wire struct {
	in     chan received
	done   chan struct{} // closed by Close
	result chan error    // result of Serve

	mu   sync.Mutex
	out  []string
	hold chan struct{} // while hold is not nil, Send waits until hold is closed
}

type received struct {
	frame []byte
	err   error
}

// serve serves a new connection.
func serve(t *testing.T, ctx context.Context, s *mcpserver.Server) *wire {
	t.Helper()
	w := &wire{in: make(chan received, 1<<16), done: make(chan struct{}), result: make(chan error, 1)}
	go func() { w.result <- s.Serve(ctx, w) }()
	return w
}

func (w *wire) Send(ctx context.Context, frame []byte) error {
	frame = bytes.Clone(frame)
	w.mu.Lock()
	hold := w.hold
	w.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.done:
			return io.ErrClosedPipe
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = append(w.out, string(frame))
	return nil
}

func (w *wire) Receive(ctx context.Context) ([]byte, error) {
	select {
	case r, ok := <-w.in:
		if !ok {
			return nil, io.EOF
		}
		return r.frame, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (w *wire) Buffered() bool { return len(w.in) > 0 }

func (w *wire) Close() error {
	close(w.done)
	return nil
}

// send sends frames to the server, and waits until the server is idle.
func (w *wire) send(frames ...string) {
	for _, f := range frames {
		w.in <- received{frame: []byte(f)}
	}
	synctest.Wait()
}

// taken returns the frames that the server has sent since the last call.
func (w *wire) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.out
	w.out = nil
	return out
}

// block makes Send wait, as if the client did not read, until release is called.
func (w *wire) block() (release func()) {
	hold := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hold = hold
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.hold = nil
		close(hold)
	}
}

// finish ends the connection from the client's side, and returns the error of Serve.
func (w *wire) finish() error {
	close(w.in)
	return <-w.result
}

// steadyConn is a connection that reuses its frames, so the server must not keep them. It allocates nothing.
type steadyConn struct {
	requests chan []byte
	answers  chan struct{}
}

func (c *steadyConn) Send(context.Context, []byte) error {
	c.answers <- struct{}{}
	return nil
}

func (c *steadyConn) Receive(context.Context) ([]byte, error) {
	frame, ok := <-c.requests
	if !ok {
		return nil, io.EOF
	}
	return frame, nil
}

func (c *steadyConn) Close() error { return nil }

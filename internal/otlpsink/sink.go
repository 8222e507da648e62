package otlpsink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // OTEL_EXPORTER_OTLP_COMPRESSION=gzip
)

// maxMessage is the size of the largest export request that is taken, in bytes; the SDK's exporters send no larger one.
const maxMessage = 64 << 20

// ErrClosed is returned by [Sink.WaitFor] when the sink is closed before the condition is met.
var ErrClosed = errors.New("sink is closed")

// A Sink is a running receiver. All methods may be called from any goroutine.
type Sink struct {
	store    *store
	server   *grpc.Server
	listener *listener

	closed chan struct{} // closed when nothing can arrive any more
	once   sync.Once
	serve  sync.WaitGroup
}

// Listen starts a receiver at a loopback address, "host:port"; "" means a free port of 127.0.0.1. It runs until
// [Sink.Close].
func Listen(addr string) (*Sink, error) { return listen(addr, defaultLimit) }

func listen(addr string, limit int) (*Sink, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("otlpsink: %w", err)
	}
	if !tcp.IP.IsLoopback() {
		return nil, fmt.Errorf("otlpsink: %q is not on the loopback", addr)
	}
	port, err := net.ListenTCP("tcp", tcp)
	if err != nil {
		return nil, fmt.Errorf("otlpsink: %w", err)
	}
	s := &Sink{
		listener: &listener{Listener: port, open: make(map[*conn]struct{})},
		store:    newStore(limit),
		server:   grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.WaitForHandlers(true)),
		closed:   make(chan struct{}),
	}
	s.store.register(s.server)
	// Ends when Close stops the server; Close waits for it.
	s.serve.Go(func() { _ = s.server.Serve(s.listener) })
	return s, nil
}

// Endpoint is the address to export to, "host:port".
func (s *Sink) Endpoint() string { return s.listener.Addr().String() }

// Snapshot is everything received up to now, also after Close.
func (s *Sink) Snapshot() Snapshot {
	now, _ := s.store.look()
	return now
}

// WaitFor waits until ok is true of what has been received, and returns that. When ctx is done or the sink is closed
// first, it returns the last snapshot, to show what is missing, and the cause. ok is called at once and after each
// message that arrives, in the caller's goroutine.
func (s *Sink) WaitFor(ctx context.Context, ok func(Snapshot) bool) (Snapshot, error) {
	for {
		closed := s.isClosed() // before looking: what was received before the close is seen
		now, changed := s.store.look()
		if ok(now) {
			return now, nil
		}
		if closed {
			return now, ErrClosed
		}
		select {
		case <-changed:
		case <-s.closed:
		case <-ctx.Done():
			return now, context.Cause(ctx)
		}
	}
}

func (s *Sink) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// Close stops receiving. It lets requests that are being received finish, until ctx is done; then it cuts the
// connections and returns the context's error. Either way no goroutine of the sink is left, and what was received can
// still be read. Further calls wait for the first and return nil.
func (s *Sink) Close(ctx context.Context) error {
	var err error
	s.once.Do(func() {
		var graceful sync.WaitGroup
		done := make(chan struct{})
		graceful.Go(func() {
			s.server.GracefulStop()
			close(done)
		})
		select {
		case <-done:
		case <-ctx.Done():
			err = context.Cause(ctx)
			s.listener.cut()
			s.server.Stop()
		}
		graceful.Wait()
		s.serve.Wait()
		close(s.closed)
	})
	return err
}

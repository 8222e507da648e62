package otlpsink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"google.golang.org/grpc"
	grpcencoding "google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // OTEL_EXPORTER_OTLP_COMPRESSION=gzip

	"github.com/mcpotel/mcpotel/internal/loopback"
)

// maxMessage bounds the size of an export request, in bytes; the SDK's exporters send no larger requests.
const maxMessage = 64 << 20

// atOnce bounds the export requests that are handled at a time, over HTTP in total and over gRPC on each connection;
// others wait.
const atOnce = 4

// ErrClosed is the error of [Sink.WaitFor] if the sink is closed before the condition is met.
var ErrClosed = errors.New("sink is closed")

// A Sink is a running receiver. It is safe for concurrent use.
type Sink struct {
	store    *store
	server   *grpc.Server
	listener *listener
	web      *http.Server
	webPort  net.Listener // nil until ListenHTTP

	closed chan struct{} // closed when nothing more can arrive
	once   sync.Once
	serve  sync.WaitGroup
	conns  sync.WaitGroup // connections of web; goroutines of serve add to it
}

// Listen starts a receiver at a loopback address, "host:port"; "" means a free port of 127.0.0.1. It runs until
// [Sink.Close].
func Listen(addr string) (*Sink, error) { return listen(addr, defaultLimit) }

func listen(addr string, limit int) (*Sink, error) {
	port, err := loopback.Listen(addr)
	if err != nil {
		return nil, fmt.Errorf("otlpsink: %w", err)
	}
	s := &Sink{
		listener: &listener{Listener: port, open: make(map[*conn]struct{})},
		store:    newStore(limit),
		server: grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.WaitForHandlers(true), grpc.MaxConcurrentStreams(atOnce),
			grpc.ForceServerCodecV2(weighing{grpcencoding.GetCodecV2("proto")})),
		closed: make(chan struct{}),
	}
	s.web = &http.Server{Handler: loopback.Only(s.store.handler()), ReadHeaderTimeout: headerTimeout,
		ReadTimeout: bodyTimeout, ConnState: s.count}
	s.store.register(s.server)
	// The goroutine ends when Close stops the server. Close waits for it.
	s.serve.Go(func() { _ = s.server.Serve(s.listener) })
	return s, nil
}

// Endpoint returns the address to export to, "host:port".
func (s *Sink) Endpoint() string { return s.listener.Addr().String() }

// ListenHTTP also receives OTLP/HTTP, as protobuf and JSON, at an address as for [Listen]. It may be called once, and
// not after Close.
func (s *Sink) ListenHTTP(addr string) error {
	port, err := loopback.Listen(addr)
	if err != nil {
		return fmt.Errorf("otlpsink: %w", err)
	}
	s.webPort = port
	// The goroutine ends when Close stops the server. Close waits for it.
	s.serve.Go(func() { _ = s.web.Serve(port) })
	return nil
}

// HTTPEndpoint returns the URL to export to over HTTP, "http://host:port"; empty before ListenHTTP.
func (s *Sink) HTTPEndpoint() string {
	if s.webPort == nil {
		return ""
	}
	return "http://" + s.webPort.Addr().String()
}

// Snapshot returns everything received so far. It may be called after Close.
func (s *Sink) Snapshot() Snapshot {
	now, _ := s.store.look()
	return now
}

// WaitFor waits until ok returns true for a snapshot, and returns that snapshot. If ctx ends or the sink is closed
// first, it returns the last snapshot, which shows what is missing, and the cause. It calls ok at once and after each
// message, in the caller's goroutine.
func (s *Sink) WaitFor(ctx context.Context, ok func(Snapshot) bool) (Snapshot, error) {
	for {
		closed := s.isClosed() // checked first, so that the snapshot has everything from before the close
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

// count counts the connections of web, each with its goroutine.
func (s *Sink) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed:
		s.conns.Done()
	}
}

// Close stops receiving. It lets requests in flight finish until ctx ends; then it cuts the connections and returns the
// context's error. In both cases no goroutine of the sink remains, and received data can still be read. Further calls
// wait for the first and return nil.
func (s *Sink) Close(ctx context.Context) error {
	var err error
	s.once.Do(func() {
		var graceful sync.WaitGroup
		done := make(chan struct{})
		graceful.Go(func() {
			_ = s.web.Shutdown(ctx) // an error means that ctx ended, which Close reports
			s.server.GracefulStop()
			close(done)
		})
		select {
		case <-done:
		case <-ctx.Done():
			err = context.Cause(ctx)
			s.listener.cut()
			s.server.Stop()
			_ = s.web.Close()
		}
		graceful.Wait()
		s.serve.Wait()
		s.conns.Wait()
		close(s.closed)
	})
	return err
}

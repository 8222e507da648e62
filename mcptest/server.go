package mcptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/inlet"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Server is a server in the process of the test, and a transport to the server, which the test may dial any number of
// times. Add tools, resources and prompts as with any [mcpserver.Server]. A Server is safe for concurrent use.
type Server struct {
	*mcpserver.Server
	memory transport.Transport

	mu      sync.Mutex
	conns   map[*conn]bool // open connections; guarded by mu
	refused error          // error of Dial; nil if Dial succeeds; guarded by mu
	delay   time.Duration  // delay of requests; guarded by mu
	slow    []string       // methods to delay; nil means all; guarded by mu
	busy    int            // number of requests to reject; guarded by mu
	after   time.Duration  // Retry-After of rejected requests; guarded by mu
}

// NewServer returns a server with the name "mcptest". o may be nil. When the test ends, the server shuts down and
// waits for its handlers. Clients that still wait for an answer lose their connection.
func NewServer(t testing.TB, o *mcpserver.Options) *Server {
	t.Helper()
	s := &Server{conns: map[*conn]bool{}}
	var options mcpserver.Options
	if o != nil {
		options = *o
	}
	options.Middleware = append([]func(mcpserver.RequestHandler) mcpserver.RequestHandler{s.held}, options.Middleware...)
	s.Server = mcpserver.New(mcp.Implementation{Name: "mcptest", Version: "1.0.0"}, &options)
	s.memory = transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = s.Serve(ctx, p) })
	t.Cleanup(func() {
		s.Refuse(errors.New("the test has ended"))
		s.Kill()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Errorf("mcptest: shut down: %v", err)
		}
	})
	return s
}

// Name returns "mcptest".
func (s *Server) Name() string { return "mcptest" }

// Network returns the zero Network, because the server is in this process.
func (s *Server) Network() transport.Network { return transport.Network{} }

// Dial opens a connection, or fails after [Server.Refuse].
func (s *Server) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	s.mu.Lock()
	err := s.refused
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	inner, err := s.memory.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: inlet.Conn{Conn: inner}, server: s}
	s.mu.Lock()
	s.conns[c] = true
	s.mu.Unlock()
	return c, nil
}

// Kill ends all connections as if the server's process had been killed. Calls in flight fail with
// mcpclient.ErrConnectionLost, and the contexts of handlers end. Clients can reconnect immediately; use [Server.Refuse]
// to prevent that. Kill returns when the handlers have returned, or a moment later if a handler ignores its context.
// The client notices the end a moment later. Calls that it sends in this moment are lost, too.
func (s *Server) Kill() {
	killed := &transport.ExitError{Code: -1, Signal: "SIGKILL"}
	var all sync.WaitGroup
	for _, c := range s.open() {
		all.Go(func() { c.kill(killed) })
	}
	all.Wait()
}

// Refuse makes every attempt to connect fail with err. Refuse(nil) allows connections again. Open connections stay
// open.
func (s *Server) Refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = err
}

// Delay makes the server wait for d before it handles a request of these methods. Without methods, Delay applies to
// all requests, including the handshake (server/discover, initialize). To slow down only calls, name methods or call
// Delay after connecting. A cancellation ends the delay. Delay replaces the previous delay; zero removes it.
func (s *Server) Delay(d time.Duration, methods ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay, s.slow = d, methods
}

// Busy rejects the next n requests, over all connections, before the server reads them. The client gets an error as
// from HTTP status 503 with the header Retry-After; if after is zero, without this header.
func (s *Server) Busy(n int, after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy, s.after = n, after
}

// Garbage sends frames to all open connections unchanged, whether they are JSON or not. The frames arrive in order,
// before the server's next message.
func (s *Server) Garbage(frames ...string) {
	for _, c := range s.open() {
		for _, f := range frames {
			c.Deliver(transport.Frame{Data: []byte(f)})
		}
	}
}

func (s *Server) open() (all []*conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		all = append(all, c)
	}
	return all
}

// held is a middleware that delays requests.
func (s *Server) held(next mcpserver.RequestHandler) mcpserver.RequestHandler {
	return func(ctx context.Context, r *mcpserver.Request) (any, error) {
		s.mu.Lock()
		d := s.delay
		if s.slow != nil && !slices.Contains(s.slow, r.Method) {
			d = 0
		}
		s.mu.Unlock()
		if d > 0 {
			elapsed := time.NewTimer(d)
			defer elapsed.Stop()
			select {
			case <-elapsed.C:
			case <-ctx.Done():
				return nil, fmt.Errorf("mcptest: delayed: %w", context.Cause(ctx))
			}
		}
		return next(ctx, r)
	}
}

// turnedAway returns the error for a request that Busy rejects, or nil.
func (s *Server) turnedAway() *transport.RequestError {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy <= 0 {
		return nil
	}
	s.busy--
	return &transport.RequestError{Reason: transport.ReasonBusy, Unsent: true, RetryAfter: s.after}
}

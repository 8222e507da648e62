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

// Server is a server in the process of the test, and a transport to it, which may be dialled any number of times. Add
// tools, resources and prompts as to every [mcpserver.Server]. Its methods may be called from any goroutine.
type Server struct {
	*mcpserver.Server
	memory transport.Transport

	mu      sync.Mutex
	conns   map[*conn]bool // those that have not been closed; guarded by mu, as all below
	refused error          // what Dial returns, nil for a connection
	delay   time.Duration
	slow    []string // the methods that the delay is for, nil for all
	busy    int      // how many more requests are turned away
	after   time.Duration
}

// NewServer returns a server that calls itself "mcptest". o may be nil. When the test ends, the server is shut down,
// and what it began has ended; a client that still waits for it loses its connection.
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

// Network returns nothing: the server is in this process.
func (s *Server) Network() transport.Network { return transport.Network{} }

// Dial opens a connection, unless [Server.Refuse] says otherwise.
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

// Kill ends all connections at once, as a server's process does that is killed. Calls that wait fail with
// mcpclient.ErrConnectionLost, and a handler's context ends. The server can be dialled again at once; see
// [Server.Refuse] for one that stays away. Kill returns when the handlers have returned, or a moment later if one of
// them does not heed its context. The client learns of it a moment later: a call that is made before is lost, too.
func (s *Server) Kill() {
	killed := &transport.ExitError{Code: -1, Signal: "SIGKILL"}
	var all sync.WaitGroup
	for _, c := range s.open() {
		all.Go(func() { c.kill(killed) })
	}
	all.Wait()
}

// Refuse makes each attempt to connect fail with err, until it is called with nil. Connections that are open stay open.
func (s *Server) Refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = err
}

// Delay has each request of these methods wait for d before it is handled; without methods, all requests. A call that
// is cancelled meanwhile ends. What is asked to open a connection (server/discover, initialize) waits too, so call
// Delay after you have connected, or name methods, if only calls are to be slow. Delay replaces the delay before; zero
// is none.
func (s *Server) Delay(d time.Duration, methods ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay, s.slow = d, methods
}

// Busy turns the next n requests of all connections together away unread, as a server over HTTP does with the status
// 503 and the header Retry-After, which is not sent if after is zero.
func (s *Server) Busy(n int, after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy, s.after = n, after
}

// Garbage has all connections that are open receive frames, which are written as they are: JSON or not. They come in
// this order, before what the server says next.
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

// held is the middleware that makes requests wait.
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

// turnedAway reports whether a request is to be turned away, and what that is.
func (s *Server) turnedAway() *transport.RequestError {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy <= 0 {
		return nil
	}
	s.busy--
	return &transport.RequestError{Reason: transport.Busy, Unsent: true, RetryAfter: s.after}
}

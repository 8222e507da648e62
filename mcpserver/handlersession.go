package mcpserver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
)

// Why a session ended, for a [Terminator]; there are other reasons.
var (
	ErrShutdown       = web.ErrShutdown
	ErrSessionTimeout = web.ErrTimeout
	ErrSessionEvicted = web.ErrEvicted
)

// Session is what a legacy client opens by initialize, and what lasts between its requests: on one connection, or over
// HTTP. Its methods may be called from any goroutine; on nil, which stands for no session, those that ask return zero
// values.
type Session struct {
	id, principal string      // over HTTP; set before anybody sees the session
	conn          *connection // that it is on; likewise

	mu     sync.Mutex
	stage  stage       // guarded by mu
	agreed *agreement  // guarded by mu; nil before the session is being opened
	hosts  []*host     // guarded by mu; that know the session, in the order in which they were told
	reason error       // guarded by mu; why it ends
	values map[any]any // guarded by mu
}

// stage is how far a session has come.
type stage uint8

const (
	sessionNew stage = iota
	sessionOpening
	sessionOpen
	sessionEnded
)

// ID returns the session's id over HTTP, empty on any other connection.
func (s *Session) ID() string {
	if s == nil {
		return ""
	}
	return s.id
}

// Principal returns who has opened the session, as [HTTPOptions.Principal] told it; empty on any other connection.
func (s *Session) Principal() string {
	if s == nil {
		return ""
	}
	return s.principal
}

// Version returns the revision on which client and server have agreed.
func (s *Session) Version() mcp.Version { return s.terms().version }

// Client returns who has opened the session, by the client's own account.
func (s *Session) Client() mcp.Implementation { return s.terms().client }

// ClientCapabilities returns what the client has declared that it can do.
func (s *Session) ClientCapabilities() mcp.ClientCapabilities { return s.terms().capabilities }

func (s *Session) terms() agreement {
	if s == nil {
		return agreement{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agreed == nil {
		return agreement{}
	}
	return *s.agreed
}

// Value returns the value for a key, nil if there is none. What it points to is shared by all handlers of the session,
// which may run at the same time.
func (s *Session) Value(key any) any {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key]
}

// SetValue keeps a value for as long as the session lasts in this process. Like those of [context.WithValue], keys are
// comparable and best of a type of the caller's own. A nil value takes the key away.
func (s *Session) SetValue(key, value any) {
	s.Update(key, func(any) any { return value })
}

// Update replaces the value for a key by what change makes of it, nil standing for none, and returns that. No other
// change of the session's values happens meanwhile, so change must not use the session.
func (s *Session) Update(key any, change func(old any) any) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	value := change(s.values[key])
	if value == nil {
		delete(s.values, key)
		return nil
	}
	if s.values == nil {
		s.values = map[any]any{}
	}
	s.values[key] = value
	return value
}

// because says why the session ends, if nothing else has.
func (s *Session) because(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == nil {
		s.reason = reason
	}
}

// why returns why the session ends, nil if the client has ended it in order.
func (s *Session) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}

// begin begins to open the session, and reports false if that has been done.
func (s *Session) begin(a *agreement) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stage != sessionNew {
		return false
	}
	s.stage, s.agreed = sessionOpening, a
	return true
}

// tell lets hosts hear of the session, one after the other, until one refuses it.
func (s *Session) tell(ctx context.Context, hosts []*host) error {
	for _, h := range hosts {
		if h.init != nil {
			if err := h.init.Init(ctx, s); err != nil {
				return err
			}
		}
		s.mu.Lock()
		s.hosts = append(s.hosts, h)
		s.mu.Unlock()
	}
	for _, h := range hosts {
		if h.capabilities != nil {
			if err := h.capabilities.HandleClientCapabilities(ctx, s, s.ClientCapabilities()); err != nil {
				return err
			}
		}
	}
	return nil
}

// open opens the session, and reports false if it has ended meanwhile.
func (s *Session) open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stage != sessionOpening {
		return false
	}
	s.stage = sessionOpen
	return true
}

// told returns the hosts that know a session which could not be opened.
func (s *Session) told() []*host {
	s.mu.Lock()
	defer s.mu.Unlock()
	hosts := s.hosts
	s.hosts = nil
	return hosts
}

// reset lets the client try again whose session could not be opened.
func (s *Session) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stage == sessionOpening {
		s.stage, s.agreed, s.values, s.reason = sessionNew, nil, nil, nil
	}
}

// end ends the session and returns the hosts that are to be told. While it is being opened, that is left to the call
// that opens it.
func (s *Session) end() []*host {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.stage
	s.stage = sessionEnded
	if before != sessionOpen {
		return nil
	}
	hosts := s.hosts
	s.hosts = nil
	return hosts
}

// agree makes a what client and server agree on, which may take a session. The error refuses it.
func (x *exchange) agree(ctx context.Context, a *agreement) error {
	if x.conn != nil {
		return x.conn.welcome(ctx, a)
	}
	if !x.terms.agreed.CompareAndSwap(nil, a) {
		return errOpened
	}
	return nil
}

var errOpened = invalidRequest("the session has been opened before")

// welcome opens the session of a client on the terms of a, if its hosts agree. The error refuses it.
func (c *connection) welcome(ctx context.Context, a *agreement) error {
	if !c.public.begin(a) {
		return errOpened
	}
	done := false
	defer func() {
		if !done {
			c.dismiss(c.public.told(), errRefused)
			c.introduce(0)
			c.public.reset()
		}
	}()
	if !c.introduce(a.weight) {
		return web.ErrTooManySessions
	}
	if err := c.public.tell(ctx, c.exchange.s.hosts.all()); err != nil {
		return err
	}
	if !c.public.open() {
		return errShuttingDown
	}
	done = true
	c.exchange.terms.agreed.Store(a)
	return nil
}

// introduce is introduced, where there is a budget.
func (c *connection) introduce(bytes int) bool { return c.introduced == nil || c.introduced(bytes) }

var errRefused = errors.New("the session was refused")

// patience is how long hosts have to clean up after a session before the end of their contexts.
func (c *config) patience() time.Duration { return max(c.DrainTimeout, rpc.Settle) }

// farewell is how long it may take to clean up after a session.
func (s *Server) farewell() time.Duration {
	hears := func(h *host) bool { return h.terminate != nil }
	if s.resources.subscriber.Load() != nil || slices.ContainsFunc(s.hosts.all(), hears) {
		return s.cfg.patience() + rpc.Settle
	}
	return 0
}

// dismiss lets hosts clean up after a session, the latest first, and returns 1 if one of them ignores the end of its
// context. reason is for want of a better one.
func (c *connection) dismiss(hosts []*host, reason error) (left int) {
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(h *host) bool { return h.terminate == nil })
	if len(hosts) == 0 && (c.exchange.s.resources.subscriber.Load() == nil || len(c.watched.snapshot()) == 0) {
		return 0
	}
	if reason != nil {
		c.public.because(reason)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.exchange.Life), c.exchange.s.cfg.patience())
	defer cancel()
	done := make(chan struct{})
	go func() { // ends with the hosts, whose context ends
		defer close(done)
		c.exchange.unwatchAll(ctx, &c.watched)
		for _, h := range slices.Backward(hosts) {
			c.exchange.Peer.Guard(ctx, mcp.MethodInitialize, func() { h.terminate.Terminate(ctx, c.public, c.public.why()) })
		}
	}()
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), c.exchange.s.cfg.patience()+rpc.Settle)
	defer stop()
	select {
	case <-done:
		return 0
	case <-late.Done():
		return 1
	}
}

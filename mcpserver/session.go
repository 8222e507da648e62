package mcpserver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
)

// Some of the reasons for the end of a session that a [Terminator] may get.
var (
	ErrShutdown       = web.ErrShutdown
	ErrSessionTimeout = web.ErrTimeout
	ErrSessionEvicted = web.ErrEvicted
)

// ErrSessionSilent is the reason for the end of a session if the client has not answered a ping, see
// [Options.KeepAlive].
var ErrSessionSilent = engine.ErrSilent

// Session is the session that a legacy client opens by initialize, on one connection or over HTTP. Its methods are
// safe for concurrent use. A nil *Session means no session; its getters return zero values.
type Session struct {
	conn *connection // connection of the session; immutable once other goroutines know the session

	mu     sync.Mutex
	stage  stage             // guarded by mu
	agreed *engine.Agreement // guarded by mu; nil until initialize
	hosts  []*host           // guarded by mu; handlers that know the session, in the order of their Init calls
	values map[any]any       // guarded by mu
}

// stage is the stage of a session's life.
type stage uint8

const (
	sessionNew stage = iota
	sessionOpening
	sessionOpen
	sessionEnded
)

// ID returns the session id over HTTP. It is empty on any other connection.
func (s *Session) ID() string {
	if s == nil || s.conn == nil {
		return ""
	}
	return s.conn.ID
}

// Principal returns the user who opened the session, according to [HTTPOptions.Principal]. It is empty without HTTP.
func (s *Session) Principal() string {
	if s == nil || s.conn == nil {
		return ""
	}
	return s.conn.Principal()
}

// Version returns the negotiated revision.
func (s *Session) Version() mcp.Version { return s.terms().Version }

// Client returns the client's description of itself.
func (s *Session) Client() mcp.Implementation { return s.terms().Client }

// ClientCapabilities returns the capabilities that the client has declared.
func (s *Session) ClientCapabilities() mcp.ClientCapabilities { return s.terms().Capabilities }

func (s *Session) terms() engine.Agreement {
	if s == nil {
		return engine.Agreement{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agreed == nil {
		return engine.Agreement{}
	}
	return *s.agreed
}

// Value returns the value of a key, or nil. If the value is a pointer, all handlers of the session share its target
// and may use it concurrently.
func (s *Session) Value(key any) any {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key]
}

// SetValue stores a value until the session ends in this process. As in [context.WithValue], keys must be comparable
// and should have a type of the caller's own package. A nil value removes the key.
func (s *Session) SetValue(key, value any) {
	s.Update(key, func(any) any { return value })
}

// Update replaces the value of a key with the result of change, and returns the new value. nil means no value. change
// runs under the session's lock, so it must not call methods of the session.
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

// begin starts to open the session. It returns false unless the session is new.
func (s *Session) begin(a *engine.Agreement) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stage != sessionNew {
		return false
	}
	s.stage, s.agreed = sessionOpening, a
	return true
}

// tell calls Init of all handlers and then HandleClientCapabilities of all handlers. It stops at the first error.
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

// open opens the session. It returns false if the session has ended since begin.
func (s *Session) open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stage != sessionOpening {
		return false
	}
	s.stage = sessionOpen
	return true
}

// told removes and returns the handlers that know the session, after the session failed to open.
func (s *Session) told() []*host {
	s.mu.Lock()
	defer s.mu.Unlock()
	hosts := s.hosts
	s.hosts = nil
	return hosts
}

// reset allows the client to send initialize again after the session failed to open.
func (s *Session) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stage == sessionOpening {
		s.stage, s.agreed, s.values = sessionNew, nil, nil
	}
}

// end ends the session and returns the handlers whose Terminate the caller must call. If the session is still opening,
// end returns no handlers, because welcome calls dismiss for them.
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

// agree stores a as the terms of the client, and opens the session if the client has one. An error rejects the client.
func (x *exchange) agree(ctx context.Context, a *engine.Agreement) error {
	if x.conn != nil {
		return x.conn.welcome(ctx, a)
	}
	if !x.Terms.Agreed.CompareAndSwap(nil, a) {
		return errOpened
	}
	return nil
}

var errOpened = rpc.InvalidRequest("the session is already open")

// welcome opens the session of a client with the terms a, unless a handler rejects the session. An error rejects the
// session.
func (c *connection) welcome(ctx context.Context, a *engine.Agreement) error {
	if !c.public.begin(a) {
		return errOpened
	}
	done := false
	defer func() {
		if !done {
			c.dismiss(c.public.told(), errRefused)
			c.Introduce(0)
			c.public.reset()
		}
	}()
	if !c.Introduce(a.Weight) {
		return web.ErrTooManySessions
	}
	if err := c.public.tell(ctx, c.exchange.s.hosts.all()); err != nil {
		return err
	}
	if !c.public.open() {
		return engine.ErrStopping
	}
	done = true
	c.exchange.Terms.Agreed.Store(a)
	return nil
}

var errRefused = errors.New("the session was rejected")

// farewell returns the maximum time for cleaning up after a session.
func (s *Server) farewell() time.Duration {
	hears := func(h *host) bool { return h.terminate != nil }
	if s.resources.subscriber.Load() != nil || slices.ContainsFunc(s.hosts.all(), hears) {
		return s.engine.Patience() + rpc.Settle
	}
	return 0
}

// dismiss calls the Terminate methods of the handlers in hosts, in reverse order. It returns 1 if one of the methods
// ignores the end of its context. reason applies only if the session has no reason yet.
func (c *connection) dismiss(hosts []*host, reason error) (left int) {
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(h *host) bool { return h.terminate == nil })
	if len(hosts) == 0 && (c.exchange.s.resources.subscriber.Load() == nil || len(c.watched.snapshot()) == 0) {
		return 0
	}
	if why := c.Why(); why != nil {
		reason = why
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.exchange.Life), c.exchange.s.engine.Patience())
	defer cancel()
	done := make(chan struct{})
	go func() { // ends when the methods return; their context has a deadline
		defer close(done)
		c.exchange.unwatchAll(ctx, &c.watched)
		for _, h := range slices.Backward(hosts) {
			c.exchange.Peer.Guard(ctx, mcp.MethodInitialize, func() { h.terminate.Terminate(ctx, c.public, reason) })
		}
	}()
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), c.exchange.s.engine.Patience()+rpc.Settle)
	defer stop()
	select {
	case <-done:
		return 0
	case <-late.Done():
		return 1
	}
}

// The methods of [Session] below notify only the client of the session; the methods of [Server] notify all clients. The
// methods of [Session] are for a server that keeps separate state for each client, such as a connection to another
// server.

// ToolsChanged notifies the client of the session that the list of tools has changed, as [Server.ToolsChanged] notifies
// all clients.
func (s *Session) ToolsChanged() { s.say(notice{method: mcp.NotificationToolListChanged}) }

// ResourcesChanged does the same as ToolsChanged for the lists of resources and resource templates.
func (s *Session) ResourcesChanged() { s.say(notice{method: mcp.NotificationResourceListChanged}) }

// PromptsChanged does the same as ToolsChanged for the list of prompts.
func (s *Session) PromptsChanged() { s.say(notice{method: mcp.NotificationPromptListChanged}) }

// ResourceUpdated notifies the client of the session that a resource has changed, if the client watches the resource.
// [Server.ResourceUpdated] notifies all clients.
func (s *Session) ResourceUpdated(uri string) {
	if uri != "" {
		s.say(notice{mcp.NotificationResourceUpdated, uri})
	}
}

// say queues a notice for the client, if the client gets such notices.
func (s *Session) say(n notice) {
	if s != nil && s.conn != nil {
		s.conn.announce([]notice{n})
	}
}

// Log sends the client of the session a log message that belongs to no request, as [Server.Log] does for all clients.
func (s *Session) Log(level mcp.LoggingLevel, logger string, data any) error {
	switch {
	case !level.Defined():
		return errLevel(level)
	case s == nil || s.conn == nil || !s.conn.hears(level):
		return nil
	}
	frame, err := logFrame(nil, level, logger, data)
	if err == nil {
		s.conn.log(level, frame)
	}
	return err
}

// LogLevel returns the level that the client has set by logging/setLevel. It is empty if the client has set no level.
func (s *Session) LogLevel() mcp.LoggingLevel {
	if s == nil || s.conn == nil {
		return ""
	}
	if level := s.conn.exchange.Terms.Level.Load(); level != nil {
		return *level
	}
	return ""
}

type sessionKey struct{}

func withSession(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionFrom returns the session of the request that a handler answers. If the server calls a [ResourceSubscriber]
// without a request, SessionFrom returns the session that starts or stops watching a resource. SessionFrom returns nil
// if there is no session.
func SessionFrom(ctx context.Context) *Session {
	if s, ok := ctx.Value(sessionKey{}).(*Session); ok {
		return s
	}
	return RequestFrom(ctx).Session()
}

package mcpserver

import (
	"cmp"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/internal/server/introduction"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
)

// Server is what a program offers to MCP clients. Make it with [New]; it is safe for concurrent use, and may serve any
// number of connections at the same time.
type Server struct {
	info      mcp.Implementation
	signature signature
	cfg       config
	number    uint64 // among those of the process

	total      *quota.Limiter // over all clients; nil for none
	middleware RequestHandler // around the handlers of all requests; nil for none
	roles      roles

	methods methods
	hears   hearers
	changes changes // of what is offered

	introductions introduction.Cache

	implementing sync.Mutex // held by Implement
	hosts        hosts

	tools       tools
	resources   resources
	prompts     prompts
	completions completions
	logging     logging
	tasks       *serverTasks

	mu        sync.Mutex
	conns     map[*connection]struct{}            // guarded by mu; open ones, but for those of fleets
	audiences map[*audience]struct{}              // guarded by mu; those who may listen now
	fleets    map[*HTTPHandler]struct{}           // guarded by mu; that share a store of sessions
	handlers  map[*HTTPHandler]struct{}           // guarded by mu; that are not shut down
	lastConn  uint64                              // guarded by mu; number of the latest connection
	observers map[instrument.Network]rpc.Observer // guarded by mu
}

// New returns a server that calls itself info and offers nothing yet. Like a wrong pattern for an HTTP handler, an
// empty name and options that contradict themselves are mistakes in the program, and New panics.
func New(info mcp.Implementation, o *Options) *Server {
	if info.Name == "" {
		panic("mcpserver: New: the implementation has no name")
	}
	cfg, err := newConfig(o, info.Name)
	if err != nil {
		panic("mcpserver: New: " + err.Error())
	}
	s, err := newServer(info, cfg)
	if err != nil {
		panic("mcpserver: New: " + err.Error())
	}
	s.methods.add(lifecycle(s))
	if cfg.Logging {
		s.logging.offer()
	}
	if cfg.Tasks != nil {
		s.tasks.offer()
	}
	s.offerDeclared()
	return s
}

// newServer returns a server that answers nothing.
func newServer(info mcp.Implementation, cfg config) (*Server, error) {
	s := &Server{
		info:      info,
		cfg:       cfg,
		number:    running.Servers.Number(),
		conns:     map[*connection]struct{}{},
		audiences: map[*audience]struct{}{},
		fleets:    map[*HTTPHandler]struct{}{},
		handlers:  map[*HTTPHandler]struct{}{},
		observers: map[instrument.Network]rpc.Observer{},

		roles:      answering{},
		total:      quota.NewLimiter(cfg.MaxTotal),
		middleware: wrapped(cfg.Middleware),
	}
	if err := cmp.Or(given.Check(info), given.Check(cfg.Capabilities)); err != nil {
		return nil, err
	}
	s.tools.s, s.resources.s, s.prompts.s, s.completions.s, s.logging.s = s, s, s, s, s
	var err error
	if s.signature, err = newSignature(info); err != nil {
		return nil, fmt.Errorf("the implementation cannot be encoded: %w", err)
	}
	s.changes.announce = s.announce
	s.tasks, err = newServerTasks(s)
	return s, err
}

// offerDeclared makes the server answer the methods of what its options say that it has, before there is any.
func (s *Server) offerDeclared() {
	c := s.cfg.Capabilities
	for _, f := range []struct {
		declared bool
		offer    func() error
	}{
		{c.Tools != nil, s.tools.offer}, {c.Resources != nil, s.resources.offer}, {c.Prompts != nil, s.prompts.offer},
		{c.Completions != nil, s.completions.offer},
	} {
		if f.declared {
			_ = f.offer() // nothing else answers them yet
		}
	}
}

// feature is a part of the protocol that a server offers: what it declares to clients of a revision, and the methods
// that it answers. Each feature is a file.
type feature struct {
	declare func(*mcp.ServerCapabilities, mcp.Version)
	methods []*method
}

// offering is a feature that a server has once there is something of it.
type offering struct {
	once    sync.Once
	refused bool // written by once
}

// offer makes a server of these methods answer those of a feature, once. It is an error if something else answers one
// of them.
func (o *offering) offer(m *methods, f feature) error {
	o.once.Do(func() { o.refused = !m.add(f) })
	if o.refused {
		return fmt.Errorf("%s or another method of its kind has a handler", f.methods[0].name)
	}
	return nil
}

// capabilities returns what is declared to clients of a revision.
func (s *Server) capabilities(v mcp.Version) mcp.ServerCapabilities {
	c := s.cfg.Capabilities
	if c.Tools != nil {
		c.Tools = new(*c.Tools)
	}
	if c.Resources != nil {
		c.Resources = new(*c.Resources)
	}
	if c.Prompts != nil {
		c.Prompts = new(*c.Prompts)
	}
	for _, declare := range s.methods.declarations() {
		declare(&c, v)
	}
	if _, declared := c.Extensions[mcp.ExtensionTasks]; declared && v.Era() == mcp.Legacy {
		c.Extensions = maps.Clone(c.Extensions) // the others came into use before the revision that has a place for them
		if delete(c.Extensions, mcp.ExtensionTasks); len(c.Extensions) == 0 {
			c.Extensions = nil
		}
	}
	if v != mcp.Version20251125 {
		c.Tasks = nil
	}
	if v < mcp.Version20250326 {
		c.Completions = nil
	}
	return c
}

// changed sees to it that clients hear of a change in what is offered. Those who come later find it so.
func (s *Server) changed(n notice) {
	s.mu.Lock()
	anybody := len(s.conns)+len(s.audiences)+len(s.fleets) > 0
	s.mu.Unlock()
	if anybody {
		s.changes.note(n)
	}
}

// announce sends notices to all clients that want them.
func (s *Server) announce(some []notice) {
	s.mu.Lock()
	conns, audiences, fleets := maps.Clone(s.conns), maps.Clone(s.audiences), maps.Clone(s.fleets)
	s.mu.Unlock()
	announceAll(some, func(all []change) {
		for c := range conns {
			c.announceChanges(all)
		}
		for a := range audiences {
			a.announce(all)
		}
	})
	if len(fleets) == 0 {
		return
	}
	told := make([]web.Notice, len(some))
	for i, n := range some {
		told[i] = web.Notice{Method: n.method, URI: n.uri}
	}
	for h := range fleets {
		h.web.Announce(told)
	}
}

// changeWindow is how long changes are collected before clients are told, once.
const changeWindow = 10 * time.Millisecond

// changes collects changes of what a server offers.
type changes struct {
	announce func(some []notice)

	mu      sync.Mutex
	pending backlog // guarded by mu; if there is any, a timer will announce it
}

// note sees to it that clients are sent the notice soon: once, for all changes that come meanwhile.
func (c *changes) note(n notice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending.order) == 0 {
		time.AfterFunc(changeWindow, c.flush)
	}
	c.pending.push(n, instrument.Ref{})
}

func (c *changes) flush() {
	c.mu.Lock()
	pending := c.pending.order
	c.pending = backlog{}
	c.mu.Unlock()
	some := make([]notice, len(pending))
	for i, n := range pending {
		some[i] = n.notice
	}
	c.announce(some)
}

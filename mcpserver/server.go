package mcpserver

import (
	"cmp"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
)

// Server offers tools, resources and prompts to MCP clients. Create it with [New]. A Server is safe for concurrent use
// and may serve any number of connections at once.
type Server struct {
	info      mcp.Implementation
	signature signature
	cfg       config
	engine    *engine.Server

	middleware RequestHandler // wraps the handlers of all requests; nil without middleware

	methods methods
	hears   hearers
	changes changes // pending announcements of changed lists and resources

	implementing sync.Mutex // serializes Implement
	hosts        hosts

	tools       tools
	resources   resources
	prompts     prompts
	completions completions
	logging     logging
	tasks       *serverTasks

	mu        sync.Mutex
	audiences map[*audience]struct{}   // guarded by mu; open subscriptions, by connection or handler
	fleets    map[*httpServer]struct{} // guarded by mu; HTTP handlers with a shared store of sessions
}

// New returns a server that introduces itself as info and offers nothing yet. New panics if info has no name or the
// options are invalid. These are mistakes in the program, like an invalid pattern for an HTTP handler.
func New(info mcp.Implementation, o *Options) *Server {
	if info.Name == "" {
		panic("mcpserver: New: the implementation has no name")
	}
	cfg, err := newConfig(o, info.Name)
	if err != nil {
		panic("mcpserver: New: " + err.Error())
	}
	s, err := newServer(info, cfg, nil)
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

// newServer returns a server without methods. role serves the clients; a nil role means the features of this package.
func newServer(info mcp.Implementation, cfg config, role engine.Role) (*Server, error) {
	s := &Server{
		info:       info,
		cfg:        cfg,
		audiences:  map[*audience]struct{}{},
		fleets:     map[*httpServer]struct{}{},
		middleware: wrapped(cfg.Middleware),
	}
	if role == nil {
		role = answering{s}
	}
	s.engine = engine.New(cfg.forEngine(s), role)
	if err := cmp.Or(given.Check(info), given.Check(cfg.Capabilities)); err != nil {
		return nil, err
	}
	s.tools.s, s.resources.s, s.prompts.s, s.completions.s, s.logging.s = s, s, s, s, s
	var err error
	if s.signature, err = newSignature(info); err != nil {
		return nil, fmt.Errorf("the implementation cannot be encoded as JSON: %w", err)
	}
	s.changes.announce = s.announce
	s.tasks, err = newServerTasks(s)
	return s, err
}

// init gives package engine a constructor for servers with another role, which lack the features of this package.
func init() {
	engine.NewServer = func(o *engine.Options, role engine.Role) (any, error) {
		cfg, err := newConfig(&Options{
			Name: o.Name, InstanceID: o.InstanceID, Limits: Limits{Concurrent: o.MaxConcurrent, Queued: o.MaxQueued,
				Total: o.MaxTotal, Frame: o.FrameLimit}, DrainTimeout: o.DrainTimeout, KeepAlive: o.KeepAlive,
			Telemetry: o.Telemetry,
		}, o.Name)
		if err != nil {
			return nil, err
		}
		return newServer(mcp.Implementation{Name: o.Name}, cfg, role)
	}
}

// offerDeclared registers the methods of the features that Options.Capabilities declares, even if the server has no
// tool, resource or prompt yet.
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
			_ = f.offer() // cannot fail: no other handler is registered yet
		}
	}
}

// feature is a part of the protocol that a server offers: declare adds its capability for clients of a revision, and
// methods are its protocol methods. Each feature has its own file.
type feature struct {
	declare func(*mcp.ServerCapabilities, mcp.Version)
	methods []*method
}

// offering registers a feature once, when the server gets the first tool, resource or prompt.
type offering struct {
	once    sync.Once
	refused bool // written by once; another handler has one of the methods
}

// offer adds f to m when it is first called. It returns an error if one of the methods of f has another handler.
func (o *offering) offer(m *methods, f feature) error {
	o.once.Do(func() { o.refused = !m.add(f) })
	if o.refused {
		return fmt.Errorf("%s or a related method already has a handler", f.methods[0].Name)
	}
	return nil
}

// capabilities returns the capabilities that the server declares to clients of a revision.
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
		c.Extensions = maps.Clone(c.Extensions) // keep the others: legacy clients use extensions, too
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

// changed queues a notification of a change for all clients. It does nothing without clients: a client that connects
// later sees the change anyway.
func (s *Server) changed(n notice) {
	s.mu.Lock()
	anybody := len(s.audiences)+len(s.fleets) > 0
	s.mu.Unlock()
	if anybody || s.engine.IsConnected() {
		s.changes.note(n)
	}
}

// announce sends each notice to all clients that want it.
func (s *Server) announce(some []notice) {
	s.mu.Lock()
	audiences, fleets := maps.Clone(s.audiences), maps.Clone(s.fleets)
	s.mu.Unlock()
	announceAll(some, func(all []change) {
		for _, c := range s.connections() {
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
		h.Web.Announce(told)
	}
}

// connections returns the open connections and sessions, except the sessions in a store.
func (s *Server) connections() (all []*connection) {
	for _, c := range s.engine.Conns() {
		if own, ok := c.Role.(*connection); ok {
			all = append(all, own)
		}
	}
	return all
}

// changeWindow is the time for which equal changes are collected into one notification.
const changeWindow = 10 * time.Millisecond

// changes collects changes of the lists and resources of a server.
type changes struct {
	announce func(some []notice)

	mu      sync.Mutex
	pending backlog // guarded by mu; while it is not empty, a timer is running
}

// note queues a notice. If equal notices follow within changeWindow, clients get only one.
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

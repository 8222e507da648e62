package mcpserver

import (
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Server is what a program offers to MCP clients. Make it with [New]; it is safe for concurrent use, and may serve any
// number of connections at the same time.
type Server struct {
	info     mcp.Implementation
	identity json.RawMessage   // info as JSON
	signed   mcp.Meta          // the _meta of a modern result that has no other
	constant *jsonrpc.Constant // its members
	cfg      config

	methods methods
	changes changes // of what is offered

	tools      registry[*tool]
	toolsOffer sync.Once
	tasks      *taskKeeper

	mu        sync.Mutex
	conns     map[*connection]struct{}       // guarded by mu; open ones
	audiences map[*audience]struct{}         // guarded by mu; those who may listen now
	observers map[telemetry.Network]observer // guarded by mu
}

// New returns a server that calls itself info and offers nothing yet. Like a wrong pattern for an HTTP handler, an empty
// name and options that contradict themselves are mistakes in the program, and New panics.
func New(info mcp.Implementation, o *Options) *Server {
	if info.Name == "" {
		panic("mcpserver: New: the implementation has no name")
	}
	cfg, err := newConfig(o, info.Name)
	if err != nil {
		panic("mcpserver: New: " + err.Error())
	}
	s := &Server{
		info:      info,
		cfg:       cfg,
		conns:     map[*connection]struct{}{},
		audiences: map[*audience]struct{}{},
		observers: map[telemetry.Network]observer{},
	}
	s.identify()
	s.changes.announce = s.announce
	if s.tasks, err = newTaskKeeper(s); err != nil {
		panic("mcpserver: New: " + err.Error())
	}
	s.methods.add(lifecycle(s))
	if cfg.Capabilities.Tools != nil {
		s.offerTools()
	}
	if cfg.Tasks != nil {
		s.offerTasks()
	}
	return s
}

// identify encodes what the server says of itself with every modern result.
// (specification 2026-07-28, basic/index, "Per-response protocol fields")
func (s *Server) identify() {
	var err error
	if s.identity, err = mcp.AppendResult(nil, s.info); err != nil {
		panic("mcpserver: New: the implementation cannot be encoded: " + err.Error())
	}
	if s.signed, err = mcp.Meta(nil).With(mcp.MetaServerInfo, s.identity); err == nil {
		s.constant, err = jsonrpc.NewConstant(s.signed)
	}
	if err != nil {
		panic("mcpserver: New: " + err.Error())
	}
}

// feature is a part of the protocol that a server offers: what it declares to clients of a revision, and the methods that
// it answers. Each feature is a file.
type feature struct {
	declare func(*mcp.ServerCapabilities, mcp.Version)
	methods []*method
}

// capabilities returns what is declared to clients of a revision.
func (s *Server) capabilities(v mcp.Version) mcp.ServerCapabilities {
	c := s.cfg.Capabilities
	if c.Tools != nil {
		c.Tools = new(*c.Tools)
	}
	for _, declare := range s.methods.declarations() {
		declare(&c, v)
	}
	if v.Era() == mcp.Legacy {
		c.Extensions = nil
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
func (s *Server) changed(method string) {
	s.mu.Lock()
	anybody := len(s.conns)+len(s.audiences) > 0
	s.mu.Unlock()
	if anybody {
		s.changes.note(method)
	}
}

// announce tells all clients that the list which a notification is about has changed.
func (s *Server) announce(method string) {
	s.mu.Lock()
	conns, audiences := maps.Clone(s.conns), maps.Clone(s.audiences)
	s.mu.Unlock()
	for c := range conns {
		c.announce(method)
	}
	for a := range audiences {
		a.announce(method)
	}
}

// changeWindow is how long changes are collected before clients are told, once.
const changeWindow = 10 * time.Millisecond

// changes collects changes of what a server offers.
type changes struct {
	announce func(method string)

	mu      sync.Mutex
	pending map[string]bool // guarded by mu; notifications that a timer will send
}

// note sees to it that clients are sent the notification soon: once, for all changes that come meanwhile.
func (c *changes) note(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[method] {
		return
	}
	if c.pending == nil {
		c.pending = map[string]bool{}
	}
	c.pending[method] = true
	time.AfterFunc(changeWindow, func() {
		c.mu.Lock()
		delete(c.pending, method)
		c.mu.Unlock()
		c.announce(method)
	})
}

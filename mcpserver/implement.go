package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/mcp"
)

// Initializer is a part of a handler (see [Server.Implement]) that prepares for each session before it is opened, for
// example with values that belong to it: see [Session.SetValue]. An error refuses the session: one of type [*mcp.Error]
// goes to the client as it is, any other as -32603 with a neutral message.
//
// Sessions are those of legacy clients, one on each connection on which initialize succeeds, and one for each session
// over HTTP. A modern request belongs to none, nor does one over stateless HTTP: nothing is called for these, and
// [RequestInfo.Session] returns nil. What a handler needs for them, it has to find out with each request.
//
// ctx is that of the initialize request. What else the client sends over the same connection is not read meanwhile.
type Initializer interface {
	Init(ctx context.Context, s *Session) error
}

// Terminator is a part of a handler (see [Server.Implement]) that cleans up after a session. It is called exactly once
// for each session of which the handler knows: that it has let in, if it is an [Initializer] too, even if the session
// was refused after that, or that was opened since Implement. By then all requests of the session have been answered,
// unless their handlers ignore the end of their contexts.
//
// reason is nil if the client has ended the session in order. Else it is [ErrShutdown], [ErrSessionTimeout], what
// [Server.Serve] returns or why the session was refused. ctx ends after [Options.DrainTimeout], or a second if that is
// longer; [Server.Serve] and [HTTPHandler.Shutdown] wait that long and a second more. The client hears nothing any
// more.
type Terminator interface {
	Terminate(ctx context.Context, s *Session, reason error)
}

// ClientCapabilitiesHandler is a part of a handler (see [Server.Implement]) that hears what the client of a new session
// has declared that it can do, after Init. An error refuses the session, as that of an [Initializer] does. A modern
// client says it with each request: see [RequestInfo.ClientCapabilities].
type ClientCapabilitiesHandler interface {
	HandleClientCapabilities(ctx context.Context, s *Session, c mcp.ClientCapabilities) error
}

// CapabilityDeclarer is a part of a handler (see [Server.Implement]) that has a say in what the server declares. It is
// called for each client that asks, often at the same time; c has what was found out so far, for clients of the
// revision v, and may be changed, but for its maps.
type CapabilityDeclarer interface {
	DeclareCapabilities(c *mcp.ServerCapabilities, v mcp.Version)
}

// LevelSetter is a part of a handler (see [Server.Implement]) that hears of the log level which a legacy client sets
// for its session, before it holds; see [RequestInfo.Session] for which. It makes the server log, as [Options.Logging]
// does. An error refuses the request. What the client sends after that is not read meanwhile.
type LevelSetter interface {
	SetLevel(ctx context.Context, level mcp.LoggingLevel) error
}

// Implement lets h answer whatever it has the methods for: one value for a whole server or a part of it, instead of a
// function for each tool, resource and prompt. What clients are told that the server can do follows from that. These
// are the interfaces that it may have, at least one of them:
//
//   - tools: [ToolLister] and [ToolCaller], only together;
//   - resources: [ResourceReader], together with a [ResourceLister], a [ResourceTemplateLister] or both, and with
//     [ResourceSubscriber] for those who watch them;
//   - prompts: [PromptLister] and [PromptGetter], only together;
//   - completion: [Completer];
//   - logging: [LevelSetter];
//   - sessions: [Initializer], [Terminator] and [ClientCapabilitiesHandler];
//   - whatever else is to be declared: [CapabilityDeclarer].
//
// Its methods are called by any number of goroutines at the same time. Their contexts are as those of a [ToolHandler]:
// [RequestFrom] returns the request, with what is known of the client, the session with its values, the HTTP request,
// and with logging and progress. A panic, and an error that is no [*mcp.Error], is -32603 with a neutral message to the
// client, except where an interface says otherwise. Lists are paged by the handler's own cursors. A nil result is an
// empty one. Results are shown to each client as its revision has them, and are not changed. Nothing that h returns is
// checked against any schema.
//
// Implement may be called for several values, before or after clients are connected; each of these finds out what the
// server can do when it connects. It is an error if h has none of the interfaces, or only one half of what goes
// together, or a method that has the name of one of them and not its type, or if another handler, or something added to
// the server, answers one of the methods; then nothing has changed. Once h offers tools, say, none can be added by
// [AddTool].
func (s *Server) Implement(h any) error {
	if h == nil {
		return errors.New("implement: no handler")
	}
	if err := mistaken(h); err != nil {
		return fmt.Errorf("implement %T: %w", h, err)
	}
	p := partsOf(h)
	if err := p.check(); err != nil {
		return fmt.Errorf("implement %T: %w", h, err)
	}
	s.implementing.Lock()
	defer s.implementing.Unlock()
	f := p.feature(s)
	for _, m := range f.methods {
		if _, taken := s.methods.lookup(m.name); taken {
			return fmt.Errorf("implement %T: %s has a handler", h, m.name)
		}
	}
	if p.level != nil {
		if err := s.implementLevel(p.level); err != nil {
			return fmt.Errorf("implement %T: %w", h, err)
		}
	}
	if p.subscriber != nil {
		s.resources.subscriber.Store(&p.subscriber)
	}
	if !s.methods.add(f) {
		return fmt.Errorf("implement %T: one of its methods has been given another handler", h)
	}
	if p.host != (host{}) {
		s.hosts.add(&p.host)
	}
	return nil
}

func (s *Server) implementLevel(h LevelSetter) error {
	if s.logging.setter.Load() != nil || !s.logging.offer() {
		return fmt.Errorf("%s has a handler", mcp.MethodSetLevel)
	}
	s.logging.setter.Store(&h)
	return nil
}

// ToolsChanged tells clients that the list of a [ToolLister] has changed: legacy ones, and those modern ones that want
// to know. Changes within 10 ms are told once.
func (s *Server) ToolsChanged() { s.changed(notice{method: mcp.NotificationToolListChanged}) }

// ResourcesChanged is ToolsChanged for a [ResourceLister] and a [ResourceTemplateLister].
func (s *Server) ResourcesChanged() { s.changed(notice{method: mcp.NotificationResourceListChanged}) }

// PromptsChanged is ToolsChanged for a [PromptLister].
func (s *Server) PromptsChanged() { s.changed(notice{method: mcp.NotificationPromptListChanged}) }

// host is what of a handler concerns sessions.
type host struct {
	init         Initializer
	terminate    Terminator
	capabilities ClientCapabilitiesHandler
}

// hosts are those of all handlers of a server, in the order of Implement.
type hosts struct{ list atomic.Pointer[[]*host] }

func (t *hosts) all() []*host {
	if list := t.list.Load(); list != nil {
		return *list
	}
	return nil
}

// add adds a host. One goroutine at a time may do so.
func (t *hosts) add(h *host) {
	old := t.all()
	list := append(old[:len(old):len(old)], h)
	t.list.Store(&list)
}

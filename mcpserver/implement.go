package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/mcp"
)

// Initializer is an optional interface of a handler (see [Server.Implement]). Init prepares a session before the
// session opens, for example by setting values with [Session.SetValue]. An error rejects the session. The client
// gets an error of type [*mcp.Error] unchanged, and any other error as -32603 with a neutral message.
//
// Only legacy clients have sessions: each successful initialize opens one, on a connection or over HTTP. Modern
// requests and requests over stateless HTTP have no session. For them, the server does not call Init, and
// [RequestInfo.Session] returns nil. The handler must look up per-client data for each of these requests.
//
// ctx is the context of the initialize request. The server reads no further messages from the connection until Init
// returns.
type Initializer interface {
	Init(ctx context.Context, s *Session) error
}

// Terminator is an optional interface of a handler (see [Server.Implement]) that cleans up after a session. The server
// calls Terminate exactly once for each session for which the handler's Init has returned nil. For a handler without an
// [Initializer], the Init methods of all earlier handlers must have returned nil. The server also calls Terminate if it
// rejects the session after that. When the server calls Terminate, all requests of the session have been answered,
// unless their handlers ignore the end of their contexts.
//
// reason is nil if the client has closed the session in the regular way. Otherwise reason is [ErrShutdown],
// [ErrSessionTimeout], the error that [Server.Serve] returns, or the reason for the rejection of the session. ctx
// ends after [Options.DrainTimeout] or one second, whichever is longer. [Server.Serve] and [HTTPHandler.Shutdown]
// wait for Terminate until one second after the end of ctx. The server can no longer send messages to the client.
type Terminator interface {
	Terminate(ctx context.Context, s *Session, reason error)
}

// ClientCapabilitiesHandler is an optional interface of a handler (see [Server.Implement]). The server calls
// HandleClientCapabilities after Init with the capabilities that the client of a new session has declared. An error
// rejects the session, as an error of an [Initializer] does. A modern client declares its capabilities in each request:
// see [RequestInfo.ClientCapabilities].
type ClientCapabilitiesHandler interface {
	HandleClientCapabilities(ctx context.Context, s *Session, c mcp.ClientCapabilities) error
}

// CapabilityDeclarer is an optional interface of a handler (see [Server.Implement]) that changes the capabilities that
// the server declares. The server calls DeclareCapabilities, often concurrently, each time it declares its
// capabilities to a client. c holds the capabilities collected so far for clients of revision v. DeclareCapabilities
// may change c, but not the maps in it.
type CapabilityDeclarer interface {
	DeclareCapabilities(c *mcp.ServerCapabilities, v mcp.Version)
}

// LevelSetter is an optional interface of a handler (see [Server.Implement]). The server calls SetLevel when a
// legacy client requests a log level for its session, before the level takes effect; [RequestInfo.Session] returns
// the session. A handler with this interface enables log messages, as [Options.Logging] does. An error rejects the
// request. The server reads no further messages of the client until SetLevel returns.
type LevelSetter interface {
	SetLevel(ctx context.Context, level mcp.LoggingLevel) error
}

// Implement adds a handler: one value whose methods implement a whole server or a part of it, in place of one
// function for each tool, resource and prompt. The server declares the capabilities that match the methods of h. h
// must implement at least one of these interfaces:
//
//   - tools: [ToolLister] and [ToolCaller], only together;
//   - resources: [ResourceReader], together with a [ResourceLister], a [ResourceTemplateLister] or both, and
//     optionally [ResourceSubscriber] for clients that watch resources;
//   - prompts: [PromptLister] and [PromptGetter], only together;
//   - completion: [Completer];
//   - logging: [LevelSetter];
//   - sessions: [Initializer], [Terminator] and [ClientCapabilitiesHandler];
//   - other capabilities: [CapabilityDeclarer].
//
// The server calls the methods concurrently. Their contexts are like the context of a [ToolHandler]: [RequestFrom]
// returns the request, with the client, the session and its values, the HTTP request, logging and progress. After a
// panic, or an error other than an [*mcp.Error], the client gets -32603 with a neutral message, except where an
// interface specifies otherwise. The handler divides its lists into pages, with its own cursors. A nil result is an
// empty result. The server adapts a copy of each result to the client's revision, and does not change the result
// itself. The server does not validate results of h against any schema.
//
// A program may call Implement for several values, before or after clients connect. A client sees the capabilities
// that the server had when the client connected. Implement returns an error, and changes nothing,
//
//   - if h has none of the interfaces or only one half of a pair;
//   - if a method of h has the name of an interface method but another signature;
//   - if another handler or an added feature already handles one of the protocol methods.
//
// [AddTool] fails after Implement has added a handler for tools; the same applies to the other features.
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
		if _, taken := s.methods.lookup(m.Name); taken {
			return fmt.Errorf("implement %T: %s already has a handler", h, m.Name)
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
		return fmt.Errorf("implement %T: one of its methods already has a handler", h)
	}
	if p.host != (host{}) {
		s.hosts.add(&p.host)
	}
	return nil
}

func (s *Server) implementLevel(h LevelSetter) error {
	if s.logging.setter.Load() != nil || !s.logging.offer() {
		return fmt.Errorf("%s already has a handler", mcp.MethodSetLevel)
	}
	s.logging.setter.Store(&h)
	return nil
}

// ToolsChanged notifies clients that the list of a [ToolLister] has changed: legacy clients, and modern clients that
// subscribe to such notifications. Changes within 10 ms result in one notification.
func (s *Server) ToolsChanged() { s.changed(notice{method: mcp.NotificationToolListChanged}) }

// ResourcesChanged does the same as ToolsChanged for a [ResourceLister] and a [ResourceTemplateLister].
func (s *Server) ResourcesChanged() { s.changed(notice{method: mcp.NotificationResourceListChanged}) }

// PromptsChanged does the same as ToolsChanged for a [PromptLister].
func (s *Server) PromptsChanged() { s.changed(notice{method: mcp.NotificationPromptListChanged}) }

// host holds the interfaces of a handler that concern sessions.
type host struct {
	init         Initializer
	terminate    Terminator
	capabilities ClientCapabilitiesHandler
}

// hosts holds the host of each handler of a server, in the order of Implement.
type hosts struct{ list atomic.Pointer[[]*host] }

func (t *hosts) all() []*host {
	if list := t.list.Load(); list != nil {
		return *list
	}
	return nil
}

// add adds a host. Callers must not call it concurrently.
func (t *hosts) add(h *host) {
	old := t.all()
	list := append(old[:len(old):len(old)], h)
	t.list.Store(&list)
}

// contracts are the interfaces that a handler may implement.
var contracts = []reflect.Type{
	reflect.TypeFor[Initializer](), reflect.TypeFor[Terminator](), reflect.TypeFor[ClientCapabilitiesHandler](),
	reflect.TypeFor[ToolLister](), reflect.TypeFor[ToolCaller](),
	reflect.TypeFor[ResourceLister](), reflect.TypeFor[ResourceTemplateLister](), reflect.TypeFor[ResourceReader](),
	reflect.TypeFor[ResourceSubscriber](),
	reflect.TypeFor[PromptLister](), reflect.TypeFor[PromptGetter](),
	reflect.TypeFor[Completer](), reflect.TypeFor[LevelSetter](), reflect.TypeFor[CapabilityDeclarer](),
}

// mistaken returns an error if a method of h has the name of an interface method but the server would not call it.
func mistaken(h any) error {
	t := reflect.TypeOf(h)
	for _, contract := range contracts {
		if t.Implements(contract) {
			continue
		}
		if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(contract) {
			return fmt.Errorf("only *%v has the methods of %s: pass a pointer", t, contract.Name())
		}
		if err := almost(t, contract); err != nil {
			return err
		}
	}
	return nil
}

// almost returns an error if t has a method with the name of one of the contract's methods, but does not implement the
// contract.
func almost(t, contract reflect.Type) error {
	var has, lacks string
	for want := range contract.Methods() {
		got, ok := t.MethodByName(want.Name)
		switch {
		case !ok:
			lacks = want.Name
		case reflect.Zero(t).MethodByName(got.Name).Type() != want.Type:
			return fmt.Errorf("its method %s does not match %s, which has %s%s", got.Name, contract.Name(), got.Name,
				strings.TrimPrefix(want.Type.String(), "func"))
		default:
			has = got.Name
		}
	}
	if has == "" {
		return nil
	}
	return half(has, lacks)
}

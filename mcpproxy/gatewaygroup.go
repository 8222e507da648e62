package mcpproxy

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// notifier sends notifications that belong to no request. It is the host's server or the host's session.
type notifier interface {
	ToolsChanged()
	PromptsChanged()
	ResourcesChanged()
	ResourceUpdated(uri string)
	Log(level mcp.LoggingLevel, logger string, data any) error
}

// hostGroup holds the clients of one host, or of all hosts without sessions. There is one client for each member.
type hostGroup struct {
	g      *Gateway
	life   context.Context // ends with stop
	end    context.CancelFunc
	tasks  sync.WaitGroup
	owners owners

	mu      sync.Mutex
	begun   time.Time           // guarded by mu; start of connecting; zero before that
	stopped bool                // guarded by mu
	clients *mcpclient.Group    // guarded by mu; nil before connecting, and if that failed
	members []*member           // guarded by mu until begun, then immutable
	failed  error               // guarded by mu; why connecting failed
	session *mcpserver.Session  // guarded by mu; nil for a host without a session
	server  *mcpserver.Server   // guarded by mu until begun
	level   mcp.LoggingLevel    // guarded by mu; level of log messages; empty if the host has set none
	watched map[string]*watched // guarded by mu; by URI
}

// member is one member of a gateway, for one host or for all hosts without sessions.
type member struct {
	h      *hostGroup
	name   string
	prefix string // prefix of the names of its tools and prompts
	demand bool   // the client starts at its first use, or stops when it is idle

	mu         sync.Mutex
	calls      []*request                   // guarded by mu; requests that the member is answering, oldest first
	aliases    map[string]groupname.Aliases // guarded by mu; by kind of list
	missing    bool                         // guarded by mu; a list was answered without the member's items
	silent     bool                         // guarded by mu; a list has timed out, and a ping is still unanswered
	unanswered bool                         // guarded by mu; a request on this connection ended without an answer

	levelLock lock.Mutex        // held while the level is sent to the member
	level     mcp.LoggingLevel  // guarded by levelLock; latest level that was sent to the member
	levelOf   *mcpclient.Client // guarded by levelLock; client that has sent the level
}

func newHostGroup(g *Gateway) *hostGroup {
	h := &hostGroup{g: g, watched: map[string]*watched{}}
	h.life, h.end = context.WithCancel(context.Background())
	return h
}

// everything has the capabilities that the gateway declares to members on behalf of hosts that share clients. If a host
// cannot answer a request of a member, the request fails.
var everything = mcp.ClientCapabilities{
	Elicitation: &mcp.ElicitationCapability{Form: mcp.Object{}, URL: mcp.Object{}},
	Sampling:    &mcp.SamplingCapability{Tools: mcp.Object{}, Context: mcp.Object{}},
	Roots:       &mcp.RootsCapability{},
}

// connect starts to connect to the members, with the host's capabilities. Only the first call has an effect.
func (h *hostGroup) connect(able mcp.ClientCapabilities, s *mcpserver.Session, server *mcpserver.Server) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopped:
		return errGatewayStopped
	case !h.begun.IsZero():
		if s != nil { // the host opens a session after server/discover
			h.session = s
		}
		return h.failed
	}
	h.begun, h.session, h.server = time.Now(), s, server
	members := make([]mcpclient.Member, len(h.g.members))
	h.members = make([]*member, len(members))
	for i, m := range h.g.members {
		own := &member{h: h, name: m.Name, prefix: h.g.prefixes[i], aliases: map[string]groupname.Aliases{},
			demand: m.Lazy || m.Idle > 0}
		h.members[i] = own
		m.Options = own.options(m.Options, able)
		members[i] = m
	}
	h.clients, h.failed = mcpclient.NewGroup(members, &mcpclient.GroupOptions{
		Separator: h.g.o.Separator, NameLimit: h.g.o.NameLimit, ListDir: h.g.o.ListDir, NoListDir: h.g.o.NoListDir,
	})
	if h.failed != nil {
		h.members = nil
	}
	return h.failed
}

// group returns the clients, or nil before connecting and if that failed.
func (h *hostGroup) group() *mcpclient.Group {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clients
}

// running returns the client of the member, or nil if none is running. It is not for calls: see [member.ready].
func (m *member) running() *mcpclient.Client {
	if all := m.h.group(); all != nil {
		for name, c := range all.Members() {
			if name == m.name {
				return c
			}
		}
	}
	return nil
}

// options returns the options for a member's client: the user's options, with the host's capabilities.
func (m *member) options(given *mcpclient.Options, able mcp.ClientCapabilities) *mcpclient.Options {
	o := *given
	o.Capabilities.Elicitation, o.Capabilities.Sampling = able.Elicitation, able.Sampling
	o.Capabilities.Roots = able.Roots
	o.Features = append(o.Features[:len(o.Features):len(o.Features)], mcpclient.UseTasks(nil),
		mcpclient.HandleToolListChanged(func(context.Context) { m.h.notifier().ToolsChanged() }),
		mcpclient.HandlePromptListChanged(func(context.Context) { m.h.notifier().PromptsChanged() }),
		mcpclient.HandleResourceListChanged(func(context.Context) { m.h.notifier().ResourcesChanged() }),
		mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) { m.h.notifier().ResourceUpdated(uri) }),
		mcpclient.HandleLogMessage(m.log),
		mcpclient.HandleNotification(mcp.NotificationElicitationComplete, m.elicited),
	)
	for method, can := range map[string]bool{
		mcp.MethodElicit: able.Elicitation != nil, mcp.MethodCreateMessage: able.Sampling != nil,
		mcp.MethodListRoots: able.Roots != nil,
	} {
		if can {
			o.Features = append(o.Features, mcpclient.HandleRequest(method, m.asks))
		}
	}
	o.OnTransition = func(t connstate.Transition) {
		if given.OnTransition != nil {
			given.OnTransition(t)
		}
		if t.To == connstate.Ready {
			m.mu.Lock()
			m.unanswered = false
			m.mu.Unlock()
			m.h.background(m.settle)
		}
	}
	return &o
}

// present returns the members. It returns none before the host has connected.
func (h *hostGroup) present() []*member {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.members
}

// notifier returns the notifier for the host.
func (h *hostGroup) notifier() notifier {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != nil {
		return h.session
	}
	return h.server
}

// of returns the session of the host, or nil.
func (h *hostGroup) of() *mcpserver.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session
}

// background runs f in a goroutine. f must end soon after h.life. If h has stopped, background reports false and does
// not run f.
func (h *hostGroup) background(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stopped {
		h.tasks.Go(f)
	}
	return !h.stopped
}

// stop ends the clients with end, and waits for the goroutines of the host.
func (h *hostGroup) stop(end func(*mcpclient.Group) error) error {
	h.mu.Lock()
	h.stopped = true
	clients := h.clients
	h.mu.Unlock()
	var err error
	if clients != nil {
		err = end(clients)
	}
	h.end()
	h.tasks.Wait()
	h.g.forget(h)
	return err
}

// setLevel sends the level of log messages to the members, if it has changed.
func (h *hostGroup) setLevel(level mcp.LoggingLevel) {
	h.mu.Lock()
	same := h.level == level
	h.level = level
	members := h.members
	h.mu.Unlock()
	if same {
		return
	}
	for _, m := range members {
		h.background(func() { m.sendLevel(h.life) })
	}
}

// settle sends the log level to a newly connected member. If lists were answered without the member, settle notifies
// the host.
func (m *member) settle() {
	m.sendLevel(m.h.life)
	m.mu.Lock()
	missing := m.missing
	m.missing = false
	m.mu.Unlock()
	if missing {
		to := m.h.notifier()
		to.ToolsChanged()
		to.PromptsChanged()
		to.ResourcesChanged()
	}
}

// sendLevel sends the level of log messages to a member. After a reconnection, the member's client itself sends the
// level again.
func (m *member) sendLevel(ctx context.Context) {
	if m.levelLock.LockContext(ctx) != nil {
		return
	}
	defer m.levelLock.Unlock()
	m.h.mu.Lock()
	level := m.h.level
	m.h.mu.Unlock()
	c := m.running()
	if c == nil || m.level == level && (m.levelOf == c || level == "") {
		return // a client that starts later sends the level when it is ready
	}
	if err := c.SetLogLevel(ctx, level); err == nil || errors.Is(err, mcpclient.ErrUnsupported) {
		m.level, m.levelOf = level, c
	}
}

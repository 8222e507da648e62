package mcpproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// GatewayOptions are those of a [Gateway]. The zero value of each field means its default.
type GatewayOptions struct {
	// Info is how the gateway introduces itself to hosts. Zero means the name "gateway".
	Info mcp.Implementation

	// Separator and NameLimit make the names of tools and prompts, as those of [mcpclient.GroupOptions] do.
	Separator string
	NameLimit int

	// NoPrefix leaves the names of tools and prompts, and of loggers, as the member has them, of which there must be one
	// alone. So hosts and a server that have no revision of the protocol in common can work together.
	NoPrefix bool

	// Patience is how long lists and calls of a host wait for members that are still connecting, counted from when the
	// host has come; with NoPrefix, from when it has asked. Zero means 5 s, negative means not at all.
	Patience time.Duration

	// Policy says which tools hosts may call, and what they get to see. Its patterns are for the names that tools have in
	// the gateway. Nil means that all passes.
	Policy *Policy

	// Server are options of the end towards hosts. Logging, NameTargets, Telemetry and what of Capabilities is about
	// completions are the gateway's. Zero fields mean the defaults of [mcpserver.Options], but for FrameLimit,
	// [DefaultFrameLimit], and MaxConcurrent, 1,024. Processes that serve the same hosts need the same StateKeys.
	Server mcpserver.Options

	// Telemetry is where spans, metrics and log records of the end towards hosts go, and of members without Options of
	// their own. Nil means telemetry.New().
	Telemetry *telemetry.Telemetry
}

// Gateway makes one server of several: tools, prompts and resources of all its members are those of one server. It is
// safe for concurrent use.
//
// Tools and prompts are called what their member is called, a separator, and their own name, as in [mcpclient.Group],
// unless [GatewayOptions.NoPrefix] says otherwise. Resources keep their URIs. A member that is not connected has no
// part in lists, and what is asked of it is answered with an error that names it; it is connected to anew in the
// background, and hosts hear that lists have changed.
//
// Each host that has a session, or a connection of its own, has clients of its own to all members, so that what a
// member asks of its client and tells it belongs to that host. Requests over HTTP without sessions, those of
// 2026-07-28, share one client for each member.
type Gateway struct {
	o        GatewayOptions
	members  []mcpclient.Member
	naming   groupname.Naming
	prefixes []string // of the members, in their order
	guard    *guard   // nil if there is no policy
	tel      *instrument.Server
	listed   listBudget
	http     *mcpserver.Server

	mu      sync.Mutex
	groups  map[*hostGroup]struct{} // guarded by mu
	shared  *hostGroup              // guarded by mu; of hosts without sessions; nil before the first handler
	stopped bool                    // guarded by mu
}

// NewGateway returns a gateway for members, of which there must be one at least. Their Options may have features of the
// caller's, but none that answers what servers ask clients for: hosts do. Nil Options mean no timeout for calls, frames
// of up to 64 MiB, and the gateway's telemetry. It is an error if a member or an option is invalid; options that
// [mcpserver.New] does not take are mistakes in the program, and NewGateway panics.
//
// Members are connected to when a host comes, and by [Gateway.HTTPHandler]. The caller must stop the gateway.
func NewGateway(members []mcpclient.Member, o *GatewayOptions) (*Gateway, error) {
	g := &Gateway{groups: map[*hostGroup]struct{}{}}
	if o != nil {
		g.o = *o
	}
	g.o.Info.Name = cmp.Or(g.o.Info.Name, "gateway")
	g.o.Patience = max(0, cmp.Or(g.o.Patience, 5*time.Second))
	g.o.Server.InstanceID = cmp.Or(g.o.Server.InstanceID, instrument.NewInstanceID())
	if g.o.Telemetry == nil {
		g.o.Telemetry = telemetry.New()
	}
	name := cmp.Or(g.o.Server.Name, g.o.Info.Name)
	g.tel = instrument.NewServer(g.o.Telemetry, name, instrument.Network{},
		instrument.WithInstanceID(g.o.Server.InstanceID))
	var err error
	if g.o.Policy != nil {
		if g.guard, err = newGuard(g.o.Policy, g.tel); err != nil {
			return nil, fmt.Errorf("mcpproxy: %w", err)
		}
		g.o.Telemetry = g.redacting(g.o.Telemetry)
	}
	if err = g.join(members); err != nil {
		return nil, fmt.Errorf("mcpproxy: %w", err)
	}
	g.http, err = g.newServer(nil)
	return g, err
}

// join takes the members, once their names and options have been found good.
func (g *Gateway) join(members []mcpclient.Member) error {
	var err error
	if g.naming, err = groupname.New(cmp.Or(g.o.Separator, "_"), cmp.Or(g.o.NameLimit, 128)); err != nil {
		return err
	}
	switch {
	case len(members) == 0:
		return errors.New("no members")
	case g.o.NoPrefix && len(members) > 1:
		return fmt.Errorf("NoPrefix is for one member, and these are %d", len(members))
	}
	for _, m := range members {
		if m.Transport == nil {
			return fmt.Errorf("member %q: no transport", m.Name)
		}
		prefix, err := g.naming.Prefix(m.Name)
		if err != nil {
			return err
		}
		if i := slices.Index(g.prefixes, prefix); i >= 0 {
			return fmt.Errorf("members %q and %q: the names of the tools of both would begin with %s; rename one",
				members[i].Name, m.Name, prefix)
		}
		if g.o.NoPrefix {
			prefix = ""
		}
		g.prefixes = append(g.prefixes, prefix)
		if m.Options == nil {
			m.Options = &mcpclient.Options{
				RequestTimeout: -1, FrameLimit: DefaultFrameLimit, CloseTimeout: time.Second, Telemetry: g.o.Telemetry,
			}
		}
		if o := *m.Options; g.guard != nil {
			if o.Telemetry == nil {
				o.Telemetry = telemetry.New()
			}
			o.Telemetry = g.redacting(o.Telemetry)
			m.Options = &o
		}
		g.members = append(g.members, m)
	}
	return nil
}

// redacting returns a function that redacts contents by the policy.
func (g *Gateway) redacting(t *telemetry.Telemetry) *telemetry.Telemetry {
	if g.guard == nil || g.guard.secrets == nil {
		return t
	}
	return instrument.Redacting(t, g.guard.scrub)
}

// newServer returns the end towards one host, or towards all over HTTP if own is nil.
func (g *Gateway) newServer(own *hostGroup) (*mcpserver.Server, error) {
	o := g.o.Server
	o.FrameLimit = cmp.Or(o.FrameLimit, DefaultFrameLimit)
	o.MaxConcurrent = cmp.Or(o.MaxConcurrent, maxRelayed)
	o.Logging, o.NameTargets, o.Telemetry = true, true, g.o.Telemetry
	o.Capabilities.Completions = mcp.Object{}
	end := &hostEnd{g: g, own: own}
	o.Middleware = append(slices.Clone(o.Middleware), end.between)
	s := mcpserver.New(g.o.Info, &o)
	end.server = s
	if err := s.Implement(&offered{hostEnd: end}); err != nil {
		return nil, err
	}
	return s, s.HandleRootsChanged(end.rootsChanged)
}

// maxRelayed is how many requests of one host wait at once for what members answer.
const maxRelayed = 1024

// Serve serves the host at the other end of c, with clients of its own to the members, until the host has left or ctx
// ends. These clients have ended when it returns. The error is that of [mcpserver.Server.Serve].
func (g *Gateway) Serve(ctx context.Context, c mcpserver.Conn) error {
	return g.serve(func(s *mcpserver.Server) error { return s.Serve(ctx, c) })
}

// ServeStdio is Serve for the host at the other end of standard input and output. What [mcpserver.Server.ServeStdio]
// says of these holds.
func (g *Gateway) ServeStdio(ctx context.Context) error {
	return g.serve(func(s *mcpserver.Server) error { return s.ServeStdio(ctx) })
}

func (g *Gateway) serve(serve func(*mcpserver.Server) error) error {
	h, err := g.newGroup()
	if err != nil {
		return err
	}
	defer h.stop(context.Background())
	s, err := g.newServer(h)
	if err != nil {
		return err
	}
	return serve(s)
}

// HTTPHandler returns a handler for hosts over HTTP, which is to be mounted at a path such as /mcp, and connects to the
// members for hosts that have no sessions. Nil for o means the defaults. End the handler with
// [mcpserver.HTTPHandler.Shutdown], and then the gateway with [Gateway.Stop].
//
// A session has clients of its own to the members from its first request behind initialize on. There are
// [DefaultMaxSessions] at most, unless [mcpserver.HTTPOptions.MaxSessions] has another number.
//
// With a store of sessions, [mcpserver.HTTPOptions.Sessions], any process that has the same members may serve a
// session: each has clients of its own for it, with what the host has declared, its log level and its subscriptions.
// What does not move is what a member keeps for one connection, and a call that is under way.
func (g *Gateway) HTTPHandler(o *mcpserver.HTTPOptions) *mcpserver.HTTPHandler {
	g.mu.Lock()
	h, first := g.shared, g.shared == nil && !g.stopped
	if first {
		h = newHostGroup(g)
		g.groups[h], g.shared = struct{}{}, h
	}
	g.mu.Unlock()
	if first {
		h.connect(everything, nil, g.http) // its errors are those of each request
	}
	return g.http.HTTPHandler(boundSessions(o))
}

// HealthHandler tells over HTTP whether the members can be used, as [mcpclient.HealthHandler] does: those that hosts
// without sessions share, or, without [Gateway.HTTPHandler], those of each host.
func (g *Gateway) HealthHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mcpclient.HealthHandler(g.clients()...).ServeHTTP(w, r)
	})
}

func (g *Gateway) clients() (all []*mcpclient.Client) {
	g.mu.Lock()
	groups := slices.Collect(maps.Keys(g.groups))
	if g.shared != nil {
		groups = []*hostGroup{g.shared}
	}
	g.mu.Unlock()
	for _, h := range groups {
		for _, m := range h.present() {
			all = append(all, m.client)
		}
	}
	return all
}

// Stop ends the clients of all hosts, and takes no more hosts. It returns when they have ended, or the cause of ctx.
func (g *Gateway) Stop(ctx context.Context) error {
	g.mu.Lock()
	g.stopped = true
	groups := slices.Collect(maps.Keys(g.groups))
	g.mu.Unlock()
	failed := make([]error, len(groups))
	var stopping sync.WaitGroup
	for i, h := range groups {
		stopping.Go(func() { failed[i] = h.stop(ctx) })
	}
	stopping.Wait()
	g.tel.Close()
	return errors.Join(failed...)
}

var errGatewayStopped = &mcp.Error{Code: mcp.CodeInternalError, Message: "the gateway has been stopped"}

// newGroup returns what one host has, which does not connect yet.
func (g *Gateway) newGroup() (*hostGroup, error) {
	h := newHostGroup(g)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return nil, errGatewayStopped
	}
	g.groups[h] = struct{}{}
	return h, nil
}

func (g *Gateway) forget(h *hostGroup) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, h)
	if g.shared == h {
		g.shared = nil
	}
}

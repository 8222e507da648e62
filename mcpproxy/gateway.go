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

// GatewayOptions configure a [Gateway]. The zero value of each field means its default.
type GatewayOptions struct {
	// Info is the gateway's own name and version for hosts. Zero means the name "gateway".
	Info mcp.Implementation

	// Separator and NameLimit control the names of tools and prompts, as in [mcpclient.GroupOptions].
	Separator string
	NameLimit int

	// ListDir and NoListDir control the cache for the lists of members with Lazy or Idle, as in [mcpclient.GroupOptions].
	ListDir   string
	NoListDir bool

	// NoPrefix keeps the member's own names of tools, prompts and loggers. It requires exactly one member. Use it for a
	// host and a server that share no revision of the protocol.
	NoPrefix bool

	// Patience bounds how long a host's lists and calls wait for members that are still connecting. The time starts when
	// the host arrives or, with NoPrefix, when the request arrives. Zero means 5 s, negative means no waiting.
	//
	// For a member with Lazy or Idle, the time starts with the client, and is at least a minute for a call.
	Patience time.Duration

	// Policy decides which tools hosts may call, and which data they see. Its patterns match the tool names of the
	// gateway. Nil means no policy.
	Policy *Policy

	// Server configures the gateway's server, to which hosts connect. The gateway itself sets Logging, NameTargets,
	// Telemetry and the completions in Capabilities. Zero fields mean the defaults of [mcpserver.Options], with two
	// exceptions: Limits.Frame defaults to [DefaultFrameLimit] and Limits.Concurrent to 1,024. Processes that serve the
	// same hosts need the same StateKeys.
	Server mcpserver.Options

	// Telemetry receives the spans, metrics and log records of the gateway's server, and of members without their own
	// Options. Nil means telemetry.New().
	Telemetry *telemetry.Telemetry
}

// Gateway presents several servers as one, with the tools, prompts and resources of all its members. It is safe for
// concurrent use.
//
// The name of a tool or prompt consists of the name of its member, a separator, and its own name, as in
// [mcpclient.Group], unless [GatewayOptions.NoPrefix] is set. Resources keep their URIs. A member without a connection
// is omitted from lists, and requests for it fail with an error that contains its name. The gateway reconnects in the
// background, and notifies hosts that lists have changed.
//
// Each host with a session or its own connection has its own clients to all members, so that requests and notifications
// of a member belong to that host. HTTP requests without sessions (2026-07-28) share one client for each member. A stdio
// server thus has one process for each host. With Lazy and Idle of [mcpclient.Member], the process exists only while its
// host uses the server; processes are never shared.
type Gateway struct {
	o        GatewayOptions
	members  []mcpclient.Member
	naming   groupname.Naming
	prefixes []string // prefixes of the members, in their order
	guard    *guard   // nil if there is no policy
	tel      *instrument.Server
	listed   listBudget
	http     *mcpserver.Server

	mu      sync.Mutex
	groups  map[*hostGroup]struct{} // guarded by mu
	shared  *hostGroup              // guarded by mu; clients for HTTP requests without sessions; nil before HTTPHandler
	stopped bool                    // guarded by mu
}

// NewGateway returns a gateway for one or more members. The Options of a member may add features, except features that
// answer requests of servers, because the hosts answer these requests. Nil Options mean no timeout for calls, frames of
// up to 64 MiB, and the gateway's telemetry. NewGateway returns an error if a member or an option is invalid. It panics
// if [mcpserver.New] rejects the Server options, because that is a mistake in the program.
//
// The gateway connects to the members when a host arrives, and in [Gateway.HTTPHandler]. The caller must close the
// gateway.
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

// join validates the names and options of the members, and adds the members.
func (g *Gateway) join(members []mcpclient.Member) error {
	var err error
	if g.naming, err = groupname.New(cmp.Or(g.o.Separator, "_"), cmp.Or(g.o.NameLimit, 128)); err != nil {
		return err
	}
	switch {
	case len(members) == 0:
		return errors.New("a gateway needs at least one member")
	case g.o.NoPrefix && len(members) > 1:
		return fmt.Errorf("NoPrefix needs exactly one member, got %d", len(members))
	}
	for _, m := range members {
		if m.Transport == nil {
			return fmt.Errorf("member %q has no transport", m.Name)
		}
		prefix, err := g.naming.Prefix(m.Name)
		if err != nil {
			return err
		}
		if i := slices.Index(g.prefixes, prefix); i >= 0 {
			return fmt.Errorf("members %q and %q: both would have the prefix %s for their tools; rename one",
				members[i].Name, m.Name, prefix)
		}
		if g.o.NoPrefix {
			prefix = ""
		}
		g.prefixes = append(g.prefixes, prefix)
		if m.Options == nil {
			m.Options = &mcpclient.Options{
				RequestTimeout: -1, Limits: mcpclient.Limits{Frame: DefaultFrameLimit},
				Timeouts: mcpclient.Timeouts{Close: time.Second}, Telemetry: g.o.Telemetry,
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

// redacting returns a Telemetry that redacts contents according to the policy.
func (g *Gateway) redacting(t *telemetry.Telemetry) *telemetry.Telemetry {
	if g.guard == nil || g.guard.secrets == nil {
		return t
	}
	return instrument.Redacting(t, g.guard.scrub)
}

// newServer returns the server for one host. If own is nil, it returns the server for all hosts over HTTP.
func (g *Gateway) newServer(own *hostGroup) (*mcpserver.Server, error) {
	o := g.o.Server
	o.Limits.Frame = cmp.Or(o.Limits.Frame, DefaultFrameLimit)
	o.Limits.Concurrent = cmp.Or(o.Limits.Concurrent, maxRelayed)
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

// maxRelayed bounds the requests of one host that wait for answers of members.
const maxRelayed = 1024

// Serve serves the host at the other end of c until the host has left or ctx ends. The host has its own clients to the
// members, which have ended when Serve returns. Serve returns the error of [mcpserver.Server.Serve].
func (g *Gateway) Serve(ctx context.Context, c mcpserver.Conn) error {
	return g.serve(func(s *mcpserver.Server) error { return s.Serve(ctx, c) })
}

// ServeStdio is like Serve, for the host on standard input and output. See [mcpserver.Server.ServeStdio].
func (g *Gateway) ServeStdio(ctx context.Context) error {
	return g.serve(func(s *mcpserver.Server) error { return s.ServeStdio(ctx) })
}

func (g *Gateway) serve(serve func(*mcpserver.Server) error) error {
	h, err := g.newGroup()
	if err != nil {
		return err
	}
	defer h.stop((*mcpclient.Group).Close)
	s, err := g.newServer(h)
	if err != nil {
		return err
	}
	return serve(s)
}

// HTTPHandler returns a handler for hosts over HTTP, to mount at a path such as /mcp. It also starts one client for
// each member, for all HTTP requests without sessions. A nil o means the defaults. End the handler with
// [mcpserver.HTTPHandler.Shutdown], and then the gateway with [Gateway.Close] or [Gateway.Shutdown].
//
// A session has its own clients to the members, from its first request after initialize. The limit is
// [DefaultMaxSessions] sessions, unless Sessions of [mcpserver.HTTPLimits] sets another limit.
//
// With a store of sessions, [mcpserver.HTTPOptions.Sessions], any process with the same members may serve a session.
// Each process has its own clients for the session, with the host's capabilities, its log level and its subscriptions.
// Calls in flight, and state that a member keeps for one connection, stay in their process.
func (g *Gateway) HTTPHandler(o *mcpserver.HTTPOptions) *mcpserver.HTTPHandler {
	g.mu.Lock()
	h, first := g.shared, g.shared == nil && !g.stopped
	if first {
		h = newHostGroup(g)
		g.groups[h], g.shared = struct{}{}, h
	}
	g.mu.Unlock()
	if first {
		h.connect(everything, nil, g.http) // each request returns the error
	}
	return g.http.HTTPHandler(boundSessions(o))
}

// HealthHandler returns a handler that reports whether the members are usable, like [mcpclient.HealthHandler]. After a
// call of [Gateway.HTTPHandler], it checks one client for each member: the client that all HTTP requests without
// sessions share. Without such a call, it checks the clients of every host.
func (g *Gateway) HealthHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mcpclient.GroupHealthHandler(g.clients()...).ServeHTTP(w, r)
	})
}

func (g *Gateway) clients() (all []*mcpclient.Group) {
	g.mu.Lock()
	groups := slices.Collect(maps.Keys(g.groups))
	if g.shared != nil {
		groups = []*hostGroup{g.shared}
	}
	g.mu.Unlock()
	for _, h := range groups {
		if clients := h.group(); clients != nil {
			all = append(all, clients)
		}
	}
	return all
}

// Close rejects new hosts, and closes the clients of all hosts with [mcpclient.Client.Close].
func (g *Gateway) Close() error { return g.end((*mcpclient.Group).Close) }

// Shutdown rejects new hosts, waits for the operations of all hosts, and closes their clients with
// [mcpclient.Client.Shutdown]. If ctx ends first, it closes the clients immediately and returns the cause of ctx.
func (g *Gateway) Shutdown(ctx context.Context) error {
	return g.end(func(clients *mcpclient.Group) error { return clients.Shutdown(ctx) })
}

// end ends the clients of all hosts.
func (g *Gateway) end(end func(*mcpclient.Group) error) error {
	g.mu.Lock()
	g.stopped = true
	groups := slices.Collect(maps.Keys(g.groups))
	g.mu.Unlock()
	failed := make([]error, len(groups))
	var stopping sync.WaitGroup
	for i, h := range groups {
		stopping.Go(func() { failed[i] = h.stop(end) })
	}
	stopping.Wait()
	g.tel.Close()
	return errors.Join(failed...)
}

var errGatewayStopped = &mcp.Error{Code: mcp.CodeInternalError, Message: "the gateway is closed"}

// newGroup returns the clients of one host. They are not connected yet.
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

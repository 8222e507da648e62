package mcpserver

import (
	"context"
	"slices"

	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/introduction"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// lifecycle returns the methods of the lifecycle: initialize, ping, server/discover and subscriptions/listen.
func lifecycle(s *Server) feature {
	f := feature{methods: []*method{{Method: named(mcp.MethodInitialize), handle: s.initialize, inline: true}}}
	if len(s.cfg.legacy) > 0 {
		f.methods = append(f.methods, &method{Method: named(mcp.MethodPing), handle: ping, inline: true})
	}
	if len(s.cfg.modern) > 0 {
		f.methods = append(f.methods, &method{Method: named(mcp.MethodDiscover), handle: s.discover, inline: true},
			&method{Method: named(mcp.MethodSubscriptionsListen), handle: s.listen})
	}
	return f
}

// ping answers ping with an empty result. (specification 2025-11-25, basic/utilities/ping)
func ping(context.Context, *call) (any, error) { return nil, nil }

// legacyTerms returns the revision of the session. Before a session is open, the server answers only initialize and
// ping. The specification lets a server decide about other requests; this server refuses them, because it would have
// to guess their revision.
// (specification 2025-11-25, basic/lifecycle; 2026-07-28, basic/index, "Per-request protocol fields")
func (x *exchange) legacyTerms(method string) (mcp.Version, engine.Sender, error) {
	if a := x.Terms.Agreed.Load(); a != nil {
		return a.Version, engine.Sender{Agreed: a}, nil
	}
	switch {
	case method == mcp.MethodInitialize, method == mcp.MethodPing && len(x.s.cfg.legacy) > 0:
		return "", engine.Sender{}, nil
	case len(x.s.cfg.modern) == 0:
		return "", engine.Sender{}, rpc.InvalidRequest("a session must begin with %s", mcp.MethodInitialize)
	case len(x.s.cfg.legacy) == 0:
		return "", engine.Sender{}, rpc.InvalidParams("params._meta has no %q", mcp.MetaProtocolVersion)
	}
	return "", engine.Sender{}, rpc.InvalidParams("params._meta has no %q, and no session was opened by %s",
		mcp.MetaProtocolVersion, mcp.MethodInitialize)
}

// initialize opens the session of a legacy client, once.
// (specification 2025-11-25, basic/lifecycle, "Version Negotiation")
func (s *Server) initialize(ctx context.Context, c *call) (any, error) {
	p, weight, err := introduction.Decode(c.params)
	switch {
	case len(s.cfg.legacy) == 0:
		return nil, engine.UnsupportedVersion(p.ProtocolVersion, s.cfg.versions)
	case err != nil:
		return nil, rpc.InvalidParams("params: %w", err)
	case p.ProtocolVersion == "":
		return nil, rpc.InvalidParams("params.protocolVersion is missing")
	}
	known := max(0, slices.Index(s.cfg.legacy, p.ProtocolVersion))
	a := &engine.Agreement{
		Version: s.cfg.legacy[known], Client: p.ClientInfo, Capabilities: p.Capabilities, Weight: weight,
	}
	a.Declared = s.capabilities(a.Version)
	s.tasks.declareList(&a.Declared, c.x.Client.Principal)
	if c.x.conn == nil {
		silence(&a.Declared)
	}
	if err := c.x.agree(ctx, a); err != nil {
		return nil, err
	}
	return &mcp.InitializeResult{
		ProtocolVersion: a.Version,
		Capabilities:    a.Declared,
		ServerInfo:      s.info.In(a.Version),
		Instructions:    s.cfg.Instructions,
	}, nil
}

// discover answers server/discover. (specification 2026-07-28, server/discover)
func (s *Server) discover(_ context.Context, c *call) (any, error) {
	return &mcp.DiscoverResult{
		CacheHint:         s.cfg.cacheHint(c.x.Client.Principal),
		SupportedVersions: s.cfg.versions,
		Capabilities:      s.capabilities(c.info.Version),
		Instructions:      s.cfg.Instructions,
	}, nil
}

package mcpserver

import (
	"context"
	"slices"

	"github.com/mcpotel/mcpotel/internal/server/introduction"
	"github.com/mcpotel/mcpotel/mcp"
)

// lifecycle returns the methods of the lifecycle: initialize, ping, server/discover and subscriptions/listen.
func lifecycle(s *Server) feature {
	f := feature{methods: []*method{{name: mcp.MethodInitialize, handle: s.initialize, inline: true}}}
	if len(s.cfg.legacy) > 0 {
		f.methods = append(f.methods, &method{name: mcp.MethodPing, handle: ping, inline: true})
	}
	if len(s.cfg.modern) > 0 {
		f.methods = append(f.methods, &method{name: mcp.MethodDiscover, handle: s.discover, inline: true},
			&method{name: mcp.MethodSubscriptionsListen, handle: s.listen})
	}
	return f
}

// ping answers ping with an empty result. (specification 2025-11-25, basic/utilities/ping)
func ping(context.Context, *call) (any, error) { return nil, nil }

// legacyTerms returns the revision of the session. Before there is a session, the server answers only initialize and
// ping. The specification leaves other requests to the server; this server refuses them, because it would have to guess
// their revision.
// (specification 2025-11-25, basic/lifecycle; 2026-07-28, basic/index, "Per-request protocol fields")
func (x *exchange) legacyTerms(method string) (mcp.Version, client, error) {
	if a := x.terms.agreed.Load(); a != nil {
		return a.version, client{agreed: a}, nil
	}
	switch {
	case method == mcp.MethodInitialize, method == mcp.MethodPing && len(x.s.cfg.legacy) > 0:
		return "", client{}, nil
	case len(x.s.cfg.modern) == 0:
		return "", client{}, invalidRequest("the session begins with %s", mcp.MethodInitialize)
	case len(x.s.cfg.legacy) == 0:
		return "", client{}, invalidParams("params._meta has no %q", mcp.MetaProtocolVersion)
	}
	return "", client{}, invalidParams("params._meta has no %q, and no session was opened by %s", mcp.MetaProtocolVersion,
		mcp.MethodInitialize)
}

// initialize opens the session of a legacy client, once.
// (specification 2025-11-25, basic/lifecycle, "Version Negotiation")
func (s *Server) initialize(ctx context.Context, c *call) (any, error) {
	p, weight, err := introduction.Decode(c.params)
	switch {
	case len(s.cfg.legacy) == 0:
		return nil, unsupportedVersion(p.ProtocolVersion, s.cfg.versions)
	case err != nil:
		return nil, invalidParams("params: %w", err)
	case p.ProtocolVersion == "":
		return nil, invalidParams("params.protocolVersion is missing")
	}
	known := max(0, slices.Index(s.cfg.legacy, p.ProtocolVersion))
	a := &agreement{version: s.cfg.legacy[known], client: p.ClientInfo, capabilities: p.Capabilities, weight: weight}
	a.declared = s.capabilities(a.version)
	s.tasks.declareList(&a.declared, c.x.client.principal)
	if c.x.conn == nil {
		silence(&a.declared)
	}
	if err := c.x.agree(ctx, a); err != nil {
		return nil, err
	}
	return &mcp.InitializeResult{
		ProtocolVersion: a.version,
		Capabilities:    a.declared,
		ServerInfo:      s.info.In(a.version),
		Instructions:    s.cfg.Instructions,
	}, nil
}

package mcpserver

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// modernTerms returns the revision of a modern request, and the client as it describes itself.
// (specification 2026-07-28, basic/index, "Per-request protocol fields")
func (s *Server) modernTerms(p *jsonrpc.Params) (mcp.Version, client, error) {
	from := client{info: p.ClientInfo, capabilities: p.ClientCapabilities}
	if p.ProtocolVersion == nil {
		return "", from, invalidParams("params._meta has no %q", mcp.MetaProtocolVersion)
	}
	v, known := s.speaks(p.ProtocolVersion)
	if !known {
		requested, ok := jsonrpc.Text(p.ProtocolVersion)
		if !ok {
			return "", from, invalidParams("params._meta: %q is no string", mcp.MetaProtocolVersion)
		}
		return "", from, s.unsupported(mcp.Version(requested))
	}
	switch {
	case p.ClientCapabilities == nil:
		return v, from, invalidParams("params._meta has no %q", mcp.MetaClientCapabilities)
	case p.ClientCapabilities[0] != '{':
		return v, from, invalidParams("params._meta: %q is no object", mcp.MetaClientCapabilities)
	case p.ClientInfo != nil && p.ClientInfo[0] != '{':
		return v, from, invalidParams("params._meta: %q is no object", mcp.MetaClientInfo)
	}
	return v, from, nil
}

// speaks returns the revision that raw, a JSON value, names, if it is a modern revision that the server speaks.
func (s *Server) speaks(raw []byte) (mcp.Version, bool) {
	for _, known := range s.cfg.modern {
		if jsonrpc.Is(raw, string(known)) {
			return known, true
		}
	}
	return "", false
}

// unsupported refuses the revision that a modern request names. If this is a legacy revision that the server speaks,
// the error offers only the modern revisions, because a modern request cannot use a legacy one.
func (s *Server) unsupported(requested mcp.Version) error {
	if slices.Contains(s.cfg.legacy, requested) {
		return unsupportedVersion(requested, s.cfg.modern)
	}
	return unsupportedVersion(requested, s.cfg.versions)
}

// discover answers server/discover. (specification 2026-07-28, server/discover)
func (s *Server) discover(_ context.Context, c *call) (any, error) {
	return &mcp.DiscoverResult{
		CacheHint:         s.cfg.cacheHint(c.x.client.principal),
		SupportedVersions: s.cfg.versions,
		Capabilities:      s.capabilities(c.info.Version),
		Instructions:      s.cfg.Instructions,
	}, nil
}

// shownResults pools copies of results that are being encoded.
var shownResults = sync.Pool{New: func() any { return new(mcp.CallToolResult) }}

// appendToolResult appends the result of a tool in the form of the client's revision.
func (w view) appendToolResult(dst []byte, r *mcp.CallToolResult) ([]byte, error) {
	shown := shownResults.Get().(*mcp.CallToolResult)
	if r != nil {
		*shown = *r
	}
	w.showToolResult(shown)
	dst, err := mcp.AppendResult(dst, shown)
	*shown = mcp.CallToolResult{} // after a panic of AppendResult, shown is not reused
	shownResults.Put(shown)
	return dst, err
}

// showToolResult converts shown, a copy of the result of a tool, to the form of the client's revision.
func (w view) showToolResult(shown *mcp.CallToolResult) {
	shown.Content = contentIn(shown.Content, w.version)
	switch {
	case w.modern():
		shown.ResultType = finalType(shown.ResultType)
		shown.Meta = w.s.signature.meta(shown.Meta)
		return
	case w.version < mcp.Version20250618:
		shown.StructuredContent = nil
	case !isObject(shown.StructuredContent):
		shown.StructuredContent = nil
	}
	shown.ResultType = ""
}

// isObject reports whether raw, a JSON value, is an object.
func isObject(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{'
}

package mcpserver

import (
	"bytes"
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
)

// discover answers server/discover. (specification 2026-07-28, server/discover)
func (s *Server) discover(_ context.Context, c *call) (any, error) {
	return &mcp.DiscoverResult{
		CacheHint:         s.cfg.cacheHint(c.x.Client.Principal),
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

package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// ModernTerms returns the revision of a modern request, and its sender.
// (specification 2026-07-28, basic/index, "Per-request protocol fields")
func (s *Server) ModernTerms(p *jsonrpc.Params) (mcp.Version, Sender, error) {
	from := Sender{Info: p.ClientInfo, Capabilities: p.ClientCapabilities}
	if p.ProtocolVersion == nil {
		return "", from, rpc.InvalidParams("params._meta has no %q", mcp.MetaProtocolVersion)
	}
	v, known := s.Speaks(p.ProtocolVersion)
	if !known {
		requested, ok := jsonrpc.Text(p.ProtocolVersion)
		if !ok {
			return "", from, rpc.InvalidParams("params._meta: %q is not a string", mcp.MetaProtocolVersion)
		}
		return "", from, s.Unsupported(mcp.Version(requested))
	}
	switch {
	case p.ClientCapabilities == nil:
		return v, from, rpc.InvalidParams("params._meta has no %q", mcp.MetaClientCapabilities)
	case p.ClientCapabilities[0] != '{':
		return v, from, rpc.InvalidParams("params._meta: %q is not an object", mcp.MetaClientCapabilities)
	case p.ClientInfo != nil && p.ClientInfo[0] != '{':
		return v, from, rpc.InvalidParams("params._meta: %q is not an object", mcp.MetaClientInfo)
	}
	return v, from, nil
}

// HeaderTerms returns the revision and the sender of a modern request over HTTP, from its _meta. It returns an error if
// the headers name another revision or another method.
func (x *Exchange) HeaderTerms(method string, p *jsonrpc.Params) (mcp.Version, Sender, error) {
	if err := x.Headers.CheckVersion(p); err != nil {
		return "", Sender{}, err
	}
	v, from, err := x.Home.ModernTerms(p)
	if err != nil {
		return v, from, err
	}
	return v, from, x.Headers.CheckMethod(method)
}

// Unsupported returns the error for a modern request with an unsupported revision. If the server speaks this revision
// as a legacy revision, the error offers only the modern revisions, because a modern request cannot use a legacy one.
func (s *Server) Unsupported(requested mcp.Version) error {
	if slices.Contains(s.Legacy, requested) {
		return UnsupportedVersion(requested, s.Modern)
	}
	return UnsupportedVersion(requested, s.Versions)
}

// UnsupportedVersion returns the error for a client that requests a revision which the server does not support.
// (specification 2026-07-28, basic/versioning, "Protocol Version Negotiation")
func UnsupportedVersion(requested mcp.Version, supported []mcp.Version) error {
	data, err := json.Marshal(mcp.UnsupportedVersionData{Supported: supported, Requested: requested})
	if err != nil {
		return err
	}
	names := make([]string, len(supported))
	for i, v := range supported {
		names[i] = string(v)
	}
	return &mcp.Error{
		Code: mcp.CodeUnsupportedVersion,
		Message: fmt.Sprintf("unsupported protocol version %q; this server supports %s", requested,
			strings.Join(names, ", ")),
		Data: data,
	}
}

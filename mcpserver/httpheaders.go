package mcpserver

import (
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// headerTerms returns the revision and the client of a modern request over HTTP, from its _meta. It returns an error if
// the headers name another revision or another method.
func (x *exchange) headerTerms(method string, p *jsonrpc.Params) (mcp.Version, client, error) {
	if err := x.headers.CheckVersion(p); err != nil {
		return "", client{}, err
	}
	v, from, err := x.s.modernTerms(p)
	if err != nil {
		return v, from, err
	}
	return v, from, x.headers.CheckMethod(method)
}

// checkHeaders returns an error if a header that mirrors a part of the params differs from it.
func (c *call) checkHeaders(p *jsonrpc.Params) error {
	h := c.x.headers
	if h == nil {
		return nil
	}
	if err := h.CheckName(c.method.target(c.info.Version), p, c.params); err != nil {
		return err
	}
	if c.method.name != mcp.MethodCallTool {
		return nil
	}
	name, _ := c.method.named(p.Name)
	if t, ok := c.x.s.tools.lookup(name); ok && len(t.mirrored) > 0 {
		return h.CheckArguments(t.mirrored, p.Arguments)
	}
	return nil
}

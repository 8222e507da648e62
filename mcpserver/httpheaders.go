package mcpserver

import (
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// checkHeaders returns an error if a header that mirrors a part of the params differs from it.
func (c *call) checkHeaders(p *jsonrpc.Params) error {
	h := c.x.Headers
	if h == nil {
		return nil
	}
	if err := h.CheckName(c.method.Target(c.info.Version), p, c.params); err != nil {
		return err
	}
	if c.method.Name != mcp.MethodCallTool {
		return nil
	}
	name, _ := c.method.Named(p.Name)
	if t, ok := c.x.s.tools.lookup(name); ok && len(t.mirrored) > 0 {
		return h.CheckArguments(t.mirrored, p.Arguments)
	}
	return nil
}

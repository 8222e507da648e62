package given

import "github.com/mcpotel/mcpotel/mcp"

// onlyText reports whether v is a result of a tool that has no _meta and nothing but text without _meta: there is
// nothing to check in it. Most results are so, and reflection took a twelfth of a tiny call on a pipe to find that out.
func onlyText(v any) bool {
	r, ok := v.(*mcp.CallToolResult)
	if !ok || r == nil || r.Meta != nil {
		return false
	}
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); !ok || text == nil || text.Meta != nil {
			return false
		}
	}
	return true
}

package conn

import (
	"maps"

	"github.com/mcpotel/mcpotel/mcp"
)

// DeclaredIn returns the part of c that the client may declare in revision v. Additions of the user beyond the protocol
// stay. Extensions stay too, also in revisions without a field for them, because extensions were in use before that
// field. In the legacy era, only the extension for tasks is removed.
func DeclaredIn(v mcp.Version, c mcp.ClientCapabilities) mcp.ClientCapabilities {
	if v.Era() == mcp.Modern && c.Roots != nil && c.Roots.ListChanged {
		roots := *c.Roots
		roots.ListChanged = false
		c.Roots = &roots
	}
	if _, declared := c.Extensions[mcp.ExtensionTasks]; declared && v.Era() == mcp.Legacy {
		c.Extensions = maps.Clone(c.Extensions)
		delete(c.Extensions, mcp.ExtensionTasks)
		if len(c.Extensions) == 0 {
			c.Extensions = nil
		}
	}
	if v != mcp.Version20251125 {
		c.Tasks = nil
	}
	if v < mcp.Version20251125 {
		c.Elicitation = formsIn(v, c.Elicitation)
		if c.Sampling != nil {
			c.Sampling = &mcp.SamplingCapability{Extra: c.Sampling.Extra}
		}
	}
	return c
}

// formsIn returns the part of e that the client may declare in a revision without URL elicitation. It returns nil for a
// revision without elicitation.
func formsIn(v mcp.Version, e *mcp.ElicitationCapability) *mcp.ElicitationCapability {
	if v < mcp.Version20250618 || e == nil || e.Form == nil && e.URL != nil {
		return nil
	}
	return &mcp.ElicitationCapability{Extra: e.Extra}
}

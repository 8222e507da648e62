package mcpclient

import (
	"fmt"
	"maps"

	"github.com/mcpotel/mcpotel/mcp"
)

// require fails locally what a ready server has not declared, by the name of the capability. Before the client is ready
// nobody knows what will be declared, and the server of a call that waits says so itself.
func (c *Client) require(method string, have func(*mcp.ServerCapabilities) bool, name string) error {
	if s := c.present(); s != noSession && !have(&s.capabilities) {
		return unsupported(method, name)
	}
	return nil
}

// unsupported is the error of what the server does not have.
func unsupported(op, what string) *Error {
	return &Error{Kind: KindState, Op: op, Unsent: true, cause: fmt.Errorf("%w: %s", ErrUnsupported, what)}
}

func hasTools(c *mcp.ServerCapabilities) bool       { return c.Tools != nil }
func hasResources(c *mcp.ServerCapabilities) bool   { return c.Resources != nil }
func hasPrompts(c *mcp.ServerCapabilities) bool     { return c.Prompts != nil }
func hasLogging(c *mcp.ServerCapabilities) bool     { return c.Logging != nil }
func hasCompletion(c *mcp.ServerCapabilities) bool  { return c.Completions != nil }
func hasSubscribing(c *mcp.ServerCapabilities) bool { return hasResources(c) && c.Resources.Subscribe }

// declaredIn returns what the client declares of c in the revision v: no more than that revision has. What the user has
// declared beyond the protocol stays, extensions included: they came into use before the revision that has a place for them.
func declaredIn(v mcp.Version, c mcp.ClientCapabilities) mcp.ClientCapabilities {
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

// formsIn returns what a revision that knows forms only, or not even those, has of e.
func formsIn(v mcp.Version, e *mcp.ElicitationCapability) *mcp.ElicitationCapability {
	if v < mcp.Version20250618 || e == nil || e.Form == nil && e.URL != nil {
		return nil
	}
	return &mcp.ElicitationCapability{Extra: e.Extra}
}

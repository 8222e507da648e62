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

// declaredIn returns what the client declares of c in the revision v: no more than that revision has.
func declaredIn(v mcp.Version, c mcp.ClientCapabilities) mcp.ClientCapabilities {
	if v.Era() == mcp.Modern && c.Roots != nil && c.Roots.ListChanged {
		roots := *c.Roots
		roots.ListChanged = false
		c.Roots = &roots
	}
	if e := c.Elicitation; v < mcp.Version20250618 || v < mcp.Version20251125 && e != nil && e.Form == nil && e.URL != nil {
		c.Elicitation = nil // without modes it would be taken for forms
	} else if v < mcp.Version20251125 && e != nil {
		c.Elicitation = &mcp.ElicitationCapability{Extra: e.Extra}
	}
	if s := c.Sampling; v < mcp.Version20251125 && s != nil {
		c.Sampling = &mcp.SamplingCapability{Extra: s.Extra}
	}
	if _, declared := c.Extensions[mcp.ExtensionTasks]; declared && v.Era() == mcp.Legacy {
		c.Extensions = maps.Clone(c.Extensions)
		delete(c.Extensions, mcp.ExtensionTasks)
		if len(c.Extensions) == 0 {
			c.Extensions = nil
		}
	}
	return c
}

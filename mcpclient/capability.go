package mcpclient

import (
	"context"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// require fails a call at once if the client is ready and the server has not declared the capability with this name.
// If the client is not ready yet, the capabilities are unknown, and require lets the call pass: the server will refuse
// the call itself.
func (c *Client) require(ctx context.Context, method string, params any, options []CallOption,
	have func(*mcp.ServerCapabilities) bool, name string) error {
	if s := c.core.Present(); s != conn.NoSession && !have(&s.Capabilities) {
		return c.failed(ctx, method, params, options, unsupported(method, name))
	}
	return nil
}

// unsupported returns the error for a missing capability.
func unsupported(op, what string) *Error {
	return &Error{Kind: KindState, Op: op, Unsent: true, cause: &conn.Refusal{
		Word: names.ErrorUnsupported, Err: fmt.Errorf("%w: %s", ErrUnsupported, what)}}
}

func hasTools(c *mcp.ServerCapabilities) bool       { return c.Tools != nil }
func hasResources(c *mcp.ServerCapabilities) bool   { return c.Resources != nil }
func hasPrompts(c *mcp.ServerCapabilities) bool     { return c.Prompts != nil }
func hasLogging(c *mcp.ServerCapabilities) bool     { return c.Logging != nil }
func hasCompletion(c *mcp.ServerCapabilities) bool  { return c.Completions != nil }
func hasSubscribing(c *mcp.ServerCapabilities) bool { return hasResources(c) && c.Resources.Subscribe }

package mcpclient

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Status is a client's connection state, with the reason and time of its last change.
type Status struct {
	State   connstate.State
	Reason  connstate.Reason // why this state was entered
	Since   time.Time        // when this state was entered
	Epoch   uint64           // number of the connection or renegotiation, counted from 1
	Attempt int              // failed or running attempts to connect since the client was last ready
	Err     error            // why the last attempt or connection failed; nil when ready
}

// State returns the client's state. After the client has ended, the state remains [connstate.Closing].
func (c *Client) State() connstate.State { return c.core.Status().State }

// Status returns the client's state, with the reason and time of its last change.
func (c *Client) Status() Status { return Status(c.core.Status()) }

// WaitForReady waits until the client is ready. It returns an error of kind [KindState] if ctx ends first, and of kind
// [KindShutdown] if the client was closed or gave up; both wrap the error of the last attempt.
func (c *Client) WaitForReady(ctx context.Context) error { return c.WaitForState(ctx, connstate.Ready) }

// WaitForState waits until the client is in state s, or passes through it, however briefly. It returns an error of kind
// [KindState] if ctx ends first, and of kind [KindShutdown] if s is not [connstate.Closing] and the client is closing.
func (c *Client) WaitForState(ctx context.Context, s connstate.State) error {
	if err := c.core.WaitFor(ctx, s); err != nil {
		return errorOf(err)
	}
	return nil
}

// ServerInfo returns the server's own description of itself, which may be wrong. It returns the zero value if the
// client is not ready. The caller must not modify values behind pointers in the result, because clients of equal
// servers share them.
func (c *Client) ServerInfo() mcp.Implementation { return c.core.Present().Server }

// ServerCapabilities returns the capabilities of the server, or the zero value if the client is not ready. The caller
// must not modify values behind pointers in the result.
func (c *Client) ServerCapabilities() mcp.ServerCapabilities { return c.core.Present().Capabilities }

// ProtocolVersion returns the protocol version in use. It is empty if the client is not ready.
func (c *Client) ProtocolVersion() mcp.Version { return c.core.Present().Version }

// Instructions returns the server's instructions for models. The result is empty if the server has no instructions or
// the client is not ready.
func (c *Client) Instructions() string { return c.core.Present().Instructions }

package mcpclient

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Status is a client's state with what is known about it.
type Status struct {
	State   connstate.State
	Reason  connstate.Reason // why this state was entered
	Since   time.Time        // when
	Epoch   uint64           // numbers the connections, from 1
	Attempt int              // attempts to connect since the client was last ready
	Err     error            // why the last attempt or connection failed; nil when ready
}

// State returns the client's state. A client that has ended stays [connstate.Closing].
func (c *Client) State() connstate.State { return c.core.Status().State }

// Status returns the client's state with what is known about it.
func (c *Client) Status() Status { return Status(c.core.Status()) }

// Await waits until the client is ready. It returns an error of kind [KindState] if ctx ends first, and of kind
// [KindShutdown] if the client was stopped or gave up; both wrap why the last attempt failed.
func (c *Client) Await(ctx context.Context) error { return c.WaitForState(ctx, connstate.Ready) }

// WaitForState waits until the client is in state s, or passes through it, however briefly. It returns an error of kind
// [KindState] if ctx ends first, and of kind [KindShutdown] if s is not [connstate.Closing] and the client is closing.
func (c *Client) WaitForState(ctx context.Context, s connstate.State) error {
	if err := c.core.WaitFor(ctx, s); err != nil {
		return errorOf(err)
	}
	return nil
}

// ServerInfo returns how the server introduced itself; the zero value if the client is not ready. Servers are not
// obliged to tell the truth. What it points to is only for reading: clients whose servers say the same share it.
func (c *Client) ServerInfo() mcp.Implementation { return c.core.Present().Server }

// ServerCapabilities returns what the server declared; the zero value if the client is not ready. What it points to is
// only for reading, too.
func (c *Client) ServerCapabilities() mcp.ServerCapabilities { return c.core.Present().Capabilities }

// ProtocolVersion returns the version in use, empty if the client is not ready.
func (c *Client) ProtocolVersion() mcp.Version { return c.core.Present().Version }

// Instructions returns what the server says to models about its use, empty if it says nothing or the client is not
// ready.
func (c *Client) Instructions() string { return c.core.Present().Instructions }

package mcpclient

import (
	"context"

	"github.com/mcpotel/mcpotel/mcp"
)

// Ping asks the server for a sign of life and waits for the answer. Modern revisions have no ping; there the client
// sends server/discover, which every server answers, and ignores the content of the answer. (specification 2025-11-25,
// basic/utilities/ping; 2026-07-28, server/discover)
func (c *Client) Ping(ctx context.Context, options ...CallOption) error {
	s, options, err := c.agreed(ctx, mcp.MethodPing, options)
	if err != nil {
		return c.failed(ctx, mcp.MethodPing, nil, options, err)
	}
	method := mcp.MethodPing
	if !s.Has(method) {
		method = mcp.MethodDiscover
	}
	return c.Call(ctx, method, nil, nil, options...)
}

package mcpclient

import (
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/mcp"
)

// The tests of package mcpclient_test access the internals of a client only through the functions of this file.

// ProbeOf returns the probe of the client's core.
func ProbeOf(c *Client) conn.Probe { return conn.Probe{C: &c.core} }

// OpenSubscription gives the client an open subscription without a listener, and returns its ID.
func OpenSubscription(c *Client) int64 {
	cl := c.newCall(mcp.MethodSubscriptionsListen, nil)
	return ProbeOf(c).Open(&cl.Request)
}

// OpenAndOver simulates, in one atomic step, that the server acknowledges the subscription of request id, for changes
// of the tools, and ends the subscription.
func OpenAndOver(c *Client, id int64) {
	ProbeOf(c).OpenAndOver(id, func(by conn.Content) {
		by.(*subscription).agreed = mcp.SubscriptionFilter{ToolsListChanged: true}
	})
}

// LendTurns is a feature that makes the client lend the turn to callers at the given pace, see [conn.Probe.Pace]. The
// goroutine that has the turn reads the connection.
func LendTurns(tick, soon time.Duration, enough int32) Feature {
	return feature{join: func(c *Client) error {
		ProbeOf(c).Pace(tick, soon, enough)
		return nil
	}}
}

// GroupOf returns a group whose only member has the name g and the client c.
func GroupOf(c *Client) (*Group, error) {
	naming, err := groupname.New("_", 128)
	if err != nil {
		return nil, err
	}
	return &Group{naming: naming, members: []*member{{name: "g", prefix: "g_", client: c}}}, nil
}

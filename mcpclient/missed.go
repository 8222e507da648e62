package mcpclient

import (
	"github.com/mcpotel/mcpotel/internal/client/methods"
	"github.com/mcpotel/mcpotel/mcp"
)

// missed deals with changes that the client may have missed. Everything that can lose a change reports to it: a new
// session, a stream that was opened again, a subscription that was made again, late or in the place of another one. The
// cause is a Gap word of package names. missed clears the cache and the known tools, counts and logs the gap, and calls
// the handlers of f, those changes that the server sends from now on.
func (c *Client) missed(cause string, f mcp.SubscriptionFilter) {
	c.cache.clear()
	c.tools.forget()
	c.core.Telemetry.ChangeGap(cause)
	for method, uri := range methods.ChangesOf(&f) {
		n := &Notification{Method: method, client: c, missed: true}
		if uri != "" {
			n.Params = methods.UpdateOf(uri)
		}
		c.dispatcher.push(n)
	}
}

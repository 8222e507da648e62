package mcpclient

import (
	"iter"

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
	for method, uri := range changesOf(&f) {
		n := &Notification{Method: method, client: c, missed: true}
		if uri != "" {
			n.Params = updateOf(uri)
		}
		c.dispatcher.push(n)
	}
}

// changesOf returns the methods of the notifications that f is about, with the URIs of resources.
func changesOf(f *mcp.SubscriptionFilter) iter.Seq2[string, string] {
	return func(yield func(method, uri string) bool) {
		if f.ToolsListChanged && !yield(mcp.NotificationToolListChanged, "") ||
			f.PromptsListChanged && !yield(mcp.NotificationPromptListChanged, "") ||
			f.ResourcesListChanged && !yield(mcp.NotificationResourceListChanged, "") {
			return
		}
		for _, uri := range f.ResourceSubscriptions {
			if !yield(mcp.NotificationResourceUpdated, uri) {
				return
			}
		}
	}
}

// updateOf returns the params of a notification that a resource has changed.
func updateOf(uri string) []byte {
	params, err := mcp.AppendParams(nil, &mcp.ResourceUpdatedParams{URI: uri})
	if err != nil {
		panic("mcpclient: the params of an update cannot be encoded: " + err.Error())
	}
	return params
}

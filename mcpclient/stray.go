package mcpclient

import (
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
)

// strays reports whether a notification of a modern server belongs to no subscription of the client's although it says so, or
// has to: it reaches nobody then. On a stream that all share, that is how a client tells its subscriptions apart.
// (specification 2026-07-28, basic/patterns/subscriptions)
func (c *Client) strays(n *Notification) bool {
	switch n.Method {
	case mcp.NotificationProgress, mcp.NotificationMessage: // of a request
		return false
	case mcp.NotificationCancelled, mcp.NotificationSubscriptionsAcknowledged: // look for their request by themselves
		return false
	}
	var request mcp.RequestID
	found, err := mcp.Meta(n.params.Meta).Decode(mcp.MetaSubscriptionID, &request)
	if !found {
		return onlySubscribed(n.Method)
	}
	id, ok := request.Int()
	return err != nil || !ok || !c.delivers(id)
}

// onlySubscribed reports whether a modern server sends notifications of a method to those only who have subscribed to them.
func onlySubscribed(method string) bool {
	switch method {
	case mcp.NotificationToolListChanged, mcp.NotificationPromptListChanged, mcp.NotificationResourceListChanged,
		mcp.NotificationResourceUpdated:
		return true
	}
	return false
}

// delivers reports whether what comes for the subscription with this id is the client's: it has been acknowledged, and not ended
// by the server. One that the client has ended counts for as long as its tombstone is there: what the server had sent by then may
// be about a change that the subscription in its place came too late for.
func (c *Client) delivers(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	cl, class := c.calls.Classify(id, now)
	switch class {
	case inflight.InFlight:
		return cl.open
	case inflight.Late:
		stone, _ := c.calls.Tombstone(id, now)
		return stone.Note.open && stone.Cause == inflight.Cancelled
	}
	return false
}

package mcpclient

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// The handlers here are those of [HandleNotification] and [Client.OnNotification] for one kind of notification each,
// which they decode. A notification that cannot be decoded is counted as a violation and otherwise ignored.
//
// The handlers of changes are also called when the client may have missed a change: after each gap that the metric
// mcp_client.change.gap counts. So a handler that reads the list or resource again is never left with an old one.

// HandleToolListChanged calls h when the list of the server's tools has changed, or may have changed while the client
// did not hear the server. (specification 2026-07-28, server/tools, "List Changed Notification")
func HandleToolListChanged(h func(ctx context.Context)) Feature {
	return changes(mcp.NotificationToolListChanged, listChanged(h))
}

// OnToolListChanged is [HandleToolListChanged] from now on, until remove is called.
func (c *Client) OnToolListChanged(h func(ctx context.Context)) (remove func()) {
	return c.dispatcher.onChange(mcp.NotificationToolListChanged, listChanged(h))
}

// HandleResourceListChanged calls h when the list of the server's resources, or of its templates, has changed, or
// may have changed while the client did not hear the server. (specification 2026-07-28, server/resources, "List Changed
// Notification")
func HandleResourceListChanged(h func(ctx context.Context)) Feature {
	return changes(mcp.NotificationResourceListChanged, listChanged(h))
}

// OnResourceListChanged is [HandleResourceListChanged] from now on, until remove is called.
func (c *Client) OnResourceListChanged(h func(ctx context.Context)) (remove func()) {
	return c.dispatcher.onChange(mcp.NotificationResourceListChanged, listChanged(h))
}

// HandlePromptListChanged calls h when the list of the server's prompts has changed, or may have changed while the
// client did not hear the server. (specification 2026-07-28, server/prompts, "List Changed Notification")
func HandlePromptListChanged(h func(ctx context.Context)) Feature {
	return changes(mcp.NotificationPromptListChanged, listChanged(h))
}

// OnPromptListChanged is [HandlePromptListChanged] from now on, until remove is called.
func (c *Client) OnPromptListChanged(h func(ctx context.Context)) (remove func()) {
	return c.dispatcher.onChange(mcp.NotificationPromptListChanged, listChanged(h))
}

// HandleResourceUpdated calls h with the URI of a resource that has changed, or may have changed while the client did
// not hear the server. Servers tell of the resources that [Client.SubscribeResource] was called for; the URI may be
// that of a part of one. Updates that were on their way when a subscription ended are still heard.
func HandleResourceUpdated(h func(ctx context.Context, uri string)) Feature {
	return changes(mcp.NotificationResourceUpdated, resourceUpdated(h))
}

// OnResourceUpdated is [HandleResourceUpdated] from now on, until remove is called.
func (c *Client) OnResourceUpdated(h func(ctx context.Context, uri string)) (remove func()) {
	return c.dispatcher.onChange(mcp.NotificationResourceUpdated, resourceUpdated(h))
}

// HandleProgress calls h with every report of progress, of any request: besides those of calls with
// [WithProgress], whose own function is called first, reports for a progress token that the user chose by [WithMeta],
// and late ones. (specification 2026-07-28, basic/patterns/progress)
func HandleProgress(h func(ctx context.Context, p *mcp.ProgressParams)) Feature {
	return HandleNotification(mcp.NotificationProgress, decoded(h))
}

// OnProgress is [HandleProgress] from now on, until remove is called.
func (c *Client) OnProgress(h func(ctx context.Context, p *mcp.ProgressParams)) (remove func()) {
	return c.OnNotification(mcp.NotificationProgress, decoded(h))
}

// changes is HandleNotification for a handler that also wants to hear of what it may have missed.
func changes(method string, h NotificationHandler) Feature {
	return feature{hears: map[string]NotificationHandler{method: h}, missing: true}
}

// onChange is OnNotification for such a handler.
func (d *dispatcher) onChange(method string, h NotificationHandler) (remove func()) {
	return d.hear(&hearing{method: method, handle: h, missing: true})
}

func listChanged(h func(context.Context)) NotificationHandler {
	return func(ctx context.Context, _ *Notification) { h(ctx) }
}

func resourceUpdated(h func(context.Context, string)) NotificationHandler {
	return decoded(func(ctx context.Context, p *mcp.ResourceUpdatedParams) { h(ctx, p.URI) })
}

// decoded is a handler that gets the params decoded.
func decoded[P any](h func(context.Context, *P)) NotificationHandler {
	return func(ctx context.Context, n *Notification) {
		p := new(P)
		if err := n.require(p); err != nil {
			n.unusable(err)
			return
		}
		h(ctx, p)
	}
}

// require decodes the params into v. No params are an empty object, which lacks what v requires.
func (n *Notification) require(v any) error {
	if n.Params == nil {
		_, err := mcp.Decode([]byte("{}"), v)
		return err
	}
	return n.Decode(v)
}

// unusable counts a notification whose params are not what its method has.
func (n *Notification) unusable(err error) {
	if n.client != nil {
		m := &jsonrpc.Message{Kind: jsonrpc.Notification, Method: n.Method}
		n.client.core.Violation(jsonrpc.ViolationOf(m, err), nil, n.size, 0)
	}
}

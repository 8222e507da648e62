package mcpclient

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Each function in this file is like [HandleNotification] for one kind of notification, and decodes the notification.
// A notification that cannot be decoded counts as a violation and is otherwise ignored.
//
// The client also calls handlers of changes when it may have missed a change: after each gap that the metric
// mcp_client.change.gap counts. A handler that always reads the changed list or resource again is therefore never out
// of date.

// HandleToolListChanged calls h when the server's list of tools has changed, or may have changed while the client was
// disconnected. (specification 2026-07-28, server/tools, "List Changed Notification")
func HandleToolListChanged(h func(ctx context.Context)) Handler {
	return changes(mcp.NotificationToolListChanged, listChanged(h))
}

// HandleResourceListChanged calls h when the server's list of resources, or of resource templates, has changed, or
// may have changed while the client was disconnected. (specification 2026-07-28, server/resources, "List Changed
// Notification")
func HandleResourceListChanged(h func(ctx context.Context)) Handler {
	return changes(mcp.NotificationResourceListChanged, listChanged(h))
}

// HandlePromptListChanged calls h when the server's list of prompts has changed, or may have changed while the client
// was disconnected. (specification 2026-07-28, server/prompts, "List Changed Notification")
func HandlePromptListChanged(h func(ctx context.Context)) Handler {
	return changes(mcp.NotificationPromptListChanged, listChanged(h))
}

// HandleResourceUpdated calls h with the URI of a resource that has changed, or may have changed while the client was
// disconnected. Servers report only resources that the client subscribed to with [Client.SubscribeResource]; the URI
// may name a part of such a resource. The client still handles updates that are in flight when a subscription ends.
func HandleResourceUpdated(h func(ctx context.Context, uri string)) Handler {
	return changes(mcp.NotificationResourceUpdated, resourceUpdated(h))
}

// HandleProgress calls h with every progress notification of any request. For a call with [WithProgress], the client
// calls the function of that call first. h also gets late notifications, and notifications for a progress token that
// the user set with [WithMeta]. (specification 2026-07-28, basic/patterns/progress)
func HandleProgress(h func(ctx context.Context, p *mcp.ProgressParams)) Handler {
	return HandleNotification(mcp.NotificationProgress, decoded(h))
}

// changes is like HandleNotification, but the handler is also called for missed notifications.
func changes(method string, h NotificationHandler) Handler {
	return Handler{method: method, handle: h, missing: true}
}

func listChanged(h func(context.Context)) NotificationHandler {
	return func(ctx context.Context, _ *Notification) { h(ctx) }
}

func resourceUpdated(h func(context.Context, string)) NotificationHandler {
	return decoded(func(ctx context.Context, p *mcp.ResourceUpdatedParams) { h(ctx, p.URI) })
}

// decoded returns a handler that decodes the params for h.
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

// require decodes the params into v. Missing params count as an empty object, which lacks any members that v requires.
func (n *Notification) require(v any) error {
	if n.Params == nil {
		_, err := mcp.Decode([]byte("{}"), v)
		return err
	}
	return n.Decode(v)
}

// unusable counts a notification with invalid params as a violation.
func (n *Notification) unusable(err error) {
	if n.client != nil {
		m := &jsonrpc.Message{Kind: jsonrpc.Notification, Method: n.Method}
		n.client.core.Violation(jsonrpc.ViolationOf(m, err), nil, n.size, 0)
	}
}

package mcp

// SubscriptionsListenParams are the params of subscriptions/listen, from 2026-07-28. The request stays open, and the
// empty [Result] that answers it ends the subscription. All that belongs to it carries [MetaSubscriptionID].
// See https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions.
type SubscriptionsListenParams struct {
	Meta          Meta               `json:"_meta,omitzero"`
	Notifications SubscriptionFilter `json:"notifications"` // all that is wanted; nothing else is sent
}

// SubscriptionsAcknowledgedParams are the params of notifications/subscriptions/acknowledged, the first notification of
// each subscription.
type SubscriptionsAcknowledgedParams struct {
	Meta          Meta               `json:"_meta,omitzero"`
	Notifications SubscriptionFilter `json:"notifications"` // what of it the server will send
}

// SubscriptionFilter says which notifications a subscription is about.
type SubscriptionFilter struct {
	ToolsListChanged      bool     `json:"toolsListChanged,omitzero"`
	PromptsListChanged    bool     `json:"promptsListChanged,omitzero"`
	ResourcesListChanged  bool     `json:"resourcesListChanged,omitzero"`
	ResourceSubscriptions []string `json:"resourceSubscriptions,omitzero"` // URIs, for notifications/resources/updated
	TaskIDs               []string `json:"taskIds,omitzero"`               // for notifications/tasks; tasks extension
}

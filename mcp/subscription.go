package mcp

// SubscriptionsListenParams are the params of subscriptions/listen, from 2026-07-28. The request stays open until the
// server answers with an empty [Result], which ends the subscription. All messages of the subscription carry
// [MetaSubscriptionID]. See https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions.
type SubscriptionsListenParams struct {
	Meta          Meta               `json:"_meta,omitzero"`
	Notifications SubscriptionFilter `json:"notifications"` // the server sends no other notifications
}

// SubscriptionsAcknowledgedParams are the params of notifications/subscriptions/acknowledged, the first notification of
// each subscription.
type SubscriptionsAcknowledgedParams struct {
	Meta          Meta               `json:"_meta,omitzero"`
	Notifications SubscriptionFilter `json:"notifications"` // the part of the filter that the server supports
}

// SubscriptionFilter lists the notifications that a subscription requests.
type SubscriptionFilter struct {
	ToolsListChanged      bool     `json:"toolsListChanged,omitzero"`
	PromptsListChanged    bool     `json:"promptsListChanged,omitzero"`
	ResourcesListChanged  bool     `json:"resourcesListChanged,omitzero"`
	ResourceSubscriptions []string `json:"resourceSubscriptions,omitzero"` // URIs for notifications/resources/updated
	// tasks for notifications/tasks; tasks extension
	TaskIDs []string `json:"taskIds,omitzero"`
}

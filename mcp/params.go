package mcp

// Params are the params of requests and notifications that define only _meta: ping, server/discover, roots/list and
// the list-changed notifications.
type Params struct {
	Meta Meta `json:"_meta,omitzero"`
}

package mcp

// Params are the params of requests and notifications that define none but _meta, such as ping, server/discover,
// roots/list and the list-changed notifications.
type Params struct {
	Meta Meta `json:"_meta,omitzero"`
}

package mcp

// PageParams are the params of the list requests.
// See https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination.
type PageParams struct {
	Meta Meta `json:"_meta,omitzero"`
	// Cursor is the NextCursor of the previous page. It is nil for the first page. A cursor is opaque to the client; an
	// empty string is a valid cursor.
	Cursor *string `json:"cursor,omitzero"`
}

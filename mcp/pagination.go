package mcp

// PageParams are the params of the list requests.
// See https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination.
type PageParams struct {
	Meta Meta `json:"_meta,omitzero"`
	// Cursor is the NextCursor of the page before, nil for the first page. It means nothing but to the server: an empty
	// one is a cursor like any other.
	Cursor *string `json:"cursor,omitzero"`
}

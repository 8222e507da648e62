package mcp

// ListRootsResult answers roots/list, whose params are [Params]: the places in the file system where the server may
// work.
//
// Deprecated by the protocol in 2026-07-28, where the request is an [InputRequest]. See
// https://modelcontextprotocol.io/specification/2026-07-28/client/roots.
type ListRootsResult struct {
	Result
	Roots []*Root `json:"roots" mcp:"required"`
}

// Root is a directory or a file.
type Root struct {
	Meta Meta   `json:"_meta,omitzero"`     // from 2025-06-18
	URI  string `json:"uri" mcp:"required"` // file://…
	Name string `json:"name,omitzero"`      // display name
}

package mcp

// CancelledParams are the params of notifications/cancelled: the sender of the request does not wait for the answer any
// more. See https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation.
type CancelledParams struct {
	Meta      Meta      `json:"_meta,omitzero"`
	RequestID RequestID `json:"requestId,omitzero"` // absent only in 2025-11-25, and there means nothing
	Reason    string    `json:"reason,omitzero"`
}

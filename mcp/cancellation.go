package mcp

// CancelledParams are the params of notifications/cancelled: the sender of the request no longer waits for the
// answer. See https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation.
type CancelledParams struct {
	Meta Meta `json:"_meta,omitzero"`
	// RequestID may be absent only in 2025-11-25; without it, the notification has no effect.
	RequestID RequestID `json:"requestId,omitzero"`
	Reason    string    `json:"reason,omitzero"`
}

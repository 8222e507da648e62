package mcp

// ProgressToken is what a request that wants to hear about progress carries under [MetaProgressToken].
type ProgressToken = RequestID

// ProgressParams are the params of notifications/progress.
// See https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress.
type ProgressParams struct {
	Meta          Meta          `json:"_meta,omitzero"`
	ProgressToken ProgressToken `json:"progressToken" mcp:"required"`
	Progress      float64       `json:"progress"`         // grows from one notification to the next
	Total         *float64      `json:"total,omitzero"`   // what Progress will grow to, if that is known
	Message       string        `json:"message,omitzero"` // from 2025-03-26
}

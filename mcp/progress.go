package mcp

// ProgressToken identifies a request in its progress notifications. The request carries it under [MetaProgressToken].
type ProgressToken = RequestID

// ProgressParams are the params of notifications/progress.
// See https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress.
type ProgressParams struct {
	Meta          Meta          `json:"_meta,omitzero"`
	ProgressToken ProgressToken `json:"progressToken" mcp:"required"`
	Progress      float64       `json:"progress"`         // increases with each notification
	Total         *float64      `json:"total,omitzero"`   // final value of Progress, if known
	Message       string        `json:"message,omitzero"` // from 2025-03-26
}

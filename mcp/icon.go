package mcp

// Icon is a picture for a user interface, from 2025-11-25. Its source is untrusted: accept https and data URIs only.
// See https://modelcontextprotocol.io/specification/2026-07-28/basic/index#icons.
type Icon struct {
	Src      string    `json:"src" mcp:"required"` // a URI
	MIMEType string    `json:"mimeType,omitzero"`
	Sizes    []string  `json:"sizes,omitzero"` // such as 48x48, or any; none means any
	Theme    IconTheme `json:"theme,omitzero"` // none means any
}

// IconTheme is the background that an icon is made for.
type IconTheme string

const (
	ThemeLight IconTheme = "light"
	ThemeDark  IconTheme = "dark"
)

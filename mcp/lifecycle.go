package mcp

// InitializeParams are the params of initialize, the first message of a legacy session.
// See https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle.
type InitializeParams struct {
	Meta            Meta               `json:"_meta,omitzero"`
	ProtocolVersion Version            `json:"protocolVersion" mcp:"required"` // the newest the client speaks
	Capabilities    ClientCapabilities `json:"capabilities"`
	ClientInfo      Implementation     `json:"clientInfo"`
}

// InitializeResult answers initialize. The client confirms it by notifications/initialized, whose params are [Params].
type InitializeResult struct {
	Result
	ProtocolVersion Version            `json:"protocolVersion" mcp:"required"` // the server's choice; take it or leave
	Capabilities    ServerCapabilities `json:"capabilities"`
	ServerInfo      Implementation     `json:"serverInfo"`
	Instructions    string             `json:"instructions,omitzero"` // how to use the server, for the model
}

// DiscoverResult answers server/discover, from 2026-07-28; its params are [Params]. Who answers is under
// [MetaServerInfo].
// See https://modelcontextprotocol.io/specification/2026-07-28/server/discover.
type DiscoverResult struct {
	Result
	CacheHint
	SupportedVersions []Version          `json:"supportedVersions" mcp:"required"`
	Capabilities      ServerCapabilities `json:"capabilities"`
	Instructions      string             `json:"instructions,omitzero"` // how to use the server, for the model
}

// Implementation is the program on one side, by its own account. It is for display, logs and debugging only.
type Implementation struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"` // for people; from 2025-06-18
	Version     string `json:"version"`
	Description string `json:"description,omitzero"` // from 2025-11-25
	WebsiteURL  string `json:"websiteUrl,omitzero"`  // from 2025-11-25
	Icons       []Icon `json:"icons,omitzero"`       // from 2025-11-25
}

// In returns i without the members that the revision v does not have.
func (i Implementation) In(v Version) Implementation {
	if v < Version20251125 {
		i.Description, i.WebsiteURL, i.Icons = "", "", nil
	}
	if v < Version20250618 {
		i.Title = ""
	}
	return i
}

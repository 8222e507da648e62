package mcp

import (
	"bytes"
	"encoding/base64"
)

// ListResourcesResult answers resources/list, whose params are [PageParams].
// See https://modelcontextprotocol.io/specification/2026-07-28/server/resources.
type ListResourcesResult struct {
	Result
	CacheHint
	NextCursor *string     `json:"nextCursor,omitzero"` // nil on the last page; an empty string is a valid cursor
	Resources  []*Resource `json:"resources" mcp:"required"`
}

// Resource is a resource that clients can read from a server.
type Resource struct {
	Meta        Meta         `json:"_meta,omitzero"` // from 2025-06-18
	URI         string       `json:"uri" mcp:"required"`
	Name        string       `json:"name" mcp:"required"`  // name for programs
	Title       string       `json:"title,omitzero"`       // display name; from 2025-06-18
	Description string       `json:"description,omitzero"` // description for the model
	MIMEType    string       `json:"mimeType,omitzero"`
	Annotations *Annotations `json:"annotations,omitzero"`
	Size        *int64       `json:"size,omitzero"`  // bytes, before base64 encoding
	Icons       []Icon       `json:"icons,omitzero"` // from 2025-11-25
}

// ListResourceTemplatesResult answers resources/templates/list, whose params are [PageParams].
type ListResourceTemplatesResult struct {
	Result
	CacheHint
	// NextCursor is nil on the last page; an empty string is a valid cursor.
	NextCursor        *string             `json:"nextCursor,omitzero"`
	ResourceTemplates []*ResourceTemplate `json:"resourceTemplates" mcp:"required"`
}

// ResourceTemplate is a URI template with a description of the resources that match it.
type ResourceTemplate struct {
	Meta        Meta         `json:"_meta,omitzero"`             // from 2025-06-18
	URITemplate string       `json:"uriTemplate" mcp:"required"` // RFC 6570 template
	Name        string       `json:"name" mcp:"required"`        // name for programs
	Title       string       `json:"title,omitzero"`             // display name; from 2025-06-18
	Description string       `json:"description,omitzero"`       // description for the model
	MIMEType    string       `json:"mimeType,omitzero"`          // type of all matching resources
	Annotations *Annotations `json:"annotations,omitzero"`
	Icons       []Icon       `json:"icons,omitzero"` // from 2025-11-25
}

// ReadResourceParams are the params of resources/read.
type ReadResourceParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	URI  string `json:"uri" mcp:"required"`
	InputRound
}

// ReadResourceResult answers resources/read. It may have several contents, for example the files of a directory. From
// 2026-07-28 the answer may be an [InputRequiredResult] instead.
type ReadResourceResult struct {
	Result
	CacheHint
	Contents []*ResourceContents `json:"contents" mcp:"required"`
}

// ResourceContents holds the contents of a resource or of a part of it: Text, or Blob for binary data. The method Bytes
// returns the text, or the decoded blob.
type ResourceContents struct {
	Meta     Meta    `json:"_meta,omitzero"` // from 2025-06-18
	URI      string  `json:"uri" mcp:"required"`
	MIMEType string  `json:"mimeType,omitzero"`
	Text     string  `json:"text,omitzero"`
	Blob     *string `json:"blob,omitzero"` // base64, exactly as received; nil for text
}

// BlobContents returns binary contents of a resource. A server that returns a single ResourceContents may omit its
// URI and MIME type.
func BlobContents(data []byte) *ResourceContents {
	return &ResourceContents{Blob: new(base64.StdEncoding.EncodeToString(data))}
}

// Bytes returns the text, or the decoded blob. It returns an error if the blob is not base64.
func (c *ResourceContents) Bytes() ([]byte, error) {
	if c.Blob == nil {
		return []byte(c.Text), nil
	}
	return base64.StdEncoding.DecodeString(*c.Blob)
}

// UnmarshalJSON decodes a copy of text. It returns an error if text and blob are both missing.
func (c *ResourceContents) UnmarshalJSON(text []byte) error {
	var d decoder
	d.b = bytes.Clone(text)
	*c = ResourceContents{}
	_, err := d.resourceContents(0, c)
	return err
}

// MarshalJSON encodes blob or text, even if the text is empty.
func (c ResourceContents) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// SubscribeParams are the params of resources/subscribe, until 2025-11-25. In 2026-07-28, [SubscriptionFilter] replaces
// this request.
type SubscribeParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	URI  string `json:"uri" mcp:"required"`
}

// UnsubscribeParams are the params of resources/unsubscribe, until 2025-11-25.
type UnsubscribeParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	URI  string `json:"uri" mcp:"required"`
}

// ResourceUpdatedParams are the params of notifications/resources/updated.
type ResourceUpdatedParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	URI  string `json:"uri" mcp:"required"` // may be a part of the subscribed resource
}

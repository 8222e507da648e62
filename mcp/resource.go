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
	NextCursor *string     `json:"nextCursor,omitzero"` // nil on the last page; an empty one is a cursor too
	Resources  []*Resource `json:"resources" mcp:"required"`
}

// Resource is something a server can be asked to read.
type Resource struct {
	Meta        Meta         `json:"_meta,omitzero"` // from 2025-06-18
	URI         string       `json:"uri" mcp:"required"`
	Name        string       `json:"name" mcp:"required"`  // for programs
	Title       string       `json:"title,omitzero"`       // for people; from 2025-06-18
	Description string       `json:"description,omitzero"` // for the model
	MIMEType    string       `json:"mimeType,omitzero"`
	Annotations *Annotations `json:"annotations,omitzero"`
	Size        *int64       `json:"size,omitzero"`  // bytes, before base64
	Icons       []Icon       `json:"icons,omitzero"` // from 2025-11-25
}

// ListResourceTemplatesResult answers resources/templates/list, whose params are [PageParams].
type ListResourceTemplatesResult struct {
	Result
	CacheHint
	// nil on the last page; an empty one is a cursor too
	NextCursor        *string             `json:"nextCursor,omitzero"`
	ResourceTemplates []*ResourceTemplate `json:"resourceTemplates" mcp:"required"`
}

// ResourceTemplate stands for the resources whose URIs it can be expanded to.
type ResourceTemplate struct {
	Meta        Meta         `json:"_meta,omitzero"`             // from 2025-06-18
	URITemplate string       `json:"uriTemplate" mcp:"required"` // RFC 6570
	Name        string       `json:"name" mcp:"required"`        // for programs
	Title       string       `json:"title,omitzero"`             // for people; from 2025-06-18
	Description string       `json:"description,omitzero"`       // for the model
	MIMEType    string       `json:"mimeType,omitzero"`          // of all the resources
	Annotations *Annotations `json:"annotations,omitzero"`
	Icons       []Icon       `json:"icons,omitzero"` // from 2025-11-25
}

// ReadResourceParams are the params of resources/read.
type ReadResourceParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	URI  string `json:"uri" mcp:"required"`
	InputRound
}

// ReadResourceResult answers resources/read. There can be several contents, for example the files of a directory.
// From 2026-07-28 the answer may be an [InputRequiredResult] instead.
type ReadResourceResult struct {
	Result
	CacheHint
	Contents []*ResourceContents `json:"contents" mcp:"required"`
}

// ResourceContents is the contents of a resource or of a part of one: Text, or Blob when it is not text. Bytes returns
// either.
type ResourceContents struct {
	Meta     Meta    `json:"_meta,omitzero"` // from 2025-06-18
	URI      string  `json:"uri" mcp:"required"`
	MIMEType string  `json:"mimeType,omitzero"`
	Text     string  `json:"text,omitzero"`
	Blob     *string `json:"blob,omitzero"` // base64, left as it came; nil for text
}

// BlobContents returns the contents of a resource that is not text. A server that answers with one of them may leave
// out its URI and MIME type.
func BlobContents(data []byte) *ResourceContents {
	return &ResourceContents{Blob: new(base64.StdEncoding.EncodeToString(data))}
}

// Bytes returns the contents as they are: the text, or what the blob encodes, which must be base64.
func (c *ResourceContents) Bytes() ([]byte, error) {
	if c.Blob == nil {
		return []byte(c.Text), nil
	}
	return base64.StdEncoding.DecodeString(*c.Blob)
}

// UnmarshalJSON decodes a copy of text. Neither text nor blob is an error.
func (c *ResourceContents) UnmarshalJSON(text []byte) error {
	var d decoder
	d.b = bytes.Clone(text)
	*c = ResourceContents{}
	_, err := d.resourceContents(0, c)
	return err
}

// MarshalJSON encodes either blob or text, an empty text included.
func (c ResourceContents) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// SubscribeParams are the params of resources/subscribe, until 2025-11-25. [SubscriptionFilter] has succeeded it.
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
	URI  string `json:"uri" mcp:"required"` // may be a part of what was subscribed to
}

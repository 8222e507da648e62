package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Content is one block of a tool result, a prompt or a model's message. It is a pointer to one of these types:
// [*TextContent], [*ImageContent], [*AudioContent], [*ResourceLink], [*EmbeddedResource]; in sampling also
// [*ToolUseContent] and [*ToolResultContent]; and [*UnknownContent] for any other type.
type Content interface {
	appendJSON(dst []byte) ([]byte, error)
}

// Values of the member type, which distinguishes the kinds of blocks.
const (
	typeText       = "text"
	typeImage      = "image"
	typeAudio      = "audio"
	typeLink       = "resource_link"
	typeResource   = "resource"
	typeToolUse    = "tool_use"
	typeToolResult = "tool_result"
)

// textOf joins the text blocks with line breaks. It skips all other blocks.
func textOf(blocks []Content) string {
	var texts []string
	for _, c := range blocks {
		if t, ok := c.(*TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Text returns a block of plain text.
func Text(s string) *TextContent { return &TextContent{Text: s} }

// TextContent is a [Content] block: text to or from a model.
type TextContent struct {
	Text        string
	Annotations *Annotations
	Meta        Meta // from 2025-06-18
}

// ImageContent is a [Content] block: an image to or from a model.
type ImageContent struct {
	Data        string // base64, exactly as received
	MIMEType    string
	Annotations *Annotations
	Meta        Meta // from 2025-06-18
}

// AudioContent is a [Content] block from 2025-03-26: audio to or from a model.
type AudioContent struct {
	Data        string // base64, exactly as received
	MIMEType    string
	Annotations *Annotations
	Meta        Meta // from 2025-06-18
}

// Image returns a block with an image. mimeType is the type of data, for example image/png.
func Image(data []byte, mimeType string) *ImageContent {
	return &ImageContent{Data: base64.StdEncoding.EncodeToString(data), MIMEType: mimeType}
}

// Audio returns a block with audio. mimeType is the type of data, for example audio/wav.
func Audio(data []byte, mimeType string) *AudioContent {
	return &AudioContent{Data: base64.StdEncoding.EncodeToString(data), MIMEType: mimeType}
}

// Bytes decodes Data. It returns an error if Data is not base64.
func (c *ImageContent) Bytes() ([]byte, error) { return base64.StdEncoding.DecodeString(c.Data) }

// Bytes decodes Data. It returns an error if Data is not base64.
func (c *AudioContent) Bytes() ([]byte, error) { return base64.StdEncoding.DecodeString(c.Data) }

// EmbeddedResource is a [Content] block that contains a resource.
type EmbeddedResource struct {
	Resource    *ResourceContents
	Annotations *Annotations
	Meta        Meta // from 2025-06-18
}

// ResourceLink is a [Content] block from 2025-06-18: it names a resource that the client can read. The resource may be
// missing in the server's list.
type ResourceLink Resource

// ToolUseContent is a [Content] block of sampled messages from 2025-11-25: the model requests a tool call.
type ToolUseContent struct {
	ID    string // identifies this use in a [ToolResultContent]
	Name  string // name of the tool
	Input json.RawMessage
	Meta  Meta // return it unchanged with the block, because the model's cache may depend on it
}

// ToolResultContent is a [Content] block of sampled messages from 2025-11-25: the result of a tool call that the model
// requested.
type ToolResultContent struct {
	ToolUseID         string      // ID of the [ToolUseContent]
	Content           ContentList // without tool uses and tool results
	StructuredContent json.RawMessage
	IsError           bool
	Meta              Meta // return it unchanged with the block, because the model's cache may depend on it
}

// UnknownContent is a [Content] block of a type that this package does not know, kept unchanged.
type UnknownContent struct {
	Type string
	Raw  json.RawMessage // the whole block, including its type
}

// ContentList is a list of blocks. A nil list is encoded as [].
type ContentList []Content

// UnmarshalJSON decodes a copy of text. The blocks share no memory with text.
func (l *ContentList) UnmarshalJSON(text []byte) error {
	var d decoder
	d.b = bytes.Clone(text)
	list, _, err := d.contentList(0)
	*l = list
	return err
}

// MarshalJSON encodes the blocks. It returns an error if a block is nil.
func (l ContentList) MarshalJSON() ([]byte, error) { return appendContentList(nil, l) }

// MarshalJSON encodes the block.
func (c TextContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the block.
func (c ImageContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the block.
func (c AudioContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the block.
func (c EmbeddedResource) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the block.
func (c ResourceLink) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the block.
func (c ToolUseContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the block.
func (c ToolResultContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON returns Raw.
func (c UnknownContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// Annotations describe the audience and the importance of a block, a resource or a template.
type Annotations struct {
	Audience     []Role   `json:"audience,omitzero"`
	Priority     *float64 `json:"priority,omitzero"`     // from 0 (entirely optional) to 1 (effectively required)
	LastModified string   `json:"lastModified,omitzero"` // ISO 8601; from 2025-06-18
}

// Role is the author of a message in a conversation.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Content is one block of what a tool returned, a prompt holds or a model said. It is one of the pointer types in this
// package whose comment says so: [*TextContent], [*ImageContent], [*AudioContent], [*ResourceLink],
// [*EmbeddedResource], in sampling also [*ToolUseContent] and [*ToolResultContent], and [*UnknownContent] for anything
// newer.
type Content interface {
	appendJSON(dst []byte) ([]byte, error)
}

// The values of type by which blocks of content are told apart.
const (
	typeText       = "text"
	typeImage      = "image"
	typeAudio      = "audio"
	typeLink       = "resource_link"
	typeResource   = "resource"
	typeToolUse    = "tool_use"
	typeToolResult = "tool_result"
)

// textOf returns the text blocks, one line break between them.
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

// TextContent is [Content]: text to or from a model.
type TextContent struct {
	Text        string
	Annotations *Annotations
	Meta        Meta // from 2025-06-18
}

// ImageContent is [Content]: an image to or from a model.
type ImageContent struct {
	Data        string // base64, left as it came
	MIMEType    string
	Annotations *Annotations
	Meta        Meta // from 2025-06-18
}

// AudioContent is [Content] from 2025-03-26: sound to or from a model.
type AudioContent struct {
	Data        string // base64, left as it came
	MIMEType    string
	Annotations *Annotations
	Meta        Meta // from 2025-06-18
}

// Image returns a block with an image; mimeType is that of data, image/png for example.
func Image(data []byte, mimeType string) *ImageContent {
	return &ImageContent{Data: base64.StdEncoding.EncodeToString(data), MIMEType: mimeType}
}

// Audio returns a block with sound; mimeType is that of data, audio/wav for example.
func Audio(data []byte, mimeType string) *AudioContent {
	return &AudioContent{Data: base64.StdEncoding.EncodeToString(data), MIMEType: mimeType}
}

// Bytes returns the image that Data encodes. An error says that it is not base64.
func (c *ImageContent) Bytes() ([]byte, error) { return base64.StdEncoding.DecodeString(c.Data) }

// Bytes returns the sound that Data encodes. An error says that it is not base64.
func (c *AudioContent) Bytes() ([]byte, error) { return base64.StdEncoding.DecodeString(c.Data) }

// EmbeddedResource is [Content]: the contents of a resource, sent along.
type EmbeddedResource struct {
	Resource    *ResourceContents
	Annotations *Annotations
	Meta        Meta // from 2025-06-18
}

// ResourceLink is [Content] from 2025-06-18: a resource that can be read. It need not be among the listed ones.
type ResourceLink Resource

// ToolUseContent is [Content] of a sampled message from 2025-11-25: the model asks for a call of a tool.
type ToolUseContent struct {
	ID    string // by which a [ToolResultContent] refers to this use
	Name  string // of the tool
	Input json.RawMessage
	Meta  Meta // to be kept when the block is sent again, for the sake of the model's cache
}

// ToolResultContent is [Content] of a sampled message from 2025-11-25: what a call that the model asked for returned.
type ToolResultContent struct {
	ToolUseID         string      // the ID of the [ToolUseContent]
	Content           ContentList // no tool uses or results in it
	StructuredContent json.RawMessage
	IsError           bool
	Meta              Meta // to be kept when the block is sent again, for the sake of the model's cache
}

// UnknownContent is [Content] of a type that this package does not know, kept as it came.
type UnknownContent struct {
	Type string
	Raw  json.RawMessage // the whole block, type included
}

// ContentList is a list of blocks. It is written as [] when nil.
type ContentList []Content

// UnmarshalJSON decodes a copy of text, so that nothing points into it.
func (l *ContentList) UnmarshalJSON(text []byte) error {
	var d decoder
	d.b = bytes.Clone(text)
	list, _, err := d.contentList(0)
	*l = list
	return err
}

// MarshalJSON encodes the blocks. Nil blocks are an error.
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

// Annotations tell a client for whom a block, a resource or a template is and how much it matters.
type Annotations struct {
	Audience     []Role   `json:"audience,omitzero"`
	Priority     *float64 `json:"priority,omitzero"`     // from 0, entirely optional, to 1, effectively required
	LastModified string   `json:"lastModified,omitzero"` // ISO 8601; from 2025-06-18
}

// Role is who speaks in a conversation.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

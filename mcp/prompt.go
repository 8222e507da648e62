package mcp

import "bytes"

// ListPromptsResult answers prompts/list, whose params are [PageParams].
// See https://modelcontextprotocol.io/specification/2026-07-28/server/prompts.
type ListPromptsResult struct {
	Result
	CacheHint
	NextCursor *string   `json:"nextCursor,omitzero"` // nil on the last page; an empty string is a valid cursor
	Prompts    []*Prompt `json:"prompts" mcp:"required"`
}

// Prompt is a prompt, or a prompt template with arguments.
type Prompt struct {
	Meta        Meta             `json:"_meta,omitzero"` // from 2025-06-18
	Name        string           `json:"name" mcp:"required"`
	Title       string           `json:"title,omitzero"` // display name; from 2025-06-18
	Description string           `json:"description,omitzero"`
	Icons       []Icon           `json:"icons,omitzero"` // from 2025-11-25
	Arguments   []PromptArgument `json:"arguments,omitzero"`
}

// PromptArgument is an argument of a prompt template.
type PromptArgument struct {
	Name        string `json:"name" mcp:"required"`
	Title       string `json:"title,omitzero"` // display name; from 2025-06-18
	Description string `json:"description,omitzero"`
	Required    bool   `json:"required,omitzero"`
}

// GetPromptParams are the params of prompts/get.
type GetPromptParams struct {
	Meta      Meta              `json:"_meta,omitzero"`
	Name      string            `json:"name" mcp:"required"`
	Arguments map[string]string `json:"arguments,omitzero"`
	InputRound
}

// GetPromptResult answers prompts/get. From 2026-07-28 the answer may be an [InputRequiredResult] instead.
type GetPromptResult struct {
	Result
	Description string           `json:"description,omitzero"`
	Messages    []*PromptMessage `json:"messages" mcp:"required"`
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    Role    `json:"role" mcp:"required"`
	Content Content `json:"content" mcp:"required"`
}

// UnmarshalJSON decodes a copy of text.
func (m *PromptMessage) UnmarshalJSON(text []byte) error {
	var d decoder
	d.b = bytes.Clone(text)
	*m = PromptMessage{}
	_, err := d.promptMessage(0, m)
	return err
}

package mcp

import (
	"bytes"
	"encoding/json"
)

// CreateMessageParams are the params of sampling/createMessage: the server asks the client's model for a message.
//
// Deprecated by the protocol in 2026-07-28, where the request is an [InputRequest]. See
// https://modelcontextprotocol.io/specification/2026-07-28/client/sampling.
type CreateMessageParams struct {
	Meta             Meta               `json:"_meta,omitzero"` // until 2025-11-25
	Messages         []*SamplingMessage `json:"messages" mcp:"required"`
	ModelPreferences *ModelPreferences  `json:"modelPreferences,omitzero"`
	SystemPrompt     string             `json:"systemPrompt,omitzero"`
	IncludeContext   IncludeContext     `json:"includeContext,omitzero"` // absent means none
	Temperature      *float64           `json:"temperature,omitzero"`
	MaxTokens        int64              `json:"maxTokens" mcp:"required"`
	StopSequences    []string           `json:"stopSequences,omitzero"`
	Metadata         json.RawMessage    `json:"metadata,omitzero" mcp:"object"` // passed to the model's provider
	// needs the capability sampling.tools; from 2025-11-25
	Tools []*Tool `json:"tools,omitzero"`
	// needs the capability sampling.tools; from 2025-11-25
	ToolChoice *ToolChoice   `json:"toolChoice,omitzero"`
	Task       *TaskMetadata `json:"task,omitzero"` // in 2025-11-25 only
}

// CreateMessageResult answers sampling/createMessage.
type CreateMessageResult struct {
	Result
	Role       Role            `json:"role" mcp:"required"`
	Content    SamplingContent `json:"content" mcp:"required"`
	Model      string          `json:"model" mcp:"required"` // model that the client used
	StopReason StopReason      `json:"stopReason,omitzero"`
}

// SamplingMessage is one message of the conversation with a model.
type SamplingMessage struct {
	Meta    Meta            `json:"_meta,omitzero"` // from 2025-11-25
	Role    Role            `json:"role" mcp:"required"`
	Content SamplingContent `json:"content" mcp:"required"`
}

// SamplingContent is the content of a sampled message. A single block is encoded as an object, which is the only form
// until 2025-06-18. Several blocks are encoded as an array. Decoding accepts both forms.
type SamplingContent []Content

// Text joins the text blocks with line breaks. It skips all other blocks.
func (c SamplingContent) Text() string { return textOf(c) }

// UnmarshalJSON decodes a copy of text.
func (c *SamplingContent) UnmarshalJSON(text []byte) error {
	var d decoder
	d.b = bytes.Clone(text)
	if kind(text) == '{' {
		block, _, err := d.content(0)
		*c = SamplingContent{block}
		return err
	}
	list, _, err := d.contentList(0)
	*c = SamplingContent(list)
	return err
}

// MarshalJSON encodes the blocks. It returns an error if a block is nil.
func (c SamplingContent) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return appendContent(nil, c[0])
	}
	return appendContentList(nil, c)
}

// IncludeContext names the servers from which a sampling request wants context. All values except none are deprecated
// and need the capability sampling.context.
type IncludeContext string

const (
	IncludeNone       IncludeContext = "none"
	IncludeThisServer IncludeContext = "thisServer"
	IncludeAllServers IncludeContext = "allServers"
)

// StopReason is the reason why a model stopped. Providers may define further reasons.
type StopReason string

const (
	StopEndTurn      StopReason = "endTurn"
	StopStopSequence StopReason = "stopSequence"
	StopMaxTokens    StopReason = "maxTokens"
	StopToolUse      StopReason = "toolUse" // from 2025-11-25
)

// ModelPreferences guide the client's choice of a model. Priorities range from 0 (unimportant) to 1 (most important).
type ModelPreferences struct {
	Hints                []ModelHint `json:"hints,omitzero"` // the first matching hint outranks the priorities
	CostPriority         *float64    `json:"costPriority,omitzero"`
	SpeedPriority        *float64    `json:"speedPriority,omitzero"`
	IntelligencePriority *float64    `json:"intelligencePriority,omitzero"`
}

// ModelHint is a part of a model's name.
type ModelHint struct {
	Name string `json:"name,omitzero"`
}

// ToolChoice controls the model's use of its tools, from 2025-11-25.
type ToolChoice struct {
	Mode ToolChoiceMode `json:"mode,omitzero"` // absent means auto
}

// ToolChoiceMode is the mode of a [ToolChoice].
type ToolChoiceMode string

const (
	ToolChoiceAuto     ToolChoiceMode = "auto"     // the model decides
	ToolChoiceRequired ToolChoiceMode = "required" // the model must use at least one tool
	ToolChoiceNone     ToolChoiceMode = "none"
)

package mcp

import (
	"bytes"
	"encoding/json"
)

// CreateMessageParams are the params of sampling/createMessage: the server asks the client's model for a message.
// Deprecated by the protocol in 2026-07-28, where it is an [InputRequest].
// See https://modelcontextprotocol.io/specification/2026-07-28/client/sampling.
type CreateMessageParams struct {
	Meta             Meta               `json:"_meta,omitzero"` // until 2025-11-25
	Messages         []*SamplingMessage `json:"messages" mcp:"required"`
	ModelPreferences *ModelPreferences  `json:"modelPreferences,omitzero"`
	SystemPrompt     string             `json:"systemPrompt,omitzero"`
	IncludeContext   IncludeContext     `json:"includeContext,omitzero"` // absent means none
	Temperature      *float64           `json:"temperature,omitzero"`
	MaxTokens        int64              `json:"maxTokens" mcp:"required"`
	StopSequences    []string           `json:"stopSequences,omitzero"`
	Metadata         json.RawMessage    `json:"metadata,omitzero" mcp:"object"` // for the model's provider
	Tools            []*Tool            `json:"tools,omitzero"`                 // needs sampling.tools; from 2025-11-25
	ToolChoice       *ToolChoice        `json:"toolChoice,omitzero"`            // likewise
	Task             *TaskMetadata      `json:"task,omitzero"`                  // in 2025-11-25 only
}

// CreateMessageResult answers sampling/createMessage.
type CreateMessageResult struct {
	Result
	Role       Role            `json:"role" mcp:"required"`
	Content    SamplingContent `json:"content" mcp:"required"`
	Model      string          `json:"model" mcp:"required"` // the one that was used
	StopReason StopReason      `json:"stopReason,omitzero"`
}

// SamplingMessage is one message of the conversation with a model.
type SamplingMessage struct {
	Meta    Meta            `json:"_meta,omitzero"` // from 2025-11-25
	Role    Role            `json:"role" mcp:"required"`
	Content SamplingContent `json:"content" mcp:"required"`
}

// SamplingContent is the content of a sampled message. A single block is written as an object, which is all there is
// until 2025-06-18, several as an array. Both are read.
type SamplingContent []Content

// Text returns the text blocks, one line break between them, and nothing of the others.
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

// MarshalJSON encodes the blocks. Nil blocks are an error.
func (c SamplingContent) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return appendContent(nil, c[0])
	}
	return appendContentList(nil, c)
}

// IncludeContext says from which servers a sampling request wants context. Values but none are deprecated and need the
// capability sampling.context.
type IncludeContext string

const (
	IncludeNone       IncludeContext = "none"
	IncludeThisServer IncludeContext = "thisServer"
	IncludeAllServers IncludeContext = "allServers"
)

// StopReason says why a model stopped. Providers have their own ones besides these.
type StopReason string

const (
	StopEndTurn      StopReason = "endTurn"
	StopStopSequence StopReason = "stopSequence"
	StopMaxTokens    StopReason = "maxTokens"
	StopToolUse      StopReason = "toolUse" // from 2025-11-25
)

// ModelPreferences are wishes as to the choice of a model. Priorities go from 0, does not matter, to 1, matters most.
type ModelPreferences struct {
	Hints                []ModelHint `json:"hints,omitzero"` // the first that fits counts, before the priorities
	CostPriority         *float64    `json:"costPriority,omitzero"`
	SpeedPriority        *float64    `json:"speedPriority,omitzero"`
	IntelligencePriority *float64    `json:"intelligencePriority,omitzero"`
}

// ModelHint is a part of a model's name.
type ModelHint struct {
	Name string `json:"name,omitzero"`
}

// ToolChoice says whether the model may or must use the tools it is given, from 2025-11-25.
type ToolChoice struct {
	Mode ToolChoiceMode `json:"mode,omitzero"` // absent means auto
}

// ToolChoiceMode is a [ToolChoice].
type ToolChoiceMode string

const (
	ToolChoiceAuto     ToolChoiceMode = "auto"     // the model decides
	ToolChoiceRequired ToolChoiceMode = "required" // at least one tool before the end
	ToolChoiceNone     ToolChoiceMode = "none"
)

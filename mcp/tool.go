package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ListToolsResult answers tools/list, whose params are [PageParams].
// See https://modelcontextprotocol.io/specification/2026-07-28/server/tools.
type ListToolsResult struct {
	Result
	CacheHint
	NextCursor *string `json:"nextCursor,omitzero"` // nil on the last page; an empty one is a cursor too
	Tools      []*Tool `json:"tools" mcp:"required"`

	Unreadable []*UnreadableTool `json:"-"` // tools that Decode left out of Tools
}

// UnreadableTool is a tool of a list that cannot be decoded, such as one without a schema. [Decode] leaves it out, so
// that one tool does not hide the others.
type UnreadableTool struct {
	Name string // empty if it has none
	Err  error  // names the part that is wrong, such as tools[3].inputSchema
}

// Tool is something a server does when it is called. People are shown its Title, else that of its Annotations, else its
// Name.
type Tool struct {
	Meta         Meta             `json:"_meta,omitzero"` // from 2025-06-18
	Name         string           `json:"name" mcp:"required"`
	Title        string           `json:"title,omitzero"`       // from 2025-06-18
	Description  string           `json:"description,omitzero"` // for the model
	Icons        []Icon           `json:"icons,omitzero"`       // from 2025-11-25
	InputSchema  json.RawMessage  `json:"inputSchema" mcp:"required,object"`
	OutputSchema json.RawMessage  `json:"outputSchema,omitzero" mcp:"object"` // of the structured content; from 2025-06-18
	Annotations  *ToolAnnotations `json:"annotations,omitzero"`               // from 2025-03-26
	Execution    *ToolExecution   `json:"execution,omitzero"`                 // in 2025-11-25 only
}

// ToolAnnotations are hints at what a tool does. A server that is not trusted may lie in them.
type ToolAnnotations struct {
	Title           string `json:"title,omitzero"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitzero"`    // changes nothing; absent means false
	DestructiveHint *bool  `json:"destructiveHint,omitzero"` // may destroy, not only add; absent means true
	IdempotentHint  *bool  `json:"idempotentHint,omitzero"`  // a repeated call changes nothing more; absent means false
	OpenWorldHint   *bool  `json:"openWorldHint,omitzero"`   // deals with the world outside; absent means true
}

// ToolExecution says how a tool of a server of 2025-11-25 may be called.
type ToolExecution struct {
	TaskSupport TaskSupport `json:"taskSupport,omitzero"` // absent means forbidden
}

// TaskSupport says whether a tool may, must or must not be called as a task.
type TaskSupport string

const (
	TaskForbidden TaskSupport = "forbidden"
	TaskOptional  TaskSupport = "optional"
	TaskRequired  TaskSupport = "required"
)

// CallToolParams are the params of tools/call.
type CallToolParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	Name string `json:"name" mcp:"required"` // of the tool
	// Arguments is, when sending, any value that encodes to a JSON object, a struct or a [json.RawMessage] for example,
	// or nil for none. When received, it is a json.RawMessage that holds an object, or nil.
	Arguments any `json:"arguments,omitzero"`
	// Task asks for the call to become a task; in 2025-11-25 only.
	Task *TaskMetadata `json:"task,omitzero"`
	InputRound
}

// UnmarshalJSON decodes a copy of text.
func (p *CallToolParams) UnmarshalJSON(text []byte) error {
	var d decoder
	d.b = bytes.Clone(text)
	_, err := d.callToolParams(0, p)
	return err
}

// CallToolResult answers tools/call. From 2026-07-28 the answer may be an [InputRequiredResult] or a [CreateTaskResult]
// instead; see [ResultType].
type CallToolResult struct {
	Result
	Content           ContentList     `json:"content" mcp:"required"`
	StructuredContent json.RawMessage `json:"structuredContent,omitzero"` // an object until 2025-11-25; from 2025-06-18
	IsError           bool            `json:"isError,omitzero"`           // the tool itself failed, and Content says why
}

// Text returns the text blocks of the content, one line break between them, and nothing of the others.
func (r *CallToolResult) Text() string { return textOf(r.Content) }

// Err returns nil if the tool has done what it was asked to, and a [*ToolError] if it says that it has failed.
// (specification 2026-07-28, server/tools, "Error Handling")
func (r *CallToolResult) Err() error {
	if !r.IsError {
		return nil
	}
	return &ToolError{Result: r}
}

// Decode decodes what the tool has returned into v, a pointer, by the rules of [Decode]: its structured content or,
// where there is none, its only text, as tools return JSON that are older than structured content. If the tool says
// that it has failed, Decode returns the error of [CallToolResult.Err] and leaves v alone. Nothing is checked against
// the tool's output schema: CallToolAs of package mcpclient does that.
func (r *CallToolResult) Decode(v any) error {
	if err := r.Err(); err != nil {
		return err
	}
	raw := []byte(r.StructuredContent)
	if raw == nil {
		text, ok := r.onlyText()
		if !ok {
			return errors.New("the tool returned no structured content, and not one text that could be JSON")
		}
		raw = []byte(text)
	}
	if _, err := Decode(raw, v); err != nil {
		return fmt.Errorf("result of the tool: %w", err)
	}
	return nil
}

// onlyText returns the text of a result that has one block, which is a text.
func (r *CallToolResult) onlyText() (string, bool) {
	if len(r.Content) != 1 {
		return "", false
	}
	t, ok := r.Content[0].(*TextContent)
	if !ok {
		return "", false
	}
	return t.Text, true
}

// ToolError is the error for a tool that says in its result that it has failed. It is not an error of the protocol: the
// call was answered, and a model may read what the tool says and try something else.
type ToolError struct {
	Tool   string // empty if it is not known
	Result *CallToolResult
}

// Error returns the tool's text.
func (e *ToolError) Error() string {
	text := e.Result.Text()
	if text == "" {
		text = "it has failed, and does not say why"
	}
	if e.Tool == "" {
		return "tool: " + text
	}
	return "tool " + e.Tool + ": " + text
}

// ErrorType is the value of the attribute error.type in telemetry.
func (e *ToolError) ErrorType() string { return "tool_error" }

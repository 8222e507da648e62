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
	NextCursor *string `json:"nextCursor,omitzero"` // nil on the last page; an empty string is a valid cursor
	Tools      []*Tool `json:"tools" mcp:"required"`

	Unreadable []*UnreadableTool `json:"-"` // tools that Decode could not decode; Tools omits them
}

// UnreadableTool is a listed tool that [Decode] cannot decode, for example a tool without a schema. Decode omits it
// from the tools, so that one invalid tool does not hide the others.
type UnreadableTool struct {
	Name string // empty if the tool has no name
	Err  error  // names the invalid part, such as tools[3].inputSchema
}

// Tool is a function that a server offers. User interfaces show the first of these that is set: its Title, the Title
// of its Annotations, its Name.
type Tool struct {
	Meta        Meta            `json:"_meta,omitzero"` // from 2025-06-18
	Name        string          `json:"name" mcp:"required"`
	Title       string          `json:"title,omitzero"`       // from 2025-06-18
	Description string          `json:"description,omitzero"` // description for the model
	Icons       []Icon          `json:"icons,omitzero"`       // from 2025-11-25
	InputSchema json.RawMessage `json:"inputSchema" mcp:"required,object"`
	// schema of the structured content; from 2025-06-18
	OutputSchema json.RawMessage  `json:"outputSchema,omitzero" mcp:"object"`
	Annotations  *ToolAnnotations `json:"annotations,omitzero"` // from 2025-03-26
	Execution    *ToolExecution   `json:"execution,omitzero"`   // in 2025-11-25 only
}

// ToolAnnotations are hints about a tool's behaviour. Do not rely on the hints of an untrusted server.
type ToolAnnotations struct {
	Title        string `json:"title,omitzero"`
	ReadOnlyHint *bool  `json:"readOnlyHint,omitzero"` // the tool changes nothing; absent means false
	// the tool may destroy data, not only add data; absent means true
	DestructiveHint *bool `json:"destructiveHint,omitzero"`
	// repeating a call has no further effect; absent means false
	IdempotentHint *bool `json:"idempotentHint,omitzero"`
	// the tool interacts with external systems; absent means true
	OpenWorldHint *bool `json:"openWorldHint,omitzero"`
}

// ToolExecution describes how clients of 2025-11-25 may call a tool.
type ToolExecution struct {
	TaskSupport TaskSupport `json:"taskSupport,omitzero"` // absent means forbidden
}

// TaskSupport states whether clients may, must or must not call a tool as a task.
type TaskSupport string

const (
	TaskForbidden TaskSupport = "forbidden"
	TaskOptional  TaskSupport = "optional"
	TaskRequired  TaskSupport = "required"
)

// CallToolParams are the params of tools/call.
type CallToolParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	Name string `json:"name" mcp:"required"` // name of the tool
	// Arguments is any value that encodes to a JSON object, such as a struct or a [json.RawMessage], or nil for no
	// arguments. In received params, Arguments is a json.RawMessage with an object, or nil.
	Arguments any `json:"arguments,omitzero"`
	// Task requests that the server runs the call as a task; in 2025-11-25 only.
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
	Content ContentList `json:"content" mcp:"required"`
	// from 2025-06-18; must be an object until 2025-11-25
	StructuredContent json.RawMessage `json:"structuredContent,omitzero"`
	// the tool failed; Content describes the failure
	IsError bool `json:"isError,omitzero"`
}

// Text joins the text blocks of the content with line breaks. It skips all other blocks.
func (r *CallToolResult) Text() string { return textOf(r.Content) }

// Err returns a [*ToolError] if the result reports a failure of the tool, else nil. (specification 2026-07-28,
// server/tools, "Error Handling")
func (r *CallToolResult) Err() error {
	if !r.IsError {
		return nil
	}
	return &ToolError{Result: r}
}

// Decode decodes the output of the tool into v, a pointer, by the rules of [Decode]. The output is the structured
// content. Without structured content, it is the only text block, because older tools return JSON as text. If the tool
// failed, Decode returns the error of [CallToolResult.Err] and does not change v. Decode does not check the output
// against the tool's schema; CallToolAs of package mcpclient does.
func (r *CallToolResult) Decode(v any) error {
	if err := r.Err(); err != nil {
		return err
	}
	raw := []byte(r.StructuredContent)
	if raw == nil {
		text, ok := r.onlyText()
		if !ok {
			return errors.New("the tool returned neither structured content nor a single text block with JSON")
		}
		raw = []byte(text)
	}
	if _, err := Decode(raw, v); err != nil {
		return fmt.Errorf("result of the tool: %w", err)
	}
	return nil
}

// onlyText returns the text of a result that consists of exactly one text block.
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

// ToolError means that a tool failed. It is not an error of the protocol: the server answered the call, and a model
// may read the tool's message and try again in another way.
type ToolError struct {
	Tool   string // name of the tool; empty if unknown
	Result *CallToolResult
}

// Error returns the name of the tool and the text of its result.
func (e *ToolError) Error() string {
	text := e.Result.Text()
	if text == "" {
		text = "the call failed without a message"
	}
	if e.Tool == "" {
		return "tool: " + text
	}
	return "tool " + e.Tool + ": " + text
}

// ErrorType returns the value of the telemetry attribute error.type.
func (e *ToolError) ErrorType() string { return "tool_error" }

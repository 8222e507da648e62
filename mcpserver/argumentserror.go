package mcpserver

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

// argumentsError is the error for invalid arguments of a call. Its message is meant for a model.
type argumentsError struct{ err error }

// Error describes each invalid value, the expected value, and the violated keyword of the schema.
func (e *argumentsError) Error() string {
	invalid, ok := errors.AsType[*schema.ValidationError](e.err)
	if !ok {
		return "invalid arguments: " + e.err.Error()
	}
	var b strings.Builder
	b.WriteString("invalid arguments: ")
	for i, p := range invalid.Problems {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(p.String())
		if p.Schema != "" {
			b.WriteString(" (schema " + p.Schema + ")")
		}
	}
	return b.String()
}

func (e *argumentsError) Unwrap() error { return e.err }

// problem describes one invalid value in the data of the error.
type problem struct {
	Instance string `json:"instance"`
	Schema   string `json:"schema"`
	Keyword  string `json:"keyword"`
	Message  string `json:"message"`
}

// refusal returns the protocol error for revisions in which invalid arguments are a protocol error.
// (specification 2025-06-18, server/tools, "Error Handling")
func (e *argumentsError) refusal() error {
	wire := &mcp.Error{Code: mcp.CodeInvalidParams, Message: e.Error()}
	if invalid, ok := errors.AsType[*schema.ValidationError](e.err); ok {
		problems := make([]problem, len(invalid.Problems))
		for i, p := range invalid.Problems {
			problems[i] = problem(p)
		}
		if data, err := json.Marshal(map[string]any{"problems": problems}); err == nil {
			wire.Data = data
		}
	}
	return wire
}

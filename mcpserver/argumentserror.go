package mcpserver

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

// argumentsError says what is wrong with the arguments of a call, in words that a model can act on.
type argumentsError struct{ err error }

// Error names each value that does not fit, what it should be, and the keyword of the schema that says so.
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

// problem is one thing that is wrong, as the data of the error has it.
type problem struct {
	Instance string `json:"instance"`
	Schema   string `json:"schema"`
	Keyword  string `json:"keyword"`
	Message  string `json:"message"`
}

// refusal returns the error that answers the call in revisions where invalid arguments are one.
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

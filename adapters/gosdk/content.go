package gosdk

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/internal/instrument"
)

// captureArguments passes the arguments of a call to the redactor, if there is one.
func captureArguments(op *instrument.Op, params mcp.Params) {
	if !op.Captures() {
		return
	}
	var arguments any
	switch p := params.(type) {
	case *mcp.CallToolParams:
		arguments = p.Arguments
	case *mcp.CallToolParamsRaw:
		arguments = p.Arguments
	case *mcp.GetPromptParams:
		arguments = p.Arguments
	default:
		return
	}
	if raw, err := json.Marshal(arguments); err == nil && string(raw) != "null" {
		op.Arguments(raw)
	}
}

// audited returns the params of a call of a tool as JSON, if calls are audited.
func audited(e end, method string, params mcp.Params) []byte {
	if method != "tools/call" || !e.Audits() {
		return nil
	}
	raw, _ := json.Marshal(params) // the SDK reports an error
	return raw
}

// captureAnswer passes the result of a tool to the redactor, if there is one.
func captureAnswer(op *instrument.Op, result mcp.Result) {
	r, ok := result.(*mcp.CallToolResult)
	if !ok || r == nil || !op.Captures() {
		return
	}
	if raw, err := json.Marshal(r); err == nil {
		op.Answer(raw)
	}
}

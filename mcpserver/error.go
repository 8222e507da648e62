package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// codeIn returns the code that a client of revision v gets for an error code. A code that v has replaced becomes its
// successor, and a code without a meaning in v becomes -32603. Revision 2026-07-28 reserves the codes from -32020 to
// -32099 for itself, and replaces some codes of earlier revisions. In that revision, the codes from -32000 to -32019
// have no meaning that a client could know. (specification 2026-07-28, basic/index, "Error Codes")
func codeIn(v mcp.Version, code int64) int64 {
	switch {
	case v.Era() == mcp.Legacy || code > -32000 || code < -32099:
		return code
	case code == mcp.CodeResourceNotFound:
		return mcp.CodeInvalidParams
	case code <= mcp.CodeHeaderMismatch && code >= mcp.CodeUnsupportedVersion:
		return code
	}
	return mcp.CodeInternalError
}

// allowed replaces the code of err if the revision does not allow the code. The text of the returned error keeps
// the original code, for the log.
func allowed(v mcp.Version, err error) error {
	e, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		return err
	}
	code := codeIn(v, e.Code)
	if code == e.Code {
		return err
	}
	return rpc.Fail(&mcp.Error{Code: code, Message: e.Message, Data: e.Data},
		fmt.Errorf("%w, which %s does not allow: the client gets %d", err, v, code))
}

// missingCapability returns the error for a request of a modern client that has not declared a required capability.
// Only the log contains cause. (specification 2026-07-28, basic/index, "Missing Required Capabilities")
func missingCapability(need mcp.ClientCapabilities, cause error) error {
	required, err := json.Marshal(need)
	if err != nil {
		return err
	}
	data, err := json.Marshal(mcp.MissingClientCapabilityData{RequiredCapabilities: need})
	if err != nil {
		return err
	}
	return rpc.Fail(&mcp.Error{
		Code:    mcp.CodeMissingClientCapability,
		Message: "the client has not declared a capability that this request needs: " + string(required),
		Data:    data,
	}, cause)
}

// outcome describes the answer to a request for telemetry. The answer is err, or result if err is nil.
func outcome(result any, err error) instrument.Result {
	if err != nil {
		return rpc.ResultOf(err)
	}
	r := instrument.Result{}
	switch result := result.(type) {
	case *mcp.CallToolResult:
		if result != nil {
			r.ToolError = result.IsError
			if result.ResultType != "" {
				r.ResultType = string(finalType(result.ResultType))
			}
		}
	case *mcp.InputRequiredResult:
		r.ResultType = string(result.ResultType)
	case *mcp.CreateTaskResult:
		r.ResultType = string(result.ResultType)
	}
	return r
}

// argumentsError is the error for invalid arguments of a call. Its message addresses a model.
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

// problem describes one invalid value in the data of the protocol error.
type problem struct {
	Instance string `json:"instance"`
	Schema   string `json:"schema"`
	Keyword  string `json:"keyword"`
	Message  string `json:"message"`
}

// refusal converts e to a protocol error, for the revisions that report invalid arguments as a protocol error.
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

package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// codeIn returns the code with which an error reaches a client of a revision. Those of 2026-07-28 have codes of their
// own between -32020 and -32099 and must not get others of that range, nor those of earlier revisions for which there
// is another word now; -32000 to -32019 have no meaning there that a client could know. A handler that has such a code
// is understood as far as that goes. (specification 2026-07-28, basic/index, "Error Codes")
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

// allowed gives err a code that the revision allows. What it was stays in its text, for the log.
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

var (
	errShuttingDown = relay.ErrStopping
	errUnread       = &mcp.Error{Code: mcp.CodeInternalError,
		Message: "the answer was dropped: clients have too many answers waiting that they do not read"}
)

func invalidRequest(format string, args ...any) error {
	return refusal(mcp.CodeInvalidRequest, format, args...)
}

func invalidParams(format string, args ...any) error {
	return refusal(mcp.CodeInvalidParams, format, args...)
}

// refusal returns an error of which the client sees everything.
func refusal(code int64, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return rpc.Fail(&mcp.Error{Code: code, Message: err.Error()}, err)
}

// unsupportedVersion answers a client whose revision the server does not speak.
// (specification 2026-07-28, basic/versioning, "Protocol Version Negotiation")
func unsupportedVersion(requested mcp.Version, supported []mcp.Version) error {
	data, err := json.Marshal(mcp.UnsupportedVersionData{Supported: supported, Requested: requested})
	if err != nil {
		return err
	}
	names := make([]string, len(supported))
	for i, v := range supported {
		names[i] = string(v)
	}
	return &mcp.Error{
		Code:    mcp.CodeUnsupportedVersion,
		Message: fmt.Sprintf("unsupported protocol version %q; this server speaks %s", requested, strings.Join(names, ", ")),
		Data:    data,
	}
}

// missingCapability refuses a request of a modern client that has not declared what it takes, for which there is a
// cause. (specification 2026-07-28, basic/index, "Missing Required Capabilities")
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
		Code: mcp.CodeMissingClientCapability, Message: "the client has not declared what this takes: " + string(required),
		Data: data,
	}, cause)
}

// outcome describes for telemetry how a request was answered: with err, or else with result.
func outcome(result any, err error) instrument.Result {
	if err != nil {
		return rpc.ResultOf(err)
	}
	r := instrument.Result{}
	switch result := result.(type) {
	case verbatim:
		return result.outcome()
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

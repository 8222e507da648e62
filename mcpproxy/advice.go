package mcpproxy

import (
	"encoding/json"
	"errors"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// advice is appended to the error of a server that may share no revision with the host. Neither the host nor the server
// explains this failure further.
const advice = " (if host and server share no revision of MCP, mcpotel proxy --translate translates between " +
	"them; in Go, set NoPrefix in mcpproxy.GatewayOptions)"

// refusal is the error with which a server refused a host's introduction.
type refusal struct {
	error
	introduction string // method of the introduction
}

func (r *refusal) Unwrap() error { return r.error }

// withAdvice returns an answer function that adds the advice to a refusal.
func withAdvice(answer relay.Answer) relay.Answer {
	return func(result json.RawMessage, err error) {
		if r, ok := errors.AsType[*refusal](err); ok {
			err = advised(r.introduction, r.error)
		}
		answer(result, err)
	}
}

// advised adds the advice to the error of a refused introduction, if a host and a server of different eras may fail
// with this error. Code and data stay unchanged, because hosts choose their next step by them. (specification
// 2026-07-28, basic/versioning, "Compatibility Matrix")
func advised(introduction string, err error) error {
	e, ok := errors.AsType[*relay.Error](err)
	if !ok || !otherEra(introduction, e.Server.Code) {
		return err
	}
	own := *e.Server
	own.Message += advice
	return &relay.Error{Object: renamed(e.Object, "message", own.Message), Server: &own}
}

// otherEra reports whether a server of the other era may answer an introduction with this error code. A legacy server
// answers server/discover with any code, except the codes that 2026-07-28 introduced. A modern server treats initialize
// as an unknown method, or as a request without the required headers and _meta.
func otherEra(introduction string, code int64) bool {
	switch code {
	case mcp.CodeUnsupportedVersion, mcp.CodeHeaderMismatch:
		return introduction == mcp.MethodInitialize
	case mcp.CodeMissingClientCapability:
		return false
	case mcp.CodeMethodNotFound, mcp.CodeInvalidRequest, mcp.CodeInvalidParams:
		return true
	}
	return introduction == mcp.MethodDiscover
}

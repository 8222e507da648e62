package mcpproxy

import (
	"encoding/json"
	"errors"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// advice is appended to the refusal of a server that may have no revision in common with the host, since neither
// explains the refusal further.
const advice = " (if host and server have no revision of MCP in common, mcpotel proxy --translate translates between " +
	"them; in Go, NoPrefix of mcpproxy.GatewayOptions)"

// refusal is an error that ended a host's introduction.
type refusal struct {
	error
	introduction string // method of the introduction
}

func (r *refusal) Unwrap() error { return r.error }

// withAdvice returns an answer function that adds advice to a refusal.
func withAdvice(answer relay.Answer) relay.Answer {
	return func(result json.RawMessage, err error) {
		if r, ok := errors.AsType[*refusal](err); ok {
			err = advised(r.introduction, r.error)
		}
		answer(result, err)
	}
}

// advised adds advice to the error message of a refused introduction, if hosts and servers of different eras fail with
// it. Hosts choose their next step by code and data, so both stay unchanged. (specification 2026-07-28,
// basic/versioning, "Compatibility Matrix")
func advised(introduction string, err error) error {
	e, ok := errors.AsType[*relay.Error](err)
	if !ok || !otherEra(introduction, e.Server.Code) {
		return err
	}
	own := *e.Server
	own.Message += advice
	return &relay.Error{Object: renamed(e.Object, "message", own.Message), Server: &own}
}

// otherEra reports whether an error with this code, in answer to an introduction, may come from a server of the other
// era. A legacy server answers server/discover with any code outside 2026-07-28. A modern server treats initialize as
// an unknown method, or as a request without the required headers and _meta.
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

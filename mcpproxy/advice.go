package mcpproxy

import (
	"encoding/json"
	"errors"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// advice is what a host is told behind the words of a server that may have no revision in common with it, since both
// see no more than a refusal.
const advice = " (if host and server have no revision of MCP in common, mcpotel proxy --translate translates between " +
	"them; in Go, NoPrefix of mcpproxy.GatewayOptions)"

// refusal is an error with which a host's introduction has ended.
type refusal struct {
	error
	introduction string // its method
}

func (r *refusal) Unwrap() error { return r.error }

// advising returns an answer that advises the host if it is a refusal.
func advising(answer relay.Answer) relay.Answer {
	return func(result json.RawMessage, err error) {
		if r, ok := errors.AsType[*refusal](err); ok {
			err = advised(r.introduction, r.error)
		}
		answer(result, err)
	}
}

// advised adds advice to the message of an error by which a server refuses the introduction of a host, if hosts and
// servers of different eras fail so. Code and data, by which hosts decide what to try next, stay as they are.
// (specification 2026-07-28, basic/versioning, "Compatibility Matrix")
func advised(introduction string, err error) error {
	e, ok := errors.AsType[*relay.Error](err)
	if !ok || !otherEra(introduction, e.Server.Code) {
		return err
	}
	own := *e.Server
	own.Message += advice
	return &relay.Error{Object: renamed(e.Object, "message", own.Message), Server: &own}
}

// otherEra reports whether an error with this code, which answers an introduction, may say that the server is of the
// other era. A legacy server answers server/discover with any code that is not of 2026-07-28; a modern one takes
// initialize for a method that it does not know, or for a request without the headers and the _meta that it wants.
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

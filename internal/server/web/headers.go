package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/mirror"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Headers of the protocol, in canonical form.
const (
	HeaderVersion     = "Mcp-Protocol-Version"
	headerSession     = "Mcp-Session-Id"
	headerMethod      = "Mcp-Method"
	headerName        = "Mcp-Name"
	headerLastEventID = "Last-Event-Id"
)

func headerMismatch(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return rpc.Fail(&mcp.Error{Code: mcp.CodeHeaderMismatch, Message: err.Error()}, err)
}

// Headers are the headers of an HTTP request with a modern message, which mirror parts of the message. Headers is nil
// for other messages. (specification 2026-07-28, basic/transports/streamable-http, "Server Validation")
type Headers http.Header

// single returns the value of a header that must be present exactly once. A repeated header is an error, because a
// proxy may have used another of its values.
func (h Headers) single(name string) (string, error) {
	switch values := h[name]; len(values) {
	case 0:
		return "", headerMismatch("the header %s is missing", name)
	case 1:
		return values[0], nil
	}
	return "", headerMismatch("the header %s occurs more than once", name)
}

// CheckVersion compares the header of the revision with the revision in the body. A body without a revision passes.
func (h Headers) CheckVersion(p *jsonrpc.Params) error {
	version, err := h.single(HeaderVersion)
	if err == nil && p.ProtocolVersion != nil {
		if !jsonrpc.Is(p.ProtocolVersion, version) {
			err = headerMismatch("the header %s is %.64q, but params._meta names another revision", HeaderVersion, version)
		}
	}
	return err
}

// CheckMethod compares Mcp-Method with the method of the request.
func (h Headers) CheckMethod(method string) error {
	switch got, err := h.single(headerMethod); {
	case err != nil:
		return err
	case got != method:
		return headerMismatch("the header %s is %.64q, but the method in the body is %.64q", headerMethod, got, method)
	}
	return nil
}

// CheckName compares Mcp-Name with the target of the request. If the params have no target, the header must be absent.
// A method without a target passes.
func (h Headers) CheckName(about mcp.Target, p *jsonrpc.Params, params json.RawMessage) error {
	var raw []byte
	switch member := about.Member(); member {
	case "":
		return nil
	case "name":
		raw = p.Name
	case "uri":
		raw = p.URI
	default:
		raw, _ = mcp.Object(params).Lookup(member)
	}
	if raw == nil && len(h[headerName]) == 0 {
		return nil
	}
	said, err := h.single(headerName)
	if err != nil {
		return err
	}
	if end, escaped, err := jsonscan.String(raw, 0); err == nil && !escaped && end == len(raw) &&
		string(raw[1:end-1]) == said &&
		!strings.HasPrefix(said, "=?") {
		return nil
	}
	decoded, err := mirror.Decode(said)
	if err != nil {
		return headerMismatch("%s: %w", headerName, err)
	}
	if want, ok := jsonrpc.Text(raw); !ok || decoded != want {
		return headerMismatch("the header %s is %.64q, but the body names another target", headerName, decoded)
	}
	return nil
}

// CheckArguments compares the headers Mcp-Param-* with the arguments of a tool call.
func (h Headers) CheckArguments(params []mirror.Param, arguments []byte) error {
	values, err := mirror.Values(params, arguments)
	if err != nil {
		return headerMismatch("the arguments cannot be compared with the headers: %w", err)
	}
	for _, p := range params {
		if len(values) == 0 || values[0].Header != p.Header {
			if len(h[p.Header]) > 0 {
				return headerMismatch("the header %s is present, but the arguments lack its value", p.Header)
			}
			continue
		}
		decoded, err := h.decoded(p.Header)
		if err != nil {
			return err
		}
		if !mirror.Equal(p, decoded, values[0].Value) {
			return headerMismatch("the header %s differs from the value in the arguments", p.Header)
		}
		values = values[1:]
	}
	return nil
}

// decoded returns the decoded value of a header that must be present exactly once.
func (h Headers) decoded(name string) (string, error) {
	said, err := h.single(name)
	if err != nil {
		return "", err
	}
	decoded, err := mirror.Decode(said)
	if err != nil {
		return "", headerMismatch("%s: %w", name, err)
	}
	return decoded, nil
}

// Params returns the decoded values of all headers Mcp-Param-* by header name, or nil if h is nil.
func (h Headers) Params() (said map[string]string, err error) {
	if h != nil {
		said = map[string]string{}
	}
	for name := range h {
		if !strings.HasPrefix(name, mirror.HeaderPrefix) {
			continue
		}
		if said[name], err = h.decoded(name); err != nil {
			return nil, err
		}
	}
	return said, nil
}

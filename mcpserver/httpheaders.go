package mcpserver

import (
	"net/http"
	"strings"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/mirror"
	"github.com/mcpotel/mcpotel/mcp"
)

// Headers of the protocol, in canonical form.
const (
	headerVersion     = "Mcp-Protocol-Version"
	headerSession     = "Mcp-Session-Id"
	headerMethod      = "Mcp-Method"
	headerName        = "Mcp-Name"
	headerLastEventID = "Last-Event-Id"
)

func headerMismatch(format string, args ...any) error {
	return refusal(mcp.CodeHeaderMismatch, format, args...)
}

// single returns the value of a header, which must be there once. Where it is there more often, whoever looked at it on
// the way may have seen another value.
func single(h http.Header, name string) (string, error) {
	switch values := h[name]; len(values) {
	case 0:
		return "", headerMismatch("the header %s is missing", name)
	case 1:
		return values[0], nil
	}
	return "", headerMismatch("the header %s is there more than once", name)
}

// headerTerms returns the terms of a modern request over HTTP: what it says in its _meta, which must be what it says in
// its headers. (specification 2026-07-28, basic/transports/streamable-http, "Server Validation")
func (x *exchange) headerTerms(method string, p *jsonrpc.Params) (mcp.Version, client, error) {
	version, err := single(x.header, headerVersion)
	if err == nil && p.ProtocolVersion != nil {
		if said, ok := jsonrpc.Text(p.ProtocolVersion); !ok || said != version {
			err = headerMismatch("the header %s is %.64q, and params._meta says otherwise", headerVersion, version)
		}
	}
	if err != nil {
		return "", client{}, err
	}
	v, from, err := x.s.modernTerms(p)
	if err != nil {
		return v, from, err
	}
	return v, from, x.mirrors(headerMethod, method)
}

// mirrors says whether a header is what the body says.
func (x *exchange) mirrors(name, want string) error {
	switch got, err := single(x.header, name); {
	case err != nil:
		return err
	case got != want:
		return headerMismatch("the header %s is %.64q, and the body says %.64q", name, got, want)
	}
	return nil
}

// checkHeaders holds the headers that mirror parts of a modern request's params against them. There is nothing to check
// in any other request.
func (x *exchange) checkHeaders(c *call, p *jsonrpc.Params) error {
	if x.header == nil {
		return nil
	}
	if err := x.checkName(c, p); err != nil {
		return err
	}
	if c.method.name != mcp.MethodCallTool {
		return nil
	}
	name, _ := jsonrpc.Text(p.Name)
	if t, ok := x.s.tools.lookup(name); ok && len(t.mirrored) > 0 {
		return x.checkArguments(t.mirrored, p.Arguments)
	}
	return nil
}

// checkName compares Mcp-Name with what the request is about. One that does not say so needs no header, but must not
// have one either.
func (x *exchange) checkName(c *call, p *jsonrpc.Params) error {
	var raw []byte
	switch member := c.method.target(c.info.Version).Member(); member {
	case "":
		return nil
	case "name":
		raw = p.Name
	case "uri":
		raw = p.URI
	default:
		raw, _ = mcp.Object(c.params).Lookup(member)
	}
	if raw == nil && len(x.header[headerName]) == 0 {
		return nil
	}
	said, err := single(x.header, headerName)
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
		return headerMismatch("the header %s is %.64q, and the body says otherwise", headerName, decoded)
	}
	return nil
}

// checkArguments compares the headers Mcp-Param-* with the arguments of a call.
func (x *exchange) checkArguments(params []mirror.Param, arguments []byte) error {
	values, err := mirror.Values(params, arguments)
	if err != nil {
		return headerMismatch("arguments that headers mirror: %w", err)
	}
	for _, p := range params {
		if len(values) == 0 || values[0].Header != p.Header {
			if len(x.header[p.Header]) > 0 {
				return headerMismatch("the header %s is there, and the arguments have no such value", p.Header)
			}
			continue
		}
		said, err := single(x.header, p.Header)
		if err != nil {
			return err
		}
		decoded, err := mirror.Decode(said)
		if err != nil {
			return headerMismatch("%s: %w", p.Header, err)
		}
		if !mirror.Equal(p, decoded, values[0].Value) {
			return headerMismatch("the header %s is not what the arguments say", p.Header)
		}
		values = values[1:]
	}
	return nil
}

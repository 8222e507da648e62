package mcpserver

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
)

// RequestInfo is what a handler may want to know about the request that it answers. Its methods may be called from any
// goroutine, and on nil, which stands for no request, they return zero values.
type RequestInfo struct {
	Method  string
	ID      mcp.RequestID
	Version mcp.Version // the revision by which the request is answered
	Meta    mcp.Meta    // of the request, nil for none; not to be changed

	from client
	call *call
	task *tasks.Run // nil unless the handler is one whose call is a task or may become one
}

// RequestFrom returns the request that a handler is answering, from the context that the handler was called with or one
// derived from it; nil from any other context.
func RequestFrom(ctx context.Context) *RequestInfo {
	r, _ := ctx.Value(rpc.InfoKey{}).(*RequestInfo)
	return r
}

// Client returns who sent the request, by the client's own account. It is for display and logs, not for decisions.
func (r *RequestInfo) Client() mcp.Implementation {
	if r == nil {
		return mcp.Implementation{}
	}
	return r.from.implementation()
}

// Principal returns who is asking, as [HTTPOptions.Principal] tells it; empty if that is unknown, and on any other
// connection.
func (r *RequestInfo) Principal() string {
	if r == nil || r.call == nil {
		return ""
	}
	return r.call.x.client.principal
}

// Session returns the session that the request belongs to, nil for a modern request, and for one of a legacy client of
// stateless HTTP.
func (r *RequestInfo) Session() *Session {
	if r == nil || r.call == nil || r.Version.Era() == mcp.Modern || r.call.x.conn == nil {
		return nil
	}
	return r.call.x.conn.public
}

// SessionID returns the id of the session over HTTP that the request belongs to, empty if there is none.
func (r *RequestInfo) SessionID() string { return r.Session().ID() }

// HTTP returns the HTTP request that has brought this one, nil if it came over any other connection.
func (r *RequestInfo) HTTP() *HTTPRequest {
	if r == nil || r.call == nil || r.call.x.httpRequest == nil {
		return nil
	}
	h := r.call.x.httpRequest
	return &HTTPRequest{
		Method: h.Method, URL: h.URL, Proto: h.Proto, Host: h.Host, Header: h.Header, RemoteAddr: h.RemoteAddr, TLS: h.TLS,
	}
}

// HTTPRequest is what is known of the HTTP request that has brought a request: what the fields of [http.Request] of
// these names say. Nothing in it is to be changed. Header may contain credentials.
type HTTPRequest struct {
	Method     string
	URL        *url.URL
	Proto      string
	Host       string
	Header     http.Header
	RemoteAddr string
	TLS        *tls.ConnectionState // nil without TLS, or where a proxy ends that
}

// ClientCapabilities returns what the client has declared that it can do.
func (r *RequestInfo) ClientCapabilities() mcp.ClientCapabilities {
	if r == nil {
		return mcp.ClientCapabilities{}
	}
	return r.from.declared()
}

// Request is a request for a handler that [Server.HandleRequest] has added.
type Request struct {
	*RequestInfo
	Params json.RawMessage // valid JSON, an object; nil for none
}

// Decode decodes the params into v, a pointer, in the way of [mcp.Decode]. Nothing in v shares memory with the request.
// Its error, returned by the handler, refuses the request with -32602.
func (r *Request) Decode(v any) error {
	if err := decodeCopy(r.Params, v); err != nil {
		return invalidParams("params: %w", err)
	}
	return nil
}

// decodeCopy decodes raw, if there is any, and leaves it as it is. Icons that no client should load are left out.
func decodeCopy(raw json.RawMessage, v any) error {
	if raw == nil {
		return nil
	}
	_, err := mcp.Decode(raw, v)
	given.DropIcons(v)
	return err
}

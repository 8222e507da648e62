package mcpserver

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
)

// RequestInfo describes the request that a handler answers. Its methods are safe for concurrent use. A nil
// *RequestInfo means no request; its methods return zero values.
type RequestInfo struct {
	Method  string
	ID      mcp.RequestID
	Version mcp.Version // the revision of the answer
	Meta    mcp.Meta    // _meta of the request, nil without _meta; must not be changed

	from engine.Sender
	call *call
	task *tasks.Run // nil unless the call is a task or may become one
}

// RequestFrom returns the request that a handler answers. ctx is the context of the handler, or a context derived from
// it. For any other context, RequestFrom returns nil.
func RequestFrom(ctx context.Context) *RequestInfo {
	r, _ := ctx.Value(rpc.InfoKey{}).(*RequestInfo)
	return r
}

// Client returns the name and version that the client claims. Use them for display and logs, not for decisions.
func (r *RequestInfo) Client() mcp.Implementation {
	if r == nil {
		return mcp.Implementation{}
	}
	return r.from.Implementation()
}

// Principal returns the principal of the request, as [HTTPOptions.Principal] determined it. It is empty if the
// principal is unknown, and for connections other than HTTP.
func (r *RequestInfo) Principal() string {
	if r == nil || r.call == nil {
		return ""
	}
	return r.call.x.Client.Principal
}

// Session returns the session that the request belongs to. It is nil for a modern request, and for a request of a
// legacy client over stateless HTTP.
func (r *RequestInfo) Session() *Session {
	if r == nil || r.call == nil || r.Version.Era() == mcp.Modern || r.call.x.conn == nil {
		return nil
	}
	return r.call.x.conn.public
}

// SessionID returns the id of the request's session over HTTP. It is empty if there is no such session.
func (r *RequestInfo) SessionID() string { return r.Session().ID() }

// HTTP returns the HTTP request that carried this request. It returns nil on any other connection.
func (r *RequestInfo) HTTP() *HTTPRequest {
	if r == nil || r.call == nil || r.call.x.HTTPRequest == nil {
		return nil
	}
	h := r.call.x.HTTPRequest
	return &HTTPRequest{
		Method: h.Method, URL: h.URL, Proto: h.Proto, Host: h.Host, Header: h.Header, RemoteAddr: h.RemoteAddr, TLS: h.TLS,
	}
}

// HTTPRequest describes the HTTP request that carried a request. Each field has the meaning of the field of the same
// name in [http.Request], and must not be changed. Header may contain credentials.
type HTTPRequest struct {
	Method     string
	URL        *url.URL
	Proto      string
	Host       string
	Header     http.Header
	RemoteAddr string
	TLS        *tls.ConnectionState // nil without TLS, or if a proxy terminates it
}

// ClientCapabilities returns the capabilities that the client has declared.
func (r *RequestInfo) ClientCapabilities() mcp.ClientCapabilities {
	if r == nil {
		return mcp.ClientCapabilities{}
	}
	return r.from.Declared()
}

// Request is a request for a [RequestHandler].
type Request struct {
	*RequestInfo
	Params json.RawMessage // a valid JSON object; nil without params
}

// Decode decodes the params into v, a pointer, as [mcp.Decode] does. v shares no memory with the request. A handler
// may return the error of Decode; the server then refuses the request with -32602.
func (r *Request) Decode(v any) error {
	if err := given.Decode(r.Params, v); err != nil {
		return rpc.InvalidParams("params: %w", err)
	}
	return nil
}

// RequestHandler answers a request. The result of tools/call is a [*mcp.CallToolResult], unless the call gets another
// kind of answer, such as a task. The types of other results are unspecified. A nil result is an empty result. The
// client gets an error of type [*mcp.Error] unchanged, and any other error as -32603 with a neutral message.
type RequestHandler func(ctx context.Context, r *Request) (any, error)

// answered is the innermost handler, inside all middleware.
func answered(ctx context.Context, r *Request) (any, error) {
	if r == nil || r.RequestInfo == nil || r.call == nil {
		return nil, errForeign
	}
	return r.call.handleRounds(ctx)
}

var errForeign = rpc.Fail(rpc.ErrInternal,
	errors.New("middleware passed a request that the server did not create"))

// wrapped returns the handler of all requests, with the middleware around it. It returns nil if there is no
// middleware.
func wrapped(middleware []func(RequestHandler) RequestHandler) RequestHandler {
	if len(middleware) == 0 {
		return nil
	}
	h := RequestHandler(answered)
	for i := len(middleware) - 1; i >= 0; i-- {
		h = middleware[i](h)
	}
	return h
}

// throughMiddleware passes the request to the middleware.
func (c *call) throughMiddleware(ctx context.Context) (any, error) {
	result, err := c.inRounds(ctx, func() (any, error) {
		return c.x.s.middleware(ctx, &Request{RequestInfo: &c.info, Params: c.params})
	})
	switch {
	case c.Deferred: // the subscription is open, regardless of the middleware's result
		return nil, nil
	case err != nil:
		return nil, err
	case result == nil || ours(reflect.TypeOf(result)):
		return result, nil
	}
	raw, err := mcp.AppendResult(nil, result) // encode here, where a panic is recovered
	return json.RawMessage(raw), err
}

// ours reports whether t is a type of this package or of package mcp, or raw JSON.
func ours(t reflect.Type) bool {
	if t == reflect.TypeFor[json.RawMessage]() {
		return true
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.PkgPath() {
	case reflect.TypeFor[call]().PkgPath(), reflect.TypeFor[mcp.Error]().PkgPath():
		return true
	}
	return false
}

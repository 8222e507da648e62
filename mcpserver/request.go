package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"

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
	task *taskRun // nil unless the handler is one whose call is a task or may become one
}

// RequestFrom returns the request that a handler is answering, from the context that the handler was called with or one
// derived from it; nil from any other context.
func RequestFrom(ctx context.Context) *RequestInfo {
	r, _ := ctx.Value(requestKey{}).(*RequestInfo)
	return r
}

type requestKey struct{}

// Client returns who sent the request, by the client's own account. It is for display and logs, not for decisions.
func (r *RequestInfo) Client() mcp.Implementation {
	if r == nil {
		return mcp.Implementation{}
	}
	return r.from.implementation()
}

// ClientCapabilities returns what the client has declared that it can do.
func (r *RequestInfo) ClientCapabilities() mcp.ClientCapabilities {
	if r == nil {
		return mcp.ClientCapabilities{}
	}
	return r.from.declared()
}

// Request is a request for a handler that [Server.Handle] has added.
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

// decodeCopy decodes a copy of raw, if there is any.
func decodeCopy(raw json.RawMessage, v any) error {
	if raw == nil {
		return nil
	}
	_, err := mcp.Decode(bytes.Clone(raw), v)
	return err
}

package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// RequestHandler answers a request. The result of tools/call is a [*mcp.CallToolResult], unless the call gets another
// kind of answer, such as a task. The types of other results are not specified, and nil is an empty result. The client
// gets an error of type [*mcp.Error] unchanged, and any other error as -32603 with a neutral message.
type RequestHandler func(ctx context.Context, r *Request) (any, error)

// answered is the innermost handler, inside all middleware.
func answered(ctx context.Context, r *Request) (any, error) {
	if r == nil || r.RequestInfo == nil || r.call == nil {
		return nil, errForeign
	}
	return r.call.handleRounds(ctx)
}

var errForeign = rpc.Fail(rpc.ErrInternal,
	errors.New("middleware has passed on a request that is none of the server's"))

// wrapped returns the handler of all requests with the middleware around it, nil if there is no middleware.
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
	case c.Deferred: // the subscription is open, whatever the middleware returns
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

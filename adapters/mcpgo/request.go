package mcpgo

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// request is a request that the server handles. All fields but inner belong to the goroutine that handles it.
type request struct {
	v      *serving
	method string
	base   context.Context // context of the request, from which requestOf finds the request

	inner atomic.Pointer[context.Context] // base with the span of the operation; nil before the operation
	tel   *instrument.Server
	op    instrument.Op

	gone    func() // ends the stream that the request has opened; nil for none
	result  any
	err     error
	refused string // text of the error response
}

// late is the context of a request. It has no span until the operation begins; from then on, late and all contexts
// derived from it have the span of the operation.
type late struct {
	context.Context
	r *request
}

func (l late) Value(key any) any {
	if inner := l.r.inner.Load(); inner != nil {
		return (*inner).Value(key)
	}
	return l.Context.Value(key)
}

// begin starts the operation, once.
func (r *request) begin(id string, message any) {
	if r.inner.Load() != nil {
		return
	}
	session := server.ClientSessionFromContext(r.base)
	carrier, sessionID := r.v.carrier(r.base, session)
	n := r.v.network(carrier)
	r.tel = n.tel
	in := instrument.Incoming{Method: r.method, ID: id, Known: true,
		Peer: n.peer(server.RequestProtocolVersion(r.base), sessionID)}
	if meta, ok := r.base.Value(metaKey{}).(*mcp.Meta); ok {
		in.TraceContext = instrument.TraceContextIn(meta.AdditionalFields)
	}
	if said, ok := session.(server.SessionWithClientInfo); ok {
		info := said.GetClientInfo()
		in.ClientName, in.ClientVersion = info.Name, info.Version
	}
	in.Untrusted = carrier == overHTTP && !r.v.trusting
	r.aim(&in, session, message)
	if m, ok := message.(*mcp.CallToolRequest); ok && n.tel.Audits() {
		in.Params, _ = json.Marshal(m.Params) // the params were decoded from JSON
	}
	ctx := r.base
	if carrier == pipe {
		ctx = withoutSpan(ctx)
	}
	ctx, r.op = n.tel.StartHandler(ctx, in)
	if asks := observed(session, n, in.Peer); asks != nil && (in.TargetKind != instrument.NoTarget || in.URI != "") {
		ctx = r.v.server.WithContext(ctx, asks)
	}
	r.inner.Store(&ctx)
	switch m := message.(type) {
	case *mcp.CallToolRequest:
		r.capture(m.Params)
	case *mcp.GetPromptRequest:
		r.capture(m.Params)
	case *mcp.SubscriptionsListenRequest: // acknowledged next; its handler runs as long as the stream
		r.op.End(instrument.Result{})
		r.gone = n.tel.StreamOpened(names.StreamListen)
	}
}

// capture passes the arguments of a call to the redactor, if there is one.
func (r *request) capture(params any) {
	if r.op.Captures() {
		r.op.Arguments(argumentsOf(params))
	}
}

// aim sets the target of the request.
func (r *request) aim(in *instrument.Incoming, session server.ClientSession, message any) {
	switch m := message.(type) {
	case *mcp.CallToolRequest:
		in.TargetKind, in.Target = instrument.Tool, m.Params.Name
		in.TargetKnown = r.v.server.GetTool(in.Target) != nil
		if own, ok := session.(server.SessionWithTools); ok && !in.TargetKnown {
			_, in.TargetKnown = own.GetSessionTools()[in.Target]
		}
	case *mcp.GetPromptRequest:
		in.TargetKind, in.Target, in.TargetKnown = instrument.Prompt, m.Params.Name, r.v.hasPrompt(m.Params.Name)
	case *mcp.CompleteRequest:
		if name := promptOf(m.Params.Ref); name != "" {
			in.TargetKind, in.Target, in.TargetKnown = instrument.Prompt, name, r.v.hasPrompt(name)
		}
	case *mcp.ReadResourceRequest:
		in.URI = m.Params.URI
	case *mcp.SubscribeRequest:
		in.URI = m.Params.URI
	case *mcp.UnsubscribeRequest:
		in.URI = m.Params.URI
	}
}

func (v *serving) hasPrompt(name string) bool {
	if _, known := v.prompts.Load(name); known {
		return true
	}
	_, known := v.server.ListPrompts()[name]
	if known {
		v.prompts.Store(name, nil)
	}
	return known
}

// carrier returns the network and the session id of a request. Sessions on a pipe have no id.
func (v *serving) carrier(ctx context.Context, session server.ClientSession) (instrument.Network, string) {
	_, sse := session.(interface {
		GetSessionTools() map[string]server.ServerTool
	})
	switch _, inProcess := session.(*server.InProcessSession); {
	case ctx.Value(headersKey{}) != nil, ctx.Value(http.ServerContextKey) != nil, sse:
		return overHTTP, session.SessionID()
	case session == nil, inProcess:
		return instrument.Network{}, ""
	}
	return pipe, ""
}

// finish ends the operation when the response is ready. Without a response, the handler has panicked and no code has
// recovered the panic.
func (r *request) finish() {
	answered := r.result != nil || r.err != nil || r.refused != ""
	begun := r.inner.Load() != nil
	r.begin("", nil)
	if r.gone != nil {
		r.gone()
	}
	if result, ok := r.result.(*mcp.CallToolResult); ok && r.op.Captures() {
		if raw, err := json.Marshal(result); err == nil {
			r.op.Answer(raw)
		}
	}
	ctx := r.base
	switch {
	case r.err != nil && ctx.Err() != nil:
		r.op.End(instrument.Result{ErrorType: names.ErrorCancelled, Err: r.err, CallerLeft: true})
	case r.err != nil:
		r.op.End(refusal(r.err))
	case !begun && r.refused != "": // mcp-go does not know the method
		r.op.End(instrument.Result{Code: mcp.METHOD_NOT_FOUND, HasCode: true, Message: r.refused})
	case !answered:
		r.op.End(instrument.Result{ErrorType: names.ErrorPanic})
	default:
		end := outcome(r.result)
		if end.ToolError && ctx.Err() != nil {
			end = instrument.Result{ErrorType: names.ErrorCancelled, CallerLeft: true}
		}
		r.op.End(end)
	}
}

// refusal returns the outcome of an error response.
func refusal(err error) instrument.Result {
	r := instrument.Result{Code: mcp.INTERNAL_ERROR, HasCode: true, Message: err.Error(), Err: err}
	var wire interface{ ToJSONRPCError() mcp.JSONRPCError }
	if errors.As(err, &wire) {
		e := wire.ToJSONRPCError().Error
		r.Code, r.Message = int64(e.Code), e.Message
	}
	return r
}

// outcome returns the outcome of a result.
func outcome(result any) instrument.Result {
	switch r := result.(type) {
	case *mcp.CallToolResult:
		return instrument.Result{ToolError: r.IsError, ResultType: string(r.ResultType)}
	case *mcp.GetPromptResult:
		return instrument.Result{ResultType: string(r.ResultType)}
	case *mcp.ReadResourceResult:
		return instrument.Result{ResultType: string(r.ResultType)}
	}
	return instrument.Result{}
}

// called calls a handler. If the handler panics or ends its goroutine, called records the failure, and the panic or the
// end continues. mcp-go ends no span after a goroutine has ended, so called ends the operation.
func (v *serving) called(ctx context.Context, handle func()) {
	usercode.Run(handle, func(f *usercode.Failure) {
		r := requestOf(ctx)
		if r != nil && r.tel != nil {
			r.tel.HandlerPanic(ctx, r.method, f.Value, f.Stack)
		}
		switch {
		case !f.Exited():
			panic(f.Value)
		case r != nil:
			r.finish()
		}
	})
}

func (v *serving) aroundTool(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, q mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
		v.called(ctx, func() { result, err = next(ctx, q) })
		return result, err
	}
}

func (v *serving) aroundPrompt(next server.PromptHandlerFunc) server.PromptHandlerFunc {
	return func(ctx context.Context, q mcp.GetPromptRequest) (result *mcp.GetPromptResult, err error) {
		v.called(ctx, func() { result, err = next(ctx, q) })
		return result, err
	}
}

func (v *serving) aroundResource(next server.ResourceHandlerFunc) server.ResourceHandlerFunc {
	return func(ctx context.Context, q mcp.ReadResourceRequest) (result []mcp.ResourceContents, err error) {
		v.called(ctx, func() { result, err = next(ctx, q) })
		return result, err
	}
}

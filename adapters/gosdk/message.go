package gosdk

import (
	"context"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// end is the instrumentation of one side: a client or a server.
type end interface {
	StartRequest(context.Context, instrument.Request) (context.Context, instrument.Op)
	StartHandler(context.Context, instrument.Incoming) (context.Context, instrument.Op)
	HandlerPanic(ctx context.Context, method string, value any, stack []byte)
	Audits() bool
}

// send sends a request or a notification under its span.
func send(ctx context.Context, e end, p *instrument.Peer, method string, req mcp.Request,
	next mcp.MethodHandler) (mcp.Result, error) {
	about := aim(req.GetParams())
	ctx, op := e.StartRequest(ctx, instrument.Request{
		Method: method, TargetKind: about.kind, Target: about.name, URI: about.uri, Notification: isNotification(method),
		Params: audited(e, method, req.GetParams()),
	})
	op.Meet(p)
	captureArguments(&op, req.GetParams())
	req = withTrace(&op, method, req)
	op.Sending()
	result, err := next(ctx, method, req)
	captureAnswer(&op, result)
	if err == nil {
		op.Sent(0)
	}
	r := outcome(result)
	if err != nil {
		r = failure(ctx, method, err)
	}
	op.End(r)
	return result, err
}

// receive handles a request or a notification under its span. A panic of the handler continues, because the SDK does
// not recover panics. opened is called for a subscription that the request opens; nil for a side that serves none.
func receive(ctx context.Context, e end, in instrument.Incoming, req mcp.Request, opened func(kind string) func(),
	next mcp.MethodHandler) (mcp.Result, error) {
	in.Params = audited(e, in.Method, req.GetParams())
	ctx, op := e.StartHandler(ctx, in)
	captureArguments(&op, req.GetParams())
	ctx, listening := withListening(ctx, &op, in.Method, opened)
	returned := false
	defer func() {
		if returned {
			return
		}
		r := instrument.Result{ErrorType: names.ErrorPanic}
		v := recover() // nil if the handler called runtime.Goexit
		if v != nil {
			e.HandlerPanic(ctx, in.Method, v, debug.Stack())
			r.Err = fmt.Errorf("panic: %v", v)
		}
		listening.over(r)
		if v != nil {
			panic(v)
		}
	}()
	result, err := next(ctx, in.Method, req)
	returned = true
	captureAnswer(&op, result)
	listening.over(handled(ctx, result, err))
	return result, err
}

// incoming describes a message of the peer.
func incoming(method string, params mcp.Params, p *instrument.Peer) instrument.Incoming {
	about := aim(params)
	in := instrument.Incoming{
		Method: method, TargetKind: about.kind, Target: about.name, URI: about.uri,
		Known: true, TargetKnown: true, Notification: isNotification(method), Peer: p,
	}
	if params != nil {
		in.TraceContext = instrument.TraceContextIn(params.GetMeta())
	}
	return in
}

func isNotification(method string) bool { return strings.HasPrefix(method, "notifications/") }

// target is the target of a message, such as a tool.
type target struct {
	kind      instrument.TargetKind
	name, uri string
}

func aim(params mcp.Params) target {
	switch p := params.(type) {
	case *mcp.CallToolParams:
		return target{kind: instrument.Tool, name: p.Name}
	case *mcp.CallToolParamsRaw:
		return target{kind: instrument.Tool, name: p.Name}
	case *mcp.GetPromptParams:
		return target{kind: instrument.Prompt, name: p.Name}
	case *mcp.CompleteParams:
		if p.Ref != nil && p.Ref.Type == "ref/prompt" {
			return target{kind: instrument.Prompt, name: p.Ref.Name}
		}
	case *mcp.ReadResourceParams:
		return target{uri: p.URI}
	case *mcp.SubscribeParams:
		return target{uri: p.URI}
	case *mcp.UnsubscribeParams:
		return target{uri: p.URI}
	case *mcp.ResourceUpdatedNotificationParams:
		return target{uri: p.URI}
	}
	return target{}
}

// withTrace returns req with the trace context of op in its _meta. It modifies a copy, because the caller may use the
// params again, even concurrently.
func withTrace(op *instrument.Op, method string, req mcp.Request) mcp.Request {
	trace := op.TraceContext()
	if trace.IsZero() {
		return req
	}
	params := copied(method, req.GetParams())
	if params == nil {
		return req
	}
	params.SetMeta(trace.AddTo(params.GetMeta()))
	return withParams(req, params)
}

// absent creates params for requests that the SDK sends without params.
var absent = map[string]func() mcp.Params{
	"ping":                     func() mcp.Params { return &mcp.PingParams{} },
	"tools/list":               func() mcp.Params { return &mcp.ListToolsParams{} },
	"prompts/list":             func() mcp.Params { return &mcp.ListPromptsParams{} },
	"resources/list":           func() mcp.Params { return &mcp.ListResourcesParams{} },
	"resources/templates/list": func() mcp.Params { return &mcp.ListResourceTemplatesParams{} },
	//lint:ignore SA1019 legacy peers have roots
	"roots/list":                func() mcp.Params { return &mcp.ListRootsParams{} },
	"notifications/initialized": func() mcp.Params { return &mcp.InitializedParams{} },
	//lint:ignore SA1019 legacy peers have roots
	"notifications/roots/list_changed": func() mcp.Params { return &mcp.RootsListChangedParams{} },
}

// copied returns a shallow copy of params, or nil if the method has no params.
func copied(method string, params mcp.Params) mcp.Params {
	v := reflect.ValueOf(params)
	if params == nil || v.Kind() != reflect.Pointer || v.IsNil() {
		if make, ok := absent[method]; ok {
			return make()
		}
		return nil
	}
	twin := reflect.New(v.Type().Elem())
	twin.Elem().Set(v.Elem())
	return twin.Interface().(mcp.Params)
}

// withParams returns a copy of req, of the same type, with other params.
func withParams(req mcp.Request, params mcp.Params) mcp.Request {
	switch r := req.(type) {
	case *mcp.ClientRequest[mcp.Params]:
		return &mcp.ClientRequest[mcp.Params]{Session: r.Session, Params: params}
	case *mcp.ServerRequest[mcp.Params]:
		return &mcp.ServerRequest[mcp.Params]{Session: r.Session, Params: params, Extra: r.Extra}
	}
	v := reflect.ValueOf(req)
	twin := reflect.New(v.Type().Elem())
	twin.Elem().Set(v.Elem())
	twin.Elem().FieldByName("Params").Set(reflect.ValueOf(params))
	return twin.Interface().(mcp.Request)
}

// withoutSpan returns ctx without span and baggage: the span and the baggage in a connection's context belong to the
// code that created the connection.
func withoutSpan(ctx context.Context) context.Context {
	if trace.SpanContextFromContext(ctx).IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	}
	if baggage.FromContext(ctx).Len() > 0 {
		ctx = baggage.ContextWithoutBaggage(ctx)
	}
	return ctx
}

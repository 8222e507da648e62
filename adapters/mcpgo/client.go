package mcpgo

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"go.opentelemetry.io/otel/baggage"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Option gives [WrapTransport] a fact that a transport does not expose.
type Option func(*observedTransport)

// WithEndpoint sets the URL of the transport. mcp-go does not expose the URL of Streamable HTTP.
func WithEndpoint(url string) Option { return func(t *observedTransport) { t.network = dialled(url) } }

// observedTransport instruments a transport and otherwise passes everything on.
type observedTransport struct {
	inner   transport.Interface
	network instrument.Network
	tel     *instrument.Client
	conn    connection
	peer    atomic.Pointer[instrument.Peer]
	rounds  rounds
	listens listens
	left    refs // requests that were given up, for the spans of their notifications/cancelled
}

// WrapTransport returns an instrumented transport in place of t. The name identifies the server: it is the value of
// mcp_client.name. If the telemetry is off, it returns t. Otherwise the result has a method Unwrap, which returns t.
func WrapTransport(t transport.Interface, tel *telemetry.Telemetry, name string,
	options ...Option) transport.Interface {
	w := &observedTransport{inner: t, network: networkOf(t)}
	for _, o := range options {
		o(w)
	}
	if w.tel = instrument.NewClient(tel, name, w.network); w.tel == nil {
		return t
	}
	w.conn.tel = w.tel
	w.conn.begin()
	if over, ok := t.(transport.HTTPConnection); ok {
		return &httpTransport{w, over}
	}
	return w
}

// httpTransport is an instrumented transport over HTTP. mcp-go recognizes such transports by the method
// SetProtocolVersion.
type httpTransport struct {
	*observedTransport
	over transport.HTTPConnection
}

// SetProtocolVersion passes the negotiated version on.
func (t *httpTransport) SetProtocolVersion(version string) { t.over.SetProtocolVersion(version) }

// Unwrap returns the transport that was passed to [WrapTransport].
func (t *observedTransport) Unwrap() transport.Interface { return t.inner }

// Start opens the connection, and observes the attempt.
func (t *observedTransport) Start(ctx context.Context) error {
	if !t.conn.starts() {
		return t.inner.Start(ctx)
	}
	ctx, attempt := t.tel.StartAttempt(ctx, instrument.AttemptStart{Number: 1})
	t.conn.attempted(attempt.Ref())
	err := t.inner.Start(ctx)
	attempt.End(err)
	t.conn.started(err)
	return err
}

// Close closes the connection.
func (t *observedTransport) Close() error {
	t.conn.stop()
	err := t.inner.Close()
	t.conn.closed()
	return err
}

// GetSessionId returns the id of the session.
func (t *observedTransport) GetSessionId() string { return t.inner.GetSessionId() }

// RequiresLegacyProtocol returns the answer of the inner transport.
func (t *observedTransport) RequiresLegacyProtocol() bool {
	legacy, ok := t.inner.(interface{ RequiresLegacyProtocol() bool })
	return ok && legacy.RequiresLegacyProtocol()
}

// SetConnectionLostHandler sets the handler for a lost connection, if the inner transport supports one.
func (t *observedTransport) SetConnectionLostHandler(handler func(error)) {
	setter, ok := t.inner.(interface{ SetConnectionLostHandler(func(error)) })
	if !ok {
		return
	}
	setter.SetConnectionLostHandler(func(err error) {
		t.conn.lose(err)
		handler(err)
	})
}

// SendRequest sends a request under its span.
func (t *observedTransport) SendRequest(
	ctx context.Context, q transport.JSONRPCRequest,
) (*transport.JSONRPCResponse, error) {
	about := aim(q.Params)
	r := instrument.Request{Method: q.Method, TargetKind: about.kind(q.Method), Target: about.Name, URI: about.URI}
	if q.Method == string(mcp.MethodToolsCall) && t.tel.Audits() {
		r.Params, _ = json.Marshal(q.Params) // mcp-go reports an error
	}
	key := roundKey{q.Method, about.Name + about.URI, about.RequestState}
	if len(about.InputResponses) > 0 || about.RequestState != "" {
		if before, ok := t.rounds.take(key); ok {
			r.Corr, r.Link, r.Round = before.corr, before.ref, before.round+1
		}
	}
	ctx, op := t.tel.StartRequest(ctx, r)
	if id, ok := q.ID.Value().(int64); ok {
		op.Admit(t.current(q.Method, &about), id)
	} else {
		op.Meet(t.current(q.Method, &about))
	}
	if op.Captures() {
		op.Arguments(argumentsOf(q.Params))
	}
	q.Params = withTrace(&op, q.Params)
	op.Sending()
	if q.Method == methodListen {
		return t.listen(ctx, &op, q)
	}
	response, err := t.inner.SendRequest(ctx, q)
	end, told := t.outcome(ctx, q.Method, response, err)
	if op.Captures() && response != nil {
		op.Answer(response.Result)
	}
	if told.ResultType == resultInputRequired {
		t.rounds.put(roundKey{key.method, key.target, told.RequestState}, round{op.Corr(), op.Ref(), r.Round})
	}
	if err != nil && ctx.Err() != nil {
		t.left.put(fmt.Sprint(q.ID.Value()), op.Ref())
	}
	op.End(end)
	return response, err
}

// outcome returns the outcome of a request and the decoded result. The end of a handshake identifies the server.
func (t *observedTransport) outcome(ctx context.Context, method string, response *transport.JSONRPCResponse,
	err error) (instrument.Result, said) {
	if err != nil {
		if t.network.Transport == "pipe" && isLost(err) {
			t.conn.lose(err)
		}
		end := failure(ctx, err)
		end.Expected = method == methodDiscover
		return end, said{}
	}
	if e := response.Error; e != nil && ctx.Err() != nil {
		return failure(ctx, e.AsError()), said{} // the call was cancelled, but an in-process handler answers anyway
	} else if e != nil {
		return instrument.Result{
			Code: int64(e.Code), HasCode: true, Message: e.Message, Err: e.AsError(), Expected: method == methodDiscover,
		}, said{}
	}
	told := read(method, response.Result)
	switch method {
	case methodInitialize:
		t.conn.ready(t.meet(told.ProtocolVersion), told.ProtocolVersion)
	case methodDiscover:
		t.conn.ready(nil, "")
	}
	return instrument.Result{ToolError: told.IsError, ResultType: told.ResultType}, told
}

// current returns the known server. A modern client sends its version with each request, and the version never changes.
func (t *observedTransport) current(method string, about *target) *instrument.Peer {
	if p := t.peer.Load(); p != nil {
		return p
	}
	if about == nil || method == methodDiscover {
		return nil
	}
	if version := about.version(); version != "" {
		return t.meet(version)
	}
	return nil
}

func (t *observedTransport) meet(version string) *instrument.Peer {
	p := t.tel.Peer(instrument.Facts{Network: t.network, MCPVersion: version}, t.inner.GetSessionId())
	t.peer.Store(p)
	return p
}

// SendNotification sends a notification, under a span if its method has spans.
func (t *observedTransport) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	r := instrument.Request{Method: n.Method, Notification: true}
	if n.Method == methodCancelled {
		if id, ok := n.Params.AdditionalFields["requestId"].(mcp.RequestId); ok {
			r.Parent = t.left.take(fmt.Sprint(id.Value()))
		}
	}
	ctx, op := t.tel.StartRequest(ctx, r)
	op.Meet(t.current(n.Method, nil))
	trace := op.TraceContext()
	n.Params.Meta = trace.AddTo(n.Params.Meta)
	op.Sending()
	err := t.inner.SendNotification(ctx, n)
	if err != nil {
		op.End(failure(ctx, err))
		return err
	}
	op.Sent(0)
	op.End(instrument.Result{})
	return nil
}

// SetNotificationHandler sets the handler for notifications.
func (t *observedTransport) SetNotificationHandler(handler func(mcp.JSONRPCNotification)) {
	t.inner.SetNotificationHandler(func(n mcp.JSONRPCNotification) {
		if n.Method == methodAcknowledged {
			t.listens.acknowledged(fmt.Sprint(n.Params.Meta[mcp.MetaKeySubscriptionID]))
		}
		uri, _ := n.Params.AdditionalFields["uri"].(string)
		in := instrument.Incoming{Method: n.Method, URI: uri, Known: true, Notification: true, Peer: t.current("", nil)}
		in.TraceContext = instrument.TraceContextIn(n.Params.Meta)
		ctx, op := t.tel.StartHandler(context.Background(), in)
		returned := false
		defer func() { t.broken(ctx, n.Method, &op, usercode.Caught(recover(), returned)) }()
		handler(n)
		returned = true
		op.End(instrument.Result{})
	})
}

// SetRequestHandler sets the handler for the server's requests, if the inner transport receives any.
func (t *observedTransport) SetRequestHandler(handler transport.RequestHandler) {
	both, ok := t.inner.(transport.BidirectionalInterface)
	if !ok {
		return
	}
	both.SetRequestHandler(func(ctx context.Context, q transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		in := instrument.Incoming{Method: q.Method, ID: idText(q.ID), Known: served[q.Method], Peer: t.current("", nil)}
		in.TraceContext = instrument.TraceContextIn(metaOf(q.Params))
		ctx, op := t.tel.StartHandler(withoutSpan(ctx), in)
		returned := false
		defer func() { t.broken(ctx, q.Method, &op, usercode.Caught(recover(), returned)) }()
		response, err := handler(ctx, q)
		returned = true
		switch {
		case err != nil && ctx.Err() != nil:
			op.End(instrument.Result{ErrorType: names.ErrorCancelled, Err: err, CallerLeft: true})
		case err != nil:
			op.End(instrument.Result{Code: mcp.INTERNAL_ERROR, HasCode: true, Message: err.Error(), Err: err})
		default:
			op.End(instrument.Result{})
		}
		return response, err
	})
}

// broken ends op and records f, the failure of op's handler. If f is nil, because the handler returned, broken does
// nothing. After a panic, broken panics with the same value; a goroutine that is exiting continues to exit.
func (t *observedTransport) broken(ctx context.Context, method string, op *instrument.Op, f *usercode.Failure) {
	if f == nil {
		return
	}
	t.tel.HandlerPanic(ctx, method, f.Value, f.Stack)
	op.End(instrument.Result{ErrorType: names.ErrorPanic, Err: f})
	if !f.Exited() {
		panic(f.Value)
	}
}

// withoutSpan returns ctx without span and baggage: the span and the baggage in a connection's context belong to the
// code that created the connection.
func withoutSpan(ctx context.Context) context.Context {
	if oteltrace.SpanContextFromContext(ctx).IsValid() {
		ctx = oteltrace.ContextWithSpanContext(ctx, oteltrace.SpanContext{})
	}
	if baggage.FromContext(ctx).Len() > 0 {
		ctx = baggage.ContextWithoutBaggage(ctx)
	}
	return ctx
}

package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/serving"
	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Request is a request of the server. A legacy server sends it as a message; a modern server includes it in an answer.
type Request struct {
	Method string
	Params json.RawMessage // a valid JSON object; nil for none
}

// Decode decodes the params into v, a pointer. v shares no memory with the request. If v has a type of package mcp,
// Decode leaves out icons that fail [mcp.Icon.Check].
func (r *Request) Decode(v any) error {
	if r.Params == nil {
		return nil
	}
	_, err := mcp.Decode(r.Params, v)
	given.DropIcons(v)
	return err
}

// answerPing answers ping. Every client has this handler. (specification 2025-11-25, basic/utilities/ping)
func answerPing(context.Context, *Request) (any, error) { return nil, nil }

// onlyPing is shared by all clients that have no other handlers. It is immutable.
var onlyPing = map[string]RequestHandler{mcp.MethodPing: answerPing}

// answering answers the requests of the server: messages of a legacy server, and requests in the answers of a modern
// server.
type answering struct {
	c        *conn.Conn
	handlers map[string]RequestHandler // by method; immutable after the client is created
	serving  serving.Requests
}

// add makes h the handler of a method. It returns an error if h is nil or the method already has a handler.
func (a *answering) add(method string, h RequestHandler) error {
	switch {
	case h == nil:
		return fmt.Errorf("the handler for %s is nil", method)
	case a.handlers[method] != nil:
		return fmt.Errorf("more than one handler for %s; set only one", method)
	}
	if a.handlers == nil {
		a.handlers = map[string]RequestHandler{}
	}
	a.handlers[method] = h
	return nil
}

// complete adds the handlers that every client has. alone means that no middleware wraps the handlers. In that case,
// clients without handlers of their own share onlyPing.
func (a *answering) complete(alone bool) {
	switch {
	case len(a.handlers) == 0 && alone:
		a.handlers = onlyPing
	case a.handlers[mcp.MethodPing] == nil:
		_ = a.add(mcp.MethodPing, answerPing)
	}
}

// interpose wraps the handlers in middleware. The first middleware is the outermost.
func (a *answering) interpose(middleware []func(RequestHandler) RequestHandler) error {
	for method := range a.handlers {
		for i, wrap := range slices.Backward(middleware) {
			if wrap != nil {
				a.handlers[method] = wrap(a.handlers[method])
			}
			if wrap == nil || a.handlers[method] == nil {
				return fmt.Errorf("mcpclient: options: HandlerMiddleware[%d] is nil or returned nil", i)
			}
		}
	}
	return nil
}

// servedAtOnce is the maximum number of concurrent requests of the server. The client refuses further requests.
const servedAtOnce = 64

// serve answers one request in its own goroutine.
func (a *answering) serve(r *conn.Reader, m *jsonrpc.Message, answer conn.Answerer) {
	params, err := m.Params()
	if err != nil {
		v := a.c.Refused(m, err)
		a.refuse(r, m, &params, &mcp.Error{Code: mcp.CodeInvalidParams, Message: v.Error()}, answer)
		return
	}
	size := len(m.Frame)
	if !a.serving.Enter(size, servedAtOnce, max(DefaultFrameLimit, a.c.Settings.FrameLimit)) {
		a.refuse(r, m, &params, &mcp.Error{Code: mcp.CodeInternalError, Message: "too many requests at once"}, answer)
		return
	}
	in := serving.Incoming(m.Method, &params, r.Session.Peer, m.Size(), instrument.Incoming{ID: m.ID.String()})
	request := &Request{Method: m.Method, Params: m.Middle()}
	// Begin runs before the goroutine starts, because the next message may cancel this request.
	ctx, served := a.serving.Begin(r.Link.Ctx, serving.ID{Link: r.Link, ID: m.ID})
	a.c.InBackground(r.Link, func() { // the goroutine ends with the handler
		defer a.serving.Leave(size)
		a.handle(ctx, served, in, request, answer)
	})
}

// refuse answers a request with an error at once, in the goroutine that reads.
func (a *answering) refuse(r *conn.Reader, m *jsonrpc.Message, params *jsonrpc.Params, e *mcp.Error,
	answer conn.Answerer) {
	_, known := a.handlers[m.Method]
	in := serving.Incoming(m.Method, params, r.Session.Peer, m.Size(),
		instrument.Incoming{ID: m.ID.String(), Known: known})
	_, op := a.c.Telemetry.StartHandler(r.Link.Ctx, in)
	serving.Reply(&op, m.Method, conn.ErrorFrame(m.ID, e), e, answer, false)
}

// handle calls the handler of a request and sends the answer, unless the server has cancelled the request in the
// meantime.
func (a *answering) handle(ctx context.Context, served *serving.Request, in instrument.Incoming, r *Request,
	answer conn.Answerer) {
	handler, known := a.handlers[r.Method]
	if !known {
		handler = noHandler
	}
	in.Known = known
	var op instrument.Op
	raw, err := []byte(nil), error(serving.ErrInternal)
	defer func() { a.conclude(&op, served, r, raw, err, answer) }() // deferred, because the handler may end its goroutine
	ctx, op = a.c.Telemetry.StartHandler(ctx, in)
	op.Labelled(ctx, func(ctx context.Context) { raw, err = a.protect(ctx, handler, r) })
}

// conclude answers a request with the result of its handler, unless the server has cancelled the request in the
// meantime.
func (a *answering) conclude(op *instrument.Op, served *serving.Request, r *Request, raw []byte, err error,
	answer conn.Answerer) {
	if why := a.serving.End(served); why != nil {
		defer op.End(instrument.Result{ErrorType: names.ErrorCancelled, Err: why})
		_ = answer(nil, true)
		return
	}
	frame, err := answerFrame(served.ID(), raw, err)
	serving.Reply(op, r.Method, frame, err, answer, true)
}

func noHandler(_ context.Context, r *Request) (any, error) {
	return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "no handler for " + r.Method}
}

// input calls the handler for a request that the server included in its answer to our request id.
func (a *answering) input(ctx context.Context, id int64, r mcp.InputRequest) (json.RawMessage, *Error) {
	handler, known := a.handlers[r.Method]
	if !known || r.Method == mcp.MethodPing {
		return nil, &Error{Kind: KindProtocol, cause: fmt.Errorf("the client has no handler for %s", r.Method)}
	}
	more := instrument.Incoming{ID: strconv.FormatInt(id, 10), Known: true}
	in := serving.Incoming(r.Method, &jsonrpc.Params{}, a.c.Present().Peer, 0, more)
	ctx, op := a.c.Telemetry.StartHandler(ctx, in)
	defer op.End(conn.BrokenOff) // deferred, because a handler may end the caller's goroutine
	var raw []byte
	var err error
	op.Labelled(ctx, func(ctx context.Context) {
		raw, err = a.protect(ctx, handler, &Request{Method: r.Method, Params: r.Params})
	})
	end := serving.FaultOf(r.Method, err).Result()
	end.Err = err
	op.End(end)
	if err != nil {
		return nil, &Error{Kind: KindInvalid, cause: fmt.Errorf("%s: %w", r.Method, err)}
	}
	return raw, nil
}

// protect calls answerOf, and converts a panic to an error.
func (a *answering) protect(ctx context.Context, h RequestHandler, r *Request) (raw []byte, err error) {
	err = serving.ErrInternal
	usercode.Run(func() { raw, err = answerOf(ctx, h, r) }, a.c.Failed(ctx, r.Method))
	return raw, err
}

// answerOf calls a handler and encodes its result. The encoding may call user code too.
func answerOf(ctx context.Context, h RequestHandler, r *Request) ([]byte, error) {
	result, err := h(ctx, r)
	if err != nil {
		return nil, err
	}
	raw, err := mcp.AppendResult(nil, result)
	if err == nil {
		err = given.CheckEncoded(result, raw)
	}
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// answerFrame encodes a result or an error as the answer to a request. It returns the frame and the error that the
// frame contains.
func answerFrame(id jsonrpc.ID, result []byte, err error) ([]byte, error) {
	if err == nil {
		var frame []byte
		if frame, err = jsonrpc.AppendResult(nil, id, result); err == nil {
			return frame, nil
		}
	}
	e, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		e = serving.ErrInternal
	}
	return conn.ErrorFrame(id, e), err
}

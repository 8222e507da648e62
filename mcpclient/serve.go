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

// Request is one request of the server: sent by one of the legacy era, asked for in an answer by a modern one.
type Request struct {
	Method string
	Params json.RawMessage // valid JSON, an object; nil for none
}

// Decode decodes the params into v, a pointer. Nothing in v shares memory with the request. Icons that fail
// [mcp.Icon.Check] are left out of types of package mcp.
func (r *Request) Decode(v any) error {
	if r.Params == nil {
		return nil
	}
	_, err := mcp.Decode(r.Params, v)
	given.DropIcons(v)
	return err
}

// answerPing is the one answer every client has. (specification 2025-11-25, basic/utilities/ping)
func answerPing(context.Context, *Request) (any, error) { return nil, nil }

// onlyPing are the answers of clients that have no other, which share them: no code changes the map.
var onlyPing = map[string]RequestHandler{mcp.MethodPing: answerPing}

// answering is how a client answers its server: the requests of a legacy one, which come as messages, and those that a
// modern one puts into its answers.
type answering struct {
	c        *conn.Conn
	handlers map[string]RequestHandler // by method; fixed when the client is made
	serving  serving.Requests
}

// add makes h the handler of a method.
func (a *answering) add(method string, h RequestHandler) error {
	switch {
	case h == nil:
		return fmt.Errorf("want one handler for %s, got nil", method)
	case a.handlers[method] != nil:
		return fmt.Errorf("want one handler for %s, got two", method)
	}
	if a.handlers == nil {
		a.handlers = map[string]RequestHandler{}
	}
	a.handlers[method] = h
	return nil
}

// complete adds what every client answers. Clients that answer nothing else, and have nothing to put around it, share
// that.
func (a *answering) complete(alone bool) {
	switch {
	case len(a.handlers) == 0 && alone:
		a.handlers = onlyPing
	case a.handlers[mcp.MethodPing] == nil:
		_ = a.add(mcp.MethodPing, answerPing)
	}
}

// interpose puts middleware around the handlers, the first outermost.
func (a *answering) interpose(middleware []func(RequestHandler) RequestHandler) error {
	for method := range a.handlers {
		for i, wrap := range slices.Backward(middleware) {
			if wrap != nil {
				a.handlers[method] = wrap(a.handlers[method])
			}
			if wrap == nil || a.handlers[method] == nil {
				return fmt.Errorf("mcpclient: options: HandlerMiddleware[%d] gives no handler", i)
			}
		}
	}
	return nil
}

// servedAtOnce bounds the requests of the server that are being answered; more are refused.
const servedAtOnce = 64

// serve answers one request, off the read loop.
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
	// here, for a cancellation may be the next message
	ctx, served := a.serving.Begin(r.Link.Ctx, serving.ID{Link: r.Link, ID: m.ID})
	a.c.InBackground(r.Link, func() { // ends with the handler
		defer a.serving.Leave(size)
		a.handle(ctx, served, in, request, answer)
	})
}

// refuse answers a request with an error at once, on the read loop.
func (a *answering) refuse(r *conn.Reader, m *jsonrpc.Message, params *jsonrpc.Params, e *mcp.Error,
	answer conn.Answerer) {
	_, known := a.handlers[m.Method]
	in := serving.Incoming(m.Method, params, r.Session.Peer, m.Size(),
		instrument.Incoming{ID: m.ID.String(), Known: known})
	_, op := a.c.Telemetry.StartHandler(r.Link.Ctx, in)
	serving.Reply(&op, m.Method, conn.ErrorFrame(m.ID, e), e, answer, false)
}

// handle calls the handler of one request and answers it, unless the server has cancelled it meanwhile.
func (a *answering) handle(ctx context.Context, served *serving.Request, in instrument.Incoming, r *Request,
	answer conn.Answerer) {
	handler, known := a.handlers[r.Method]
	if !known {
		handler = noHandler
	}
	in.Known = known
	var op instrument.Op
	raw, err := []byte(nil), error(serving.ErrInternal)
	defer func() { a.conclude(&op, served, r, raw, err, answer) }() // even if the handler ends its goroutine
	ctx, op = a.c.Telemetry.StartHandler(ctx, in)
	op.Labelled(ctx, func(ctx context.Context) { raw, err = a.protect(ctx, handler, r) })
}

// conclude answers a request with what its handler has returned, unless the server has cancelled it meanwhile.
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

// input calls the handler for one request of the server, which came in the answer to the request id.
func (a *answering) input(ctx context.Context, id int64, r mcp.InputRequest) (json.RawMessage, *Error) {
	handler, known := a.handlers[r.Method]
	if !known || r.Method == mcp.MethodPing {
		return nil, &Error{Kind: KindProtocol, cause: fmt.Errorf("%s: no handler", r.Method)}
	}
	more := instrument.Incoming{ID: strconv.FormatInt(id, 10), Known: true}
	in := serving.Incoming(r.Method, &jsonrpc.Params{}, a.c.Present().Peer, 0, more)
	ctx, op := a.c.Telemetry.StartHandler(ctx, in)
	defer op.End(conn.BrokenOff) // a handler may end the caller's goroutine
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

// protect does what answerOf does, and turns a panic into an error.
func (a *answering) protect(ctx context.Context, h RequestHandler, r *Request) (raw []byte, err error) {
	err = serving.ErrInternal
	usercode.Run(func() { raw, err = answerOf(ctx, h, r) }, a.c.Failed(ctx, r.Method))
	return raw, err
}

// answerOf calls a handler and encodes its result, which may be code of the user's as well.
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

// answerFrame makes the answer to a request of a result or an error, and returns the error that is in it.
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

package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
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
	serving  serving
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

// serving holds the requests of the server that are being answered. Those that wait for a person take long, so their
// frames are bounded in bytes as well: by 16 MiB or one frame limit, whichever is more.
type serving struct {
	mu      sync.Mutex
	taken   int                         // guarded by mu
	size    int                         // guarded by mu; of their frames, in bytes
	running map[servedID]*servedRequest // guarded by mu
}

// servedID names a request of the server: its ids begin anew with each connection.
type servedID struct {
	link *conn.Link
	id   jsonrpc.ID
}

type servedRequest struct {
	id        servedID
	cancel    context.CancelCauseFunc
	cancelled *conn.CancelledByServer // guarded by serving.mu; by the server, which wants no answer; nil if not
}

// enter reports whether there is room for one request more, in a frame of this size: there are most of them, and all
// have room bytes. A caller that has got it leaves.
func (s *serving) enter(size, most, room int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == most || s.size+size > room {
		return false
	}
	s.taken++
	s.size += size
	return true
}

func (s *serving) leave(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.size -= size
}

// begin notes that a request is being answered and returns the context of its handler.
func (s *serving) begin(ctx context.Context, id servedID) (context.Context, *servedRequest) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &servedRequest{id: id, cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = map[servedID]*servedRequest{}
	}
	s.running[id] = r
	return ctx, r
}

// cancel ends the context of the handler of one request, with cause.
func (s *serving) cancel(id servedID, why *conn.CancelledByServer, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.running[id]; ok {
		r.cancelled = why
		r.cancel(cause)
	}
}

// end notes that the handler of r has returned, and says whether and why the server has cancelled the request.
func (s *serving) end(r *servedRequest) *conn.CancelledByServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.cancel(nil)
	if s.running[r.id] == r {
		delete(s.running, r.id)
	}
	return r.cancelled
}

// serve answers one request, off the read loop.
func (a *answering) serve(r *conn.Reader, m *jsonrpc.Message, answer conn.Answerer) {
	params, err := m.Params()
	if err != nil {
		v := a.c.Refused(m, err)
		a.refuse(r, m, &params, &mcp.Error{Code: mcp.CodeInvalidParams, Message: v.Error()}, answer)
		return
	}
	size := len(m.Frame)
	if !a.serving.enter(size, servedAtOnce, max(DefaultFrameLimit, a.c.Settings.FrameLimit)) {
		a.refuse(r, m, &params, &mcp.Error{Code: mcp.CodeInternalError, Message: "too many requests at once"}, answer)
		return
	}
	in := incoming(m.Method, &params, r.Session.Peer, m.Size(), instrument.Incoming{ID: m.ID.String()})
	request := &Request{Method: m.Method, Params: m.Middle()}
	ctx, served := a.serving.begin(r.Link.Ctx, servedID{r.Link, m.ID}) // here, for a cancellation may be the next message
	a.c.InBackground(r.Link, func() {                                  // ends with the handler
		defer a.serving.leave(size)
		a.handle(ctx, served, in, request, answer)
	})
}

// refuse answers a request with an error at once, on the read loop.
func (a *answering) refuse(r *conn.Reader, m *jsonrpc.Message, params *jsonrpc.Params, e *mcp.Error,
	answer conn.Answerer) {
	_, known := a.handlers[m.Method]
	in := incoming(m.Method, params, r.Session.Peer, m.Size(), instrument.Incoming{ID: m.ID.String(), Known: known})
	_, op := a.c.Telemetry.StartHandler(r.Link.Ctx, in)
	reply(&op, m.Method, conn.ErrorFrame(m.ID, e), e, answer, false)
}

// handle calls the handler of one request and answers it, unless the server has cancelled it meanwhile.
func (a *answering) handle(ctx context.Context, served *servedRequest, in instrument.Incoming, r *Request,
	answer conn.Answerer) {
	handler, known := a.handlers[r.Method]
	if !known {
		handler = noHandler
	}
	in.Known = known
	var op instrument.Op
	raw, err := []byte(nil), error(errInternal)
	defer func() { a.conclude(&op, served, r, raw, err, answer) }() // even if the handler ends its goroutine
	ctx, op = a.c.Telemetry.StartHandler(ctx, in)
	op.Labelled(ctx, func(ctx context.Context) { raw, err = a.protect(ctx, handler, r) })
}

// conclude answers a request with what its handler has returned, unless the server has cancelled it meanwhile.
func (a *answering) conclude(op *instrument.Op, served *servedRequest, r *Request, raw []byte, err error,
	answer conn.Answerer) {
	if why := a.serving.end(served); why != nil {
		defer op.End(instrument.Result{ErrorType: names.ErrorCancelled, Err: why})
		_ = answer(nil, true)
		return
	}
	frame, err := answerFrame(served.id.id, raw, err)
	reply(op, r.Method, frame, err, answer, true)
}

// reply sends an answer, which carries err unless that is nil, and ends the operation: as lost if the answer is.
func reply(op *instrument.Op, method string, frame []byte, err error, answer conn.Answerer, patient bool) {
	defer op.End(conn.BrokenOff)
	op.Sending()
	lost := answer(frame, patient)
	if lost != nil {
		op.End(instrument.Result{ErrorType: lostAnswer(lost), Err: lost})
		return
	}
	op.Sent(len(frame))
	result := handlerFault(method, err).Result()
	result.Err = err // the server sees a neutral text, the log the error itself
	op.End(result)
}

// lostAnswer is the error.type of a request whose answer could not be sent.
func lostAnswer(err error) string {
	if errors.Is(err, transport.ErrBusy) {
		return names.ErrorTransportBusy
	}
	return names.ErrorConnectionLost
}

func noHandler(_ context.Context, r *Request) (any, error) {
	return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "no handler for " + r.Method}
}

// errInternal is what the server gets to see of an error that is not meant for it.
var errInternal = &mcp.Error{Code: mcp.CodeInternalError, Message: "internal error"}

// input calls the handler for one request of the server, which came in the answer to the request id.
func (a *answering) input(ctx context.Context, id int64, r mcp.InputRequest) (json.RawMessage, *Error) {
	handler, known := a.handlers[r.Method]
	if !known || r.Method == mcp.MethodPing {
		return nil, &Error{Kind: KindProtocol, cause: fmt.Errorf("%s: no handler", r.Method)}
	}
	more := instrument.Incoming{ID: strconv.FormatInt(id, 10), Known: true}
	in := incoming(r.Method, &jsonrpc.Params{}, a.c.Present().Peer, 0, more)
	ctx, op := a.c.Telemetry.StartHandler(ctx, in)
	defer op.End(conn.BrokenOff) // a handler may end the caller's goroutine
	var raw []byte
	var err error
	op.Labelled(ctx, func(ctx context.Context) {
		raw, err = a.protect(ctx, handler, &Request{Method: r.Method, Params: r.Params})
	})
	end := handlerFault(r.Method, err).Result()
	end.Err = err
	op.End(end)
	if err != nil {
		return nil, &Error{Kind: KindInvalid, cause: fmt.Errorf("%s: %w", r.Method, err)}
	}
	return raw, nil
}

// protect does what answerOf does, and turns a panic into an error.
func (a *answering) protect(ctx context.Context, h RequestHandler, r *Request) (raw []byte, err error) {
	err = errInternal
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
		e = errInternal
	}
	return conn.ErrorFrame(id, e), err
}

// handlerFault gives the error of a handler the form that telemetry takes.
func handlerFault(method string, err error) *conn.Fault {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		e = errInternal
	}
	return &conn.Fault{Kind: conn.KindJSONRPC, Op: method, Server: e}
}

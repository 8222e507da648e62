package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// rpcQuestion is a request of the server to a client.
type rpcQuestion interface {
	method() string
	// params returns the encoded params, nil for none.
	encodedParams() json.RawMessage
	// take checks an answer, as long as ctx lets it, and stores it.
	take(ctx context.Context, answer json.RawMessage) error
	// related returns the _meta of what is said about the question.
	related() mcp.Meta
}

// rpcInquirer sends requests of the server's to a client, and waits for the answers: on behalf of a request that is being
// handled, or of none.
type rpcInquirer struct {
	x       *rpcExchange
	out     sink
	version mcp.Version
	ctx     context.Context // of what asks: when it ends, no answer is waited for
}

// errAnswered ends what waits for a client on behalf of a request that has been answered.
var errAnswered = errors.New("the request has been answered")

// settle is how long handlers may take to return when their contexts have ended, and then how long a send may.
const settle = time.Second

// answeredError is a client's answer to a request of the server: it will not, or cannot.
type answeredError struct {
	Method  string // of the request
	Code    int64
	Message string
	Data    json.RawMessage // nil for none
}

// Error says what the client has answered to which request, in its own words.
func (e *answeredError) Error() string {
	return fmt.Sprintf("%s: the client answered: %s (%d)", e.Method, e.Message, e.Code)
}

// inquire asks a client for one thing and waits for the answer.
func (q *rpcInquirer) inquire(ctx context.Context, it rpcQuestion) (json.RawMessage, error) {
	ctx, op := q.x.tel.StartRequest(ctx, instrument.Request{Method: it.method()})
	defer op.End(brokenOff)
	answer, err := q.answerTo(ctx, &op, it)
	if err == nil {
		if err = it.take(ctx, answer); err != nil && ctx.Err() == nil {
			err = &violation{fmt.Errorf("%s: the client's answer: %w", it.method(), err)}
		}
	}
	op.End(endOf(ctx, err))
	return answer, err
}

// answerTo sends a request and returns the result that the client answers with.
func (q *rpcInquirer) answerTo(ctx context.Context, op *instrument.Op, it rpcQuestion) (json.RawMessage, error) {
	if q.ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", it.method(), q.ending())
	}
	id, answer, ok := q.x.asks.begin()
	if !ok {
		return nil, fmt.Errorf("%s: %w", it.method(), errOver)
	}
	op.Admit(q.x.seen(q.version), id)
	if err := q.send(ctx, op, id, it); err != nil {
		q.x.asks.end(id)
		return nil, fmt.Errorf("%s: %w", it.method(), err)
	}
	var m *jsonrpc.Message
	var left error
	select {
	case m = <-answer:
	case <-ctx.Done():
		left = context.Cause(ctx)
	case <-q.ctx.Done(): // of which ctx may not have been derived
		left = q.ending()
	}
	if left != nil {
		if q.x.asks.end(id) {
			q.x.asks.bury(id, stone{lateness(ctx), time.Now(), op.Ref()})
			q.withdraw(ctx, op, id, it)
			return nil, left
		}
		m = <-answer
	}
	if m == nil {
		return nil, fmt.Errorf("%s: %w", it.method(), errOver)
	}
	op.Received(m.Size())
	w := q.x.stopwatch()
	result, err := resultIn(m, it.method())
	if d := w.stop(); d > 0 && !isRefusal(err) {
		op.Decoded(d, err)
	}
	return result, err
}

// isRefusal reports whether err is what the client answers, which was decoded.
func isRefusal(err error) bool {
	_, ok := errors.AsType[*answeredError](err)
	return ok
}

// lateness says why the answer to a question is late whose context has ended.
func lateness(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return names.DropLateTimeout
	}
	return names.DropLateCancelled
}

// ending is why what asks has ended.
func (q *rpcInquirer) ending() error {
	if why := context.Cause(q.ctx); why != context.Canceled {
		return why
	}
	return errAnswered
}

// send sends a request to the client.
func (q *rpcInquirer) send(ctx context.Context, op *instrument.Op, id int64, it rpcQuestion) error {
	frame, err := jsonrpc.AppendRequest(nil, q.x.asks.id(id), it.method(), traced(op, nil), it.encodedParams())
	if err != nil {
		return err
	}
	op.Sending()
	if err := q.out.inquire(ctx, frame); err != nil {
		return err
	}
	op.Sent(len(frame))
	return nil
}

// resultIn returns the result in a response.
func resultIn(m *jsonrpc.Message, method string) (json.RawMessage, error) {
	switch {
	case !m.Checked():
		return nil, &violation{fmt.Errorf("%s: the client's answer is broken", method)}
	case m.Kind == jsonrpc.Result:
		return m.Middle(), nil
	}
	e, err := m.Failure()
	if err != nil {
		return nil, &violation{fmt.Errorf("%s: the client's answer: %w", method, err)}
	}
	return nil, &answeredError{Method: method, Code: e.Code, Message: e.Message, Data: e.Data}
}

// withdraw tells the client that its answer is not wanted any more. A client that takes nothing is not waited for long.
// (specification 2025-11-25, basic/utilities/cancellation)
func (q *rpcInquirer) withdraw(ctx context.Context, asked *instrument.Op, id int64, it rpcQuestion) {
	ctx, cancel := context.WithTimeout(within.Values(q.x.life, ctx), settle)
	defer cancel()
	q.x.withdraw(ctx, q.out, q.version, asked, it.related(),
		mcp.CancelledParams{RequestID: q.x.asks.id(id), Reason: "not needed any more"})
}

// withdraw tells the client that its answer to a request is not wanted any more, if it takes that before ctx ends. meta
// goes into its _meta.
func (x *rpcExchange) withdraw(ctx context.Context, out sink, v mcp.Version, asked *instrument.Op, meta mcp.Meta,
	p mcp.CancelledParams) {
	params, err := mcp.AppendParams(nil, p)
	if err != nil {
		return
	}
	ctx, op := x.tel.StartRequest(ctx, instrument.Request{
		Method: mcp.NotificationCancelled, Notification: true, Beside: true, Parent: asked.Ref(),
	})
	defer op.End(brokenOff)
	op.Admit(x.seen(v), 0)
	frame, err := jsonrpc.AppendNotification(nil, mcp.NotificationCancelled, traced(&op, meta), params)
	if err == nil {
		err = out.notify(ctx, frame)
	}
	if err == errNoPlace {
		x.tel.NotificationDropped(mcp.NotificationCancelled, names.DropNoStream)
		op.End(instrument.Result{ErrorType: names.ErrorNotReady})
		return
	}
	if err != nil {
		op.End(instrument.Result{ErrorType: names.ErrorConnectionLost, Err: err})
		return
	}
	op.Sent(len(frame))
	op.End(instrument.Result{})
}

// violation is an answer of the client that breaks the protocol.
type violation struct{ error }

func (v *violation) Unwrap() error { return v.error }

// ErrorType returns what telemetry calls it.
func (v *violation) ErrorType() string { return names.ErrorViolation }

// endOf describes for telemetry how asking ended.
func endOf(ctx context.Context, err error) instrument.Result {
	if err == nil {
		return instrument.Result{}
	}
	if refused, ok := errors.AsType[*answeredError](err); ok {
		return instrument.Result{Code: refused.Code, HasCode: true, Message: refused.Message}
	}
	end := instrument.Result{ErrorType: names.ErrorConnectionLost, Err: err}
	switch _, broken := errors.AsType[*violation](err); {
	case broken:
		end.ErrorType = names.ErrorViolation
	case ctx.Err() == context.DeadlineExceeded:
		end.ErrorType = names.ErrorTimeout
	case ctx.Err() != nil, errors.Is(err, errAnswered):
		end.ErrorType, end.CallerLeft = names.ErrorCancelled, true
	}
	return end
}

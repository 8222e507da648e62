package rpc

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

// Question is a request that the server sends to a client.
type Question interface {
	// Method returns the method of the request.
	Method() string
	// Params returns the encoded params, nil for none.
	Params() json.RawMessage
	// Take validates the answer and stores it. ctx limits the validation.
	Take(ctx context.Context, answer json.RawMessage) error
	// Meta returns the _meta for notifications about the request.
	Meta() mcp.Meta
}

// Inquirer sends requests of the server to a client, and waits for the answers.
type Inquirer struct {
	Exchange *Exchange
	Out      Sink
	Version  mcp.Version
	Context  context.Context // context of the request or connection that asks; its end ends the wait
}

// ErrAnswered is the error of a question that a handler asks after its own request has been answered.
var ErrAnswered = errors.New("the request has been answered")

// ErrUnsupported means that the server cannot send the question to the client.
var ErrUnsupported = errors.New("the client cannot be asked")

// Settle is how long handlers may take to return after their contexts end, and how long a last send may take.
const Settle = time.Second

// RefusalError is the error with which a client answers a request of the server.
type RefusalError struct {
	Method  string // method of the request
	Code    int64
	Message string
	Data    json.RawMessage // nil for none
}

// Error returns the method and the client's message and code.
func (e *RefusalError) Error() string {
	return fmt.Sprintf("%s: the client answered: %s (%d)", e.Method, e.Message, e.Code)
}

// Ask sends a request and waits for the answer.
func (q *Inquirer) Ask(ctx context.Context, it Question) (json.RawMessage, error) {
	ctx, op := q.Exchange.Peer.Tel.StartRequest(ctx, instrument.Request{Method: it.Method()})
	defer op.End(BrokenOff)
	answer, err := q.answerTo(ctx, &op, it)
	if err == nil {
		if err = it.Take(ctx, answer); err != nil && ctx.Err() == nil {
			err = &Violation{fmt.Errorf("%s: the client's answer: %w", it.Method(), err)}
		}
	}
	op.End(EndOf(ctx, err))
	return answer, err
}

// answerTo sends a request, waits for the answer and returns its result.
func (q *Inquirer) answerTo(ctx context.Context, op *instrument.Op, it Question) (json.RawMessage, error) {
	if q.Context.Err() != nil {
		return nil, fmt.Errorf("%s: %w", it.Method(), q.ending())
	}
	id, answer, ok := q.Exchange.Asks.Open()
	if !ok {
		return nil, fmt.Errorf("%s: %w", it.Method(), ErrClosed)
	}
	op.Admit(q.Exchange.Peer.Seen(q.Version), id)
	if err := q.send(ctx, op, id, it); err != nil {
		q.Exchange.Asks.End(id)
		return nil, fmt.Errorf("%s: %w", it.Method(), err)
	}
	var m *jsonrpc.Message
	var left error
	select {
	case m = <-answer:
	case <-ctx.Done():
		left = context.Cause(ctx)
	case <-q.Context.Done(): // ctx may not be derived from q.Context
		left = q.ending()
	}
	if left != nil {
		if q.Exchange.Asks.End(id) {
			q.Exchange.Asks.AddTombstone(id, Tombstone{Lateness(ctx), time.Now(), op.Ref()})
			q.withdraw(ctx, op, id, it)
			return nil, left
		}
		m = <-answer
	}
	if m == nil {
		return nil, fmt.Errorf("%s: %w", it.Method(), ErrClosed)
	}
	op.Received(m.Size())
	w := q.Exchange.Peer.decodeTimer()
	result, err := resultIn(m, it.Method())
	if d := w.stop(); d > 0 && !isRefusal(err) {
		op.Decoded(d, err)
	}
	return result, err
}

// isRefusal reports whether err is a decoded error response of the client.
func isRefusal(err error) bool {
	_, ok := errors.AsType[*RefusalError](err)
	return ok
}

// Lateness returns the reason why the answer to a request is late. ctx is the context of the request, which has ended.
func Lateness(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return names.DropLateTimeout
	}
	return names.DropLateCancelled
}

// ending returns the reason why q.Context has ended.
func (q *Inquirer) ending() error {
	if why := context.Cause(q.Context); why != context.Canceled {
		return why
	}
	return ErrAnswered
}

// send sends a request.
func (q *Inquirer) send(ctx context.Context, op *instrument.Op, id int64, it Question) error {
	frame, err := jsonrpc.AppendRequest(nil, q.Exchange.Asks.WireID(id), it.Method(), Traced(op, nil), it.Params())
	if err != nil {
		return err
	}
	op.Sending()
	if err := q.Out.Ask(ctx, frame); err != nil {
		return err
	}
	op.Sent(len(frame))
	return nil
}

// resultIn returns the result in the response to a request with this method.
func resultIn(m *jsonrpc.Message, method string) (json.RawMessage, error) {
	switch {
	case !m.Checked():
		return nil, &Violation{fmt.Errorf("%s: the client's answer is invalid", method)}
	case m.Kind == jsonrpc.Result:
		return m.Middle(), nil
	}
	e, err := m.Failure()
	if err != nil {
		return nil, &Violation{fmt.Errorf("%s: the client's answer: %w", method, err)}
	}
	return nil, &RefusalError{Method: method, Code: e.Code, Message: e.Message, Data: e.Data}
}

// withdraw cancels a request of the server. If the client reads nothing, withdraw waits at most [Settle].
// (specification 2025-11-25, basic/utilities/cancellation)
func (q *Inquirer) withdraw(ctx context.Context, asked *instrument.Op, id int64, it Question) {
	ctx, cancel := context.WithTimeout(within.Values(q.Exchange.Life, ctx), Settle)
	defer cancel()
	q.Exchange.Withdraw(ctx, q.Out, q.Version, asked, it.Meta(),
		mcp.CancelledParams{RequestID: mcp.RequestID(q.Exchange.Asks.WireID(id)), Reason: "no longer needed"})
}

// Withdraw sends notifications/cancelled with the params p, and with meta in its _meta. asked is the operation of the
// cancelled request.
func (x *Exchange) Withdraw(ctx context.Context, out Sink, v mcp.Version, asked *instrument.Op, meta mcp.Meta,
	p mcp.CancelledParams) {
	params, err := mcp.AppendParams(nil, p)
	if err != nil {
		return
	}
	ctx, op := x.Peer.Tel.StartRequest(ctx, instrument.Request{
		Method: mcp.NotificationCancelled, Notification: true, Beside: true, Parent: asked.Ref(),
	})
	defer op.End(BrokenOff)
	op.Admit(x.Peer.Seen(v), 0)
	frame, err := jsonrpc.AppendNotification(nil, mcp.NotificationCancelled, Traced(&op, meta), params)
	if err == nil {
		err = out.Notify(ctx, frame)
	}
	if err == ErrNoStream {
		x.Peer.Tel.NotificationDropped(mcp.NotificationCancelled, names.DropNoStream)
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

// Violation is the error for an answer of the client that violates the protocol.
type Violation struct{ Cause error }

func (v *Violation) Error() string { return v.Cause.Error() }

func (v *Violation) Unwrap() error { return v.Cause }

// ErrorType returns the value of the attribute error.type.
func (v *Violation) ErrorType() string { return names.ErrorViolation }

// EndOf describes the end of a request of the server for telemetry. ctx is the context of the request.
func EndOf(ctx context.Context, err error) instrument.Result {
	if err == nil {
		return instrument.Result{}
	}
	if refused, ok := errors.AsType[*RefusalError](err); ok {
		return instrument.Result{Code: refused.Code, HasCode: true, Message: refused.Message}
	}
	end := instrument.Result{ErrorType: names.ErrorConnectionLost, Err: err}
	switch _, broken := errors.AsType[*Violation](err); {
	case broken:
		end.ErrorType = names.ErrorViolation
	case ctx.Err() == context.DeadlineExceeded:
		end.ErrorType = names.ErrorTimeout
	case ctx.Err() != nil, errors.Is(err, ErrAnswered):
		end.ErrorType, end.CallerLeft = names.ErrorCancelled, true
	}
	return end
}

package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

func (p *pipe) reach() reach { return reach{asks: true, read: true} }

func (p *pipe) inquire(ctx context.Context, frame []byte) error { return p.conn.Send(ctx, frame) }

func (b sseSink) reach() reach { return reach{asks: true, read: true} }

func (b sseSink) inquire(ctx context.Context, frame []byte) error { return b.notify(ctx, frame) }

func (t *stream) reach() reach { return reach{asks: true, read: t.isRead()} }

// inquire makes the response a stream. A client that is not there at the moment gets the request when it comes back.
func (t *stream) inquire(ctx context.Context, frame []byte) error {
	t.mu.Lock()
	deaf := t.reader != nil && !t.reader.accept.stream
	t.mu.Unlock()
	if deaf {
		return fmt.Errorf("%w: it does not accept %s", ErrUnsupported, typeStream)
	}
	return t.notify(ctx, frame)
}

// inquireAll asks a legacy client for several things, while the request holds up no other.
func (c *call) inquireAll(ctx context.Context, items []*inquiry) error {
	c.x.reading.release(&c.rpcCall)
	c.x.asks.wait(&c.rpcCall)
	defer c.x.asks.resume(&c.rpcCall)
	back, ok := c.x.awaitClient()
	if !ok {
		return errBusy
	}
	defer back()
	return c.inquirer().inquireEach(ctx, items)
}

// inquirer sends requests of the server's to a legacy client, and waits for the answers: on behalf of a request that is
// being handled, or of none.
type inquirer struct {
	conn    *connection
	out     sink
	version mcp.Version
	ctx     context.Context // of what asks: when it ends, no answer is waited for
	rounds  *rounds         // that keep the answers; nil for what asks only once
}

// inquirer returns what asks the client on the way on which it waits for the answer to this request.
func (c *call) inquirer() *inquirer {
	return &inquirer{conn: c.x.conn, out: c.out, version: c.info.Version, ctx: c.ctx(), rounds: &c.rounds}
}

// inquireEach asks for several things at the same time. The first failure ends the rest.
func (q *inquirer) inquireEach(ctx context.Context, items []*inquiry) error {
	if len(items) == 1 {
		return q.inquire(ctx, items[0])
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		asking sync.WaitGroup
		once   sync.Once
		first  error
	)
	fail := func(err error) {
		once.Do(func() { first = err })
		cancel(err)
	}
	for _, it := range items {
		asking.Go(func() { // ends with the answer or with ctx
			usercode.Run(func() {
				if err := q.inquire(ctx, it); err != nil {
					fail(err)
				}
			}, func(broken *usercode.Failure) { fail(broken) })
		})
	}
	asking.Wait()
	if broken, ok := errors.AsType[*usercode.Failure](first); ok {
		broken.Repeat() // in the handler, which has asked
	}
	return first
}

// inquire asks a legacy client for one thing and waits for the answer.
func (q *inquirer) inquire(ctx context.Context, it *inquiry) error {
	ctx, op := q.conn.tel.StartRequest(ctx, instrument.Request{Method: it.method()})
	defer op.End(brokenOff)
	answer, err := q.answerTo(ctx, &op, it)
	if err == nil {
		if err = it.take(ctx, answer); err != nil && ctx.Err() == nil {
			err = &violation{fmt.Errorf("%s: the client's answer: %w", it.method(), err)}
		}
	}
	if err == nil && q.rounds != nil {
		q.rounds.keep(it.key, answer)
	}
	op.End(endOf(ctx, err))
	return err
}

// answerTo sends a request and returns the result that the client answers with.
func (q *inquirer) answerTo(ctx context.Context, op *instrument.Op, it *inquiry) (json.RawMessage, error) {
	if q.ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", it.method(), q.ending())
	}
	id, answer, ok := q.conn.asks.begin()
	if !ok {
		return nil, fmt.Errorf("%s: %w", it.method(), errOver)
	}
	op.Admit(q.conn.seen(q.version), id)
	if err := q.send(ctx, op, id, it); err != nil {
		q.conn.asks.end(id)
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
		if q.conn.asks.end(id) {
			q.conn.asks.bury(id, stone{lateness(ctx), time.Now(), op.Ref()})
			q.withdraw(ctx, op, id, it)
			return nil, left
		}
		m = <-answer
	}
	if m == nil {
		return nil, fmt.Errorf("%s: %w", it.method(), errOver)
	}
	op.Received(m.Size())
	w := q.conn.stopwatch()
	result, err := resultIn(m, it.method())
	if d := w.stop(); d > 0 && !isRefusal(err) {
		op.Decoded(d, err)
	}
	return result, err
}

// isRefusal reports whether err is what the client answers, which was decoded.
func isRefusal(err error) bool {
	_, ok := errors.AsType[*ClientError](err)
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
func (q *inquirer) ending() error {
	if why := context.Cause(q.ctx); why != context.Canceled {
		return why
	}
	return ErrAnswered
}

// send sends a request to the client.
func (q *inquirer) send(ctx context.Context, op *instrument.Op, id int64, it *inquiry) error {
	frame, err := jsonrpc.AppendRequest(nil, q.conn.asks.id(id), it.method(), traced(op, nil), it.encoded)
	if err != nil {
		return err
	}
	if id, ok := mcp.Object(it.encoded).Lookup("elicitationId"); ok {
		name, _ := jsonrpc.Text(id)
		q.conn.sites.add(name)
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
	return nil, &ClientError{Method: method, Code: e.Code, Message: e.Message, Data: e.Data}
}

// withdraw tells the client that its answer is not wanted any more. A client that takes nothing is not waited for long.
// (specification 2025-11-25, basic/utilities/cancellation)
func (q *inquirer) withdraw(ctx context.Context, asked *instrument.Op, id int64, it *inquiry) {
	ctx, cancel := context.WithTimeout(within.Values(q.conn.life, ctx), settle)
	defer cancel()
	q.conn.withdraw(ctx, q.out, q.version, asked, it.related(),
		mcp.CancelledParams{RequestID: q.conn.asks.id(id), Reason: "not needed any more"})
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
	if refused, ok := errors.AsType[*ClientError](err); ok {
		return instrument.Result{Code: refused.Code, HasCode: true, Message: refused.Message}
	}
	end := instrument.Result{ErrorType: names.ErrorConnectionLost, Err: err}
	switch _, broken := errors.AsType[*violation](err); {
	case broken:
		end.ErrorType = names.ErrorViolation
	case ctx.Err() == context.DeadlineExceeded:
		end.ErrorType = names.ErrorTimeout
	case ctx.Err() != nil, errors.Is(err, ErrAnswered):
		end.ErrorType, end.CallerLeft = names.ErrorCancelled, true
	}
	return end
}

package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/internal/machine"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// do makes the request and waits for its answer.
func (r *request) do(ctx context.Context) *fault {
	r.allow(cmp.Or(r.timeout, r.core.cfg.RequestTimeout))
	r.settlePutOff()
	about := r.content.about()
	about.Beside = r.own
	ctx = r.begin(ctx, about)
	r.content.started()
	returned := false
	defer func() {
		if !returned {
			r.breakOff(ctx)
		}
	}()
	err := r.toAnswer(ctx)
	returned = true
	r.op.End(r.content.ended(err))
	return err
}

// begin begins the operation of the request.
func (r *request) begin(ctx context.Context, about instrument.Request) context.Context {
	r.target, r.shownURI, r.round = about.Target, about.URI, about.Round
	ctx, r.op = r.core.tel.StartRequest(ctx, about)
	r.ref, r.corr, r.accepted, r.attempts, r.session = r.op.Ref(), r.op.Corr(), false, 0, nil
	return ctx
}

// toAnswer is the request between the beginning and the end of its operation.
func (r *request) toAnswer(ctx context.Context) *fault {
	switch {
	case ctx.Err() != nil:
		return r.left(ctx)
	case !r.deadline.IsZero() && !r.begun.Before(r.deadline): // what came before the request has taken its time
		return r.failed(outcome{cause: inflight.Timeout})
	}
	if err := r.take(ctx); err != nil {
		return err
	}
	o, err := r.launch(ctx)
	if err == nil && !o.decided() {
		r.readAnswer(ctx)
		o, err = r.await(ctx)
	}
	return r.conclude(ctx, o, err)
}

// conclude ends what the request leads to, with an outcome, or an error if it has none, and returns what it has come
// to.
func (r *request) conclude(ctx context.Context, o outcome, err *fault) *fault {
	switch {
	case err != nil:
		return err
	case o.cause == inflight.Timeout:
		r.cancelUpstream(ctx, "timeout")
	}
	r.hangUp(o)
	return r.answered(o)
}

// hangUp closes the stream of a request that the server has cancelled: the answer is not coming.
func (r *request) hangUp(o outcome) {
	if o.cause != 0 && r.session.overHTTP && cancelledUpstream(o) {
		r.session.conn.Cancel(r.id, transport.Message{})
	}
}

// post makes the request without waiting for its answer. It is on its way when post returns, or has come to its end;
// ended is called behind that.
func (r *request) post(ctx context.Context, ended func()) {
	r.allow(cmp.Or(r.timeout, r.core.cfg.RequestTimeout))
	r.settlePutOff()
	ctx = r.begin(ctx, r.content.about())
	var o outcome
	var err *fault
	usercode.Pass(func() {
		if err = r.take(ctx); err == nil {
			o, err = r.launchAttended(ctx)
		}
	}, func() { r.breakOff(ctx) })
	end := func() {
		if err == nil && !o.decided() {
			o, err = r.await(ctx)
		}
		r.op.End(r.content.ended(r.conclude(ctx, o, err)))
		ended()
	}
	if err != nil || o.decided() || !r.core.during(r.session, end) {
		end()
	}
}

// openIn makes a request in session s, and waits until the server has acknowledged what it opens, for no longer than
// patience. Its operation ends with that: no span lasts as long as a stream. Without an error the request remains in
// flight, and its outcome ends what it has opened.
func (r *request) openIn(s *session, patience time.Duration) *fault {
	about := r.content.about()
	about.Beside = r.own
	ctx := r.begin(s.ctx, about)
	returned := false
	defer func() {
		if !returned {
			r.breakOff(ctx)
		}
	}()
	err := r.toAcknowledgement(ctx, s, patience)
	returned = true
	r.op.End(r.content.ended(err))
	return err
}

// toAcknowledgement is openIn between the beginning and the end of the operation.
func (r *request) toAcknowledgement(ctx context.Context, s *session, patience time.Duration) *fault {
	if !r.takeIn(s) {
		return r.failed(outcome{cause: inflight.Lost})
	}
	o, err := r.launchAttended(ctx)
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for err == nil && !o.decided() {
		select {
		case <-r.opened:
			return nil
		case why := <-r.putOff:
			o, err = r.settled(r.backpressure(why))
		case <-limit.C:
			_, _ = r.leave(ctx)
			return r.failed(outcome{cause: inflight.Timeout})
		case o = <-r.outcome:
			select {
			case <-r.opened: // before
				r.outcome <- o // for what follows it
				return nil
			default:
			}
		}
	}
	if err = r.conclude(ctx, o, err); err == nil {
		err = &fault{Kind: kindProtocol, Op: r.method, Cause: errors.New("the subscription ended before it was acknowledged")}
	}
	return err
}

// acknowledged notes that the server has acknowledged what the request of method with this id opens: before the next
// message is looked at. told gets the content of the request.
func (c *core) acknowledged(id int64, method string, told func(content)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.calls.Find(id)
	if !ok || r.method != method || r.open {
		return
	}
	r.open = true
	told(r.content)
	if r.opened != nil {
		r.opened <- struct{}{}
	}
}

// isOpen reports whether what comes for what the request with this id has opened is the client's: it has been
// acknowledged, and not ended by the server. One that the client has ended counts for as long as its tombstone is
// there: what the server had sent by then may be about a change that what was opened in its place came too late for.
func (c *core) isOpen(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	r, class := c.calls.Classify(id, now)
	switch class {
	case inflight.InFlight:
		return r.open
	case inflight.Late:
		stone, _ := c.calls.Tombstone(id, now)
		return stone.Note.open && stone.Cause == inflight.Cancelled
	}
	return false
}

// breakOff ends a request in which code of the user's has failed: a callback, an encoder, a decoder, the transport.
func (r *request) breakOff(ctx context.Context) {
	defer r.op.End(brokenOff)
	if r.session != nil {
		r.abandon(ctx)
	}
}

// during runs f in a goroutine, which has to end soon after the session, and reports false if that is over.
func (c *core) during(s *session, f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != s {
		return false
	}
	c.inBackground(s.link, f)
	return true
}

// answered makes of an outcome what the request has come to.
func (r *request) answered(o outcome) *fault {
	if o.cause != 0 {
		return r.failed(o)
	}
	r.op.Received(o.message.Size())
	r.message = o.message
	err := r.decode(&r.message)
	r.message = jsonrpc.Message{}
	return err
}

// decode decodes the answer in the goroutine that makes the request. The decoder sees the part of the frame that has
// not been validated yet, so an answer that is not valid JSON is found here; it fails this request and nothing else.
// Whatever has to be known of the bytes is read before the decoder has them, which works in place: see
// [jsonrpc.Message.Consume].
func (r *request) decode(m *jsonrpc.Message) *fault {
	if m.Kind == jsonrpc.Error {
		server, err := decodeError(m)
		if err != nil {
			return r.unusable(m, err)
		}
		return &fault{Kind: kindJSONRPC, Op: r.method, Server: server}
	}
	if r.op.Captures() && m.Check() == nil {
		r.op.Answer(m.Middle())
	}
	err := r.content.receive(r.session, m)
	if refused, ok := errors.AsType[*resultTypeError](err); ok {
		return &fault{Kind: kindProtocol, Op: r.method, Cause: refused}
	}
	if err != nil {
		return r.unusable(m, err)
	}
	return nil
}

// unusable counts an answer that breaks the protocol and returns the error for the request.
func (r *request) unusable(m *jsonrpc.Message, err error) *fault {
	return &fault{Kind: kindProtocol, Op: r.method, Cause: r.core.refused(m, err)}
}

// take takes the request into flight, as soon as the client is ready if the caller wants to wait.
func (r *request) take(ctx context.Context) *fault {
	for {
		err := r.tryTake()
		if err == nil {
			r.op.Admit(r.session.peer, r.id)
			return nil
		}
		if err.Kind != kindState || !r.wait {
			return err
		}
		if err := r.core.awaitReady(ctx, r.method, r.deadline); err != nil {
			return err
		}
	}
}

// nextID gives out the id of a request that is not in the in-flight table.
func (c *core) nextID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	return c.lastID
}

// tryTake asks the machine. Being ready, the new id and the session the request belongs to are one moment, and so are
// not being ready and why.
func (r *request) tryTake() *fault {
	c := r.core
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.admission(r.method); err != nil {
		return err
	}
	c.lastID++
	r.id, r.session = c.lastID, c.session
	c.calls.Add(r.id, r.deadline, r)
	c.arm()
	return nil
}

// takeIn takes a request of the client's own into flight, if s is still the session. It has no deadline.
func (r *request) takeIn(s *session) bool {
	r.core.mu.Lock()
	defer r.core.mu.Unlock()
	if r.core.session != s {
		return false
	}
	r.core.lastID++
	r.id, r.begun = r.core.lastID, time.Now()
	r.core.calls.Add(r.id, time.Time{}, r)
	r.session = s
	r.op.Admit(s.peer, r.id)
	return true
}

// admitted returns the present session, if the machine says that the user may send something now.
func (c *core) admitted(op string) (*session, *fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session, c.admission(op)
}

// admission asks the machine whether the user may send something now. It is called with mu held.
func (c *core) admission(op string) *fault {
	switch effects, _ := c.stepLocked(machine.Input{Event: machine.UserCall}, nil); effects[0] {
	case machine.Admit:
		return nil
	case machine.RefuseShutdown:
		return c.shutdownError(op)
	}
	err := fmt.Errorf("%w: %s", errNotReady, c.m.State)
	if c.lastErr != nil {
		err = fmt.Errorf("%w: %w", err, c.lastErr)
	}
	return &fault{Kind: kindState, Op: op, Unsent: true, Cause: err}
}

// awaitReady waits until the client is ready, for an operation that has time until by, zero for no end.
func (c *core) awaitReady(ctx context.Context, op string, by time.Time) *fault {
	limited := ctx
	if !by.IsZero() {
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadlineCause(ctx, by, errTimeout)
		defer cancel()
	}
	err := c.waitFor(limited, connstate.Ready)
	if err == nil {
		return nil
	}
	err.Op = op
	if limited.Err() != nil {
		err.Kind = outlived(limited, op, true).Kind
	}
	return err
}

// interrupted is the fault of an operation that ended between two requests: its caller left, or the client was stopped.
func (c *core) interrupted(ctx context.Context, op string, unsent bool) *fault {
	if ctx.Err() != nil {
		return outlived(ctx, op, unsent)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shutdownError(op)
}

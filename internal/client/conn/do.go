package conn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Do sends the request and waits for its answer.
func (r *Request) Do(ctx context.Context) *Fault {
	r.allow(cmp.Or(r.Timeout, r.core.Settings.RequestTimeout))
	r.settlePutOff()
	ctx = r.next(ctx)
	r.Content.Started()
	returned := false
	defer func() {
		if !returned {
			r.breakOff(ctx)
		}
	}()
	err := r.toAnswer(ctx)
	returned = true
	r.hold(r.Content.Ended(err))
	return err
}

// begin starts the telemetry operation of the request.
func (r *Request) begin(ctx context.Context, about instrument.Request) context.Context {
	about.Beside = r.Own
	r.Target, r.shownURI, r.round = about.Target, about.URI, about.Round
	ctx, r.Op = r.core.Telemetry.StartRequest(ctx, about)
	r.Ref, r.Corr, r.Accepted, r.attempts, r.Session = r.Op.Ref(), r.Op.Corr(), false, 0, nil
	return ctx
}

// toAnswer sends the request, waits for its answer and returns the error of the request. The operation has begun, and
// toAnswer does not end it.
func (r *Request) toAnswer(ctx context.Context) *Fault {
	o := r.start(ctx)
	if !o.Decided() {
		r.readAnswer(ctx)
		o = r.await(ctx)
	}
	return r.conclude(ctx, o)
}

// start admits the request, encodes it, and tries to send it until the transport accepts it. A decided outcome means
// that the request ended before the transport accepted it.
func (r *Request) start(ctx context.Context) Outcome {
	switch {
	case ctx.Err() != nil && r.In == nil:
		return Outcome{fault: r.left(ctx)}
	case !r.deadline.IsZero() && !r.Begun.Before(r.deadline): // earlier steps of the operation have used up the time
		return Outcome{fault: r.Failed(Outcome{Cause: inflight.Timeout})}
	}
	if err := r.take(ctx); err != nil {
		return Outcome{fault: err}
	}
	if err := r.Content.Encode(r.Session); err != nil {
		return r.settled(err)
	}
	return r.send(ctx)
}

// conclude notifies the server if necessary, decodes an answer, and returns the error of the request.
func (r *Request) conclude(ctx context.Context, o Outcome) *Fault {
	r.inform(ctx, o)
	if o.Message.Kind != 0 {
		return r.answered(ctx, o)
	}
	return r.faultOf(ctx, o)
}

// inform cancels the request at the server if the request timed out or its caller left.
func (r *Request) inform(ctx context.Context, o Outcome) {
	switch o.Cause {
	case inflight.Timeout:
		r.cancelUpstream(ctx, byTimeout)
	case inflight.Cancelled:
		r.cancelUpstream(ctx, ByCaller)
	}
	r.HangUp(o)
}

// faultOf returns the error of a request that ended without an answer.
func (r *Request) faultOf(ctx context.Context, o Outcome) *Fault {
	if o.Cause == inflight.Cancelled {
		return r.left(ctx)
	}
	return r.Failed(o)
}

// HangUp closes the stream of a request that the server has cancelled, because no answer follows on it.
func (r *Request) HangUp(o Outcome) {
	if o.Cause != 0 && r.Session.OverHTTP && cancelledUpstream(o) {
		r.core.CloseStream(r.Session, r.ID)
	}
}

// Post sends the request without waiting for its answer. When Post returns, the transport has accepted the request or
// the request has ended.
func (r *Request) Post(ctx context.Context) {
	r.settlePutOff()
	r.Start(ctx, unheard{})
}

// unheard is the completion of a request whose outcome no code needs.
type unheard struct{}

func (unheard) Completed(*Fault) {}

// OpenIn sends a request that opens a subscription in session s, and waits at most patience for the acknowledgement.
// The operation ends with the acknowledgement, so that no span lasts as long as a stream. If OpenIn returns no error,
// the request stays in flight, and its outcome is the end of the subscription.
func (r *Request) OpenIn(s *Session, patience time.Duration) *Fault {
	r.In, r.Begun = s, time.Now()
	ctx := r.begin(s.Ctx, r.Content.About())
	returned := false
	defer func() {
		if !returned {
			r.breakOff(ctx)
		}
	}()
	err := r.toAcknowledgement(ctx, patience)
	returned = true
	r.Op.End(r.Content.Ended(err))
	return err
}

// toAcknowledgement sends the request of OpenIn, waits for the acknowledgement and returns the error of the request.
// The operation has begun, and toAcknowledgement does not end it.
func (r *Request) toAcknowledgement(ctx context.Context, patience time.Duration) *Fault {
	o := r.start(ctx)
	r.attended()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !o.Decided() {
		select {
		case <-r.Opened:
			return nil
		case why := <-r.putOff:
			o = r.settled(r.backpressure(why))
		case <-limit.C:
			_, _ = r.Leave(ctx)
			return r.Failed(Outcome{Cause: inflight.Timeout})
		case o = <-r.Outcome:
			select {
			case <-r.Opened: // the acknowledgement arrived before the outcome
				r.Outcome <- o // put the outcome back for the owner of the subscription
				return nil
			default:
			}
		}
	}
	if err := r.conclude(ctx, o); err != nil {
		return err
	}
	return &Fault{Kind: KindProtocol, Op: r.Method, Cause: errors.New("the subscription ended before it was acknowledged")}
}

// attended leaves the reading of the answer to the connection's own goroutine.
func (r *Request) attended() {
	if r.Session != nil {
		r.Session.in.turn.attend()
	}
}

// Acknowledged records, before the next message is read, that the server has acknowledged the subscription of the
// request with this ID and method. It calls told with the content of the request.
func (c *Conn) Acknowledged(id int64, method string, told func(Content)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.calls.Find(id)
	if !ok || r.Method != method || r.open {
		return
	}
	r.open = true
	told(r.Content)
	if r.Opened != nil {
		r.Opened <- struct{}{}
	}
}

// IsOpen reports whether the client handles notifications for the subscription that request id opened. It returns true
// from the server's acknowledgement until the server ends the subscription. If the client ended the subscription,
// IsOpen still returns true while the request has a tombstone: the server may have reported a change before the next
// subscription was open.
func (c *Conn) IsOpen(id int64) bool {
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

// breakOff ends a request in which user code has failed: a callback, an encoder, a decoder or the transport.
func (r *Request) breakOff(ctx context.Context) {
	defer r.hold(BrokenOff)
	if r.Session != nil {
		r.abandon(ctx)
	}
}

// During runs f in a goroutine. f must end soon after session s. If s has already ended, During returns false and does
// not run f.
func (c *Conn) During(s *Session, f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != s {
		return false
	}
	c.InBackground(s.Link, f)
	return true
}

// answered decodes the answer in o and returns the error of the request.
func (r *Request) answered(ctx context.Context, o Outcome) (err *Fault) {
	r.Op.Received(o.Message.Size())
	r.message = o.Message
	r.Op.Labelled(ctx, func(context.Context) { err = r.Decode(&r.message) })
	r.message = jsonrpc.Message{}
	return err
}

// Decode decodes the answer. The decoder also validates the rest of the frame, which nothing has validated before, so
// invalid JSON fails this request and no other. The decoder works in place, so the result type is read first: see
// [jsonrpc.Message.Consume].
func (r *Request) Decode(m *jsonrpc.Message) *Fault {
	if m.Kind == jsonrpc.Error {
		server, err := r.Content.ReceiveError(r.Session, m)
		if err != nil {
			return r.unusable(m, err)
		}
		return &Fault{Kind: KindJSONRPC, Op: r.Method, Server: server}
	}
	if r.Op.Captures() && m.Check() == nil {
		r.capture(m.Middle())
	}
	err := r.Content.Receive(r.Session, m)
	if refused, ok := errors.AsType[*ResultTypeError](err); ok {
		return &Fault{Kind: KindProtocol, Op: r.Method, Cause: refused}
	}
	if err != nil {
		return r.unusable(m, err)
	}
	return nil
}

// unusable counts an answer that violates the protocol, and returns the error of the request.
func (r *Request) unusable(m *jsonrpc.Message, err error) *Fault {
	return &Fault{Kind: KindProtocol, Op: r.Method, Cause: r.core.Refused(m, err)}
}

// take admits the request. If the caller wants to wait, take first waits until the client is ready.
func (r *Request) take(ctx context.Context) *Fault {
	by := r.ReadyBy
	if by.IsZero() {
		by = r.deadline
	}
	for {
		err := r.tryTake()
		if err == nil {
			r.Op.Admit(r.Session.Peer, r.ID)
			return nil
		}
		if err.Kind != KindState || !r.Wait {
			return err
		}
		if err := r.core.awaitSession(ctx, r.Method, by, r.Own); err != nil {
			return err
		}
	}
}

// nextID returns the ID for a request that is not in the in-flight table.
func (c *Conn) nextID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	return c.lastID
}

// tryTake admits the request if the machine allows it. It checks the state, and then assigns the ID and the session or
// determines the reason for a refusal, in one atomic step with the mutex held.
func (r *Request) tryTake() *Fault {
	c := r.core
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.In != nil && c.session != r.In {
		return r.Failed(Outcome{Cause: inflight.Lost})
	}
	if err := c.admission(r.Method); err != nil {
		return err
	}
	if c.draining && !r.GoesOn && !r.Own {
		return &Fault{Kind: KindShutdown, Op: r.Method, Unsent: true, Cause: errDraining}
	}
	if !r.Own && !c.session.admits() {
		return &Fault{Kind: KindState, Op: r.Method, Unsent: true, Cause: errRestoring}
	}
	r.GoesOn = true
	c.lastID++
	r.ID, r.Session = c.lastID, c.session
	c.calls.Add(r.ID, r.deadline, r)
	c.arm()
	return nil
}

// Admitted returns the present session. It returns an error if the machine does not admit messages of the user now.
func (c *Conn) Admitted(op string) (*Session, *Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session, c.admission(op)
}

// admission returns an error if the machine does not admit messages of the user now. The caller holds mu.
func (c *Conn) admission(op string) *Fault {
	switch effects, _ := c.stepLocked(machine.Input{Event: machine.UserCall}, nil); effects[0] {
	case machine.Admit:
		return nil
	case machine.RefuseShutdown:
		return c.shutdownError(op)
	}
	err := fmt.Errorf("%w: it is still %s; use WaitForReady() to wait", ErrNotReady, doing(c.m.State))
	if c.lastErr != nil {
		err = fmt.Errorf("%w: the last attempt to connect failed: %w; the client will retry; use WaitForReady() "+
			"to wait", ErrNotReady, c.lastErr)
	}
	return &Fault{Kind: KindState, Op: op, Unsent: true, Cause: err}
}

// AwaitReady waits until the client is ready. by is the deadline of the operation; zero means none.
func (c *Conn) AwaitReady(ctx context.Context, op string, by time.Time) *Fault {
	limited := ctx
	if !by.IsZero() {
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadlineCause(ctx, by, ErrTimeout)
		defer cancel()
	}
	err := c.WaitFor(limited, connstate.Ready)
	if err == nil {
		return nil
	}
	err.Op = op
	if limited.Err() != nil {
		err.Kind = Outlived(limited, op, true).Kind
	}
	return err
}

// Interrupted returns the fault of an operation that ended between two requests, because its caller left or the client
// was stopped.
func (c *Conn) Interrupted(ctx context.Context, op string, unsent bool) *Fault {
	if ctx.Err() != nil {
		return Outlived(ctx, op, unsent)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shutdownError(op)
}

package conn

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/client/waits"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Reasons for giving up a request, for the cancellation notice to the server.
const (
	ByCaller  = "cancelled by the caller"
	byTimeout = "timeout"
)

// await waits for the outcome of a sent request.
func (r *Request) await(ctx context.Context) (o Outcome) {
	for !o.Decided() {
		select {
		case o = <-r.Outcome:
			r.deliverProgress(ctx)
		case <-r.Progressed:
			r.deliverProgress(ctx)
		case why := <-r.putOff:
			o = r.resend(ctx, why)
		case <-ctx.Done():
			if o = r.abandoned(); o.Cause != inflight.Cancelled {
				r.deliverProgress(ctx)
			}
		}
	}
	return o
}

// send passes the request to the transport, and retries while the transport is busy. If the request ends before the
// transport accepts it, send returns its outcome.
func (r *Request) send(ctx context.Context) Outcome {
	s := r.Session
	o := outgoing{
		Message: transport.Message{
			Data: r.Frame, Kind: transport.KindRequest, ID: r.ID, Method: r.Method, Name: r.Name,
			ProtocolVersion: cmp.Or(r.Version, string(s.Version)), Header: r.Header,
		},
		op: &r.Op, request: r, session: s, room: byRetries,
	}
	r.trace.tell(&o.Message)
	if r.WaitForRoom {
		o.room = inLine
	}
	err := r.core.send(ctx, s.Link, &o)
	if err == nil {
		r.Accepted = true
		return Outcome{}
	}
	return r.unsent(ctx, err, nil)
}

// resend sends the request again after the server has refused it for now, as soon as the server may accept it. If the
// request ends before that, resend returns its outcome.
func (r *Request) resend(ctx context.Context, why *transport.RequestError) Outcome {
	r.Accepted = false
	r.Seen = r.Seen || !why.Unsent
	if err := r.later(ctx, why); err != nil {
		return r.unsent(ctx, err, why)
	}
	return r.send(ctx)
}

// unsent returns the outcome of a request that cannot be sent because of err. why is the server's refusal. It is nil if
// the server has not seen the request.
func (r *Request) unsent(ctx context.Context, err error, why *transport.RequestError) Outcome {
	switch {
	case err == errDecided:
		return <-r.Outcome
	case ctx.Err() != nil:
		return r.abandoned()
	case errors.Is(err, transport.ErrBusy):
		return r.settled(r.backpressure(why))
	}
	return r.settled(&Fault{Kind: KindTransport, Op: r.Method, Unsent: true, Cause: err})
}

// later waits until it is time to retry a request that was refused for now. The server refused it if why is not nil;
// otherwise the transport refused it. A refusal by the server is final unless the request had no effect or is
// idempotent. later returns nil if the caller must retry, and [transport.ErrBusy] if the caller must not retry. If the
// wait ended early, later returns the reason.
func (r *Request) later(ctx context.Context, why *transport.RequestError) error {
	delay, again := r.busy()
	reason := names.RetryBusy
	if why != nil {
		delay = max(delay, min(why.RetryAfter, waits.Most))
		again = again && why.Repeatable(r.Content.Harmless()) && fits(ctx, r.deadline, delay)
		reason = names.RetryServerBusy
	}
	if !again {
		return transport.ErrBusy
	}
	r.Op.Retry(reason)
	return (&outgoing{request: r}).wait(ctx, r.Session.Link, nil, delay)
}

// fits reports whether a wait of delay ends before both deadlines: the call's deadline (zero for none) and the deadline
// of ctx.
func fits(ctx context.Context, deadline time.Time, delay time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && (deadline.IsZero() || end.Before(deadline)) {
		deadline = end
	}
	return deadline.IsZero() || delay < time.Until(deadline)
}

// busy reports whether the call may try again, and after which delay.
func (r *Request) busy() (time.Duration, bool) {
	r.core.mu.Lock()
	defer r.core.mu.Unlock()
	if effects, ok := r.core.stepLocked(machine.Input{Event: machine.SendBusy}, nil); !ok || len(effects) == 0 {
		return 0, true // the call already has its outcome; send returns the outcome and does not send again
	}
	delay, again, ok := r.core.calls.Busy(r.ID, rand.Float64())
	return delay, again || !ok
}

// settled ends the call with err, unless the call has already ended, and returns its outcome.
func (r *Request) settled(err *Fault) Outcome {
	r.core.mu.Lock()
	if _, mine := r.core.calls.Settle(r.ID); mine {
		r.finish(Outcome{fault: err})
	}
	r.core.mu.Unlock()
	return <-r.Outcome
}

// anyInFlight reports whether any call is in flight.
func (c *Conn) anyInFlight() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls.Len() > 0
}

// abandon gives up the call because its caller no longer waits, and notifies the server. It returns false if the call
// already has its outcome.
func (r *Request) abandon(ctx context.Context) bool {
	c := r.core
	c.mu.Lock()
	c.stepLocked(machine.Input{Event: machine.CallerLeft}, nil)
	_, mine := c.calls.Abandon(r.ID, time.Now(), inflight.Cancelled)
	c.settleUp()
	c.mu.Unlock()
	if mine {
		r.cancelUpstream(ctx, ByCaller)
	}
	return mine
}

// leave gives up the request because its context has ended. If the request already has an outcome, that outcome takes
// precedence.
func (r *Request) leave() {
	c := r.core
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stepLocked(machine.Input{Event: machine.CallerLeft}, nil)
	if _, mine := c.calls.Abandon(r.ID, time.Now(), inflight.Cancelled); mine {
		r.finish(Outcome{Cause: inflight.Cancelled})
	}
	c.settleUp()
}

// abandoned calls leave and returns the outcome. Only the goroutine that waits for the outcome may call it.
func (r *Request) abandoned() Outcome {
	r.leave()
	return <-r.Outcome
}

// Leave gives up a request of [Request.OpenIn], and notifies the server. If the request already has its outcome, Leave
// returns that outcome, and over is true.
func (r *Request) Leave(ctx context.Context) (o Outcome, over bool) {
	if r.abandon(ctx) {
		return Outcome{}, false
	}
	return <-r.Outcome, true
}

// cancelUpstream notifies the server that the client no longer needs the answer to the request. It waits for room in
// the transport only for a request of [Request.Start], for which no goroutine waits. If the transport has not accepted
// the request, there is nothing to cancel.
func (r *Request) cancelUpstream(ctx context.Context, reason string) {
	s := r.Session
	if !r.Accepted {
		return
	}
	reason, tell := r.Content.GivenUp(s, reason)
	switch {
	case !tell:
		return
	case s.OwnStreams: // closing the stream cancels the request
		r.core.CloseStream(s, r.ID)
		return
	}
	_, op := r.core.Telemetry.StartRequest(ctx, instrument.Request{Method: mcp.NotificationCancelled, Notification: true,
		Parent: r.Ref})
	defer op.End(BrokenOff)
	op.Meet(s.Peer)
	trace := traceOf(&op)
	o := outgoing{Message: s.cancelNotice(r.ID, reason, trace.meta(nil)), op: &op, cancels: r.ID}
	if r.pending != nil && !s.OverHTTP {
		o.cancels, o.room = 0, inLine
	}
	if err := r.core.send(s.Ctx, s.Link, &o); err != nil {
		op.End(notSent(o.Method, err).Result())
		return
	}
	op.End(instrument.Result{})
}

package mcpclient

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/internal/machine"
	"github.com/mcpotel/mcpotel/mcpclient/internal/waits"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// await waits for the outcome of the request, which has been sent. The error means that it is no longer in flight.
func (r *request) await(ctx context.Context) (outcome, *fault) {
	for {
		select {
		case o := <-r.outcome:
			r.deliverProgress()
			return o, nil
		case <-r.progressed:
			r.deliverProgress()
		case why := <-r.putOff:
			r.accepted = false
			r.seen = r.seen || !why.Unsent
			o, err, done := r.retry(ctx, why)
			if !done {
				o, err = r.send(ctx)
			}
			if err != nil || o.decided() {
				return o, err
			}
		case <-ctx.Done():
			return r.leave(ctx)
		}
	}
}

// launch encodes the request, which is in flight, and sends it. The error means that it no longer is.
func (r *request) launch(ctx context.Context) (outcome, *fault) {
	if err := r.content.encode(r.session); err != nil {
		return r.settled(err)
	}
	return r.send(ctx)
}

// send hands the request to the transport, again if that is busy. It returns an outcome if the call has one before the
// request is accepted.
func (r *request) send(ctx context.Context) (outcome, *fault) {
	s := r.session
	m := transport.Message{
		Data: r.frame, Kind: transport.Request, ID: r.id, Method: r.method, Name: r.name,
		ProtocolVersion: string(s.version), Header: r.header, Answer: s.direct,
	}
	r.trace.tell(&m)
	if r.progressed == nil && r.opened == nil {
		m.Inline = r.inline
	}
	var place *place // in the line for room
	defer func() { s.in.line.leave(place) }()
	for {
		select {
		case o := <-r.outcome: // failed while it was being encoded, or waiting for room
			return o, nil
		default:
		}
		r.op.Sending()
		r.attempts++
		err := transport.ErrBusy
		if place != nil || s.in.line.empty() {
			err = s.conn.Send(ctx, m)
		}
		switch {
		case err == nil:
			r.accepted = true
			r.op.Sent(len(r.frame))
			return outcome{}, nil
		case ctx.Err() != nil:
			return r.leave(ctx)
		case !errors.Is(err, transport.ErrBusy):
			return r.unsendable(ctx, err)
		}
		if r.core.cfg.WaitForRoom || r.waitForRoom {
			if place == nil {
				place, m.Inline = s.in.line.enter(), nil // those behind must not wait for the answer
				r.op.Retry(names.RetryBusy)
			}
			if o, err, done := r.waitInLine(ctx, place); done {
				return o, err
			}
		} else if o, err, done := r.retry(ctx, nil); done {
			return o, err
		}
	}
}

// launchAttended is launch for requests whose answers are read by the goroutine of the connection.
func (r *request) launchAttended(ctx context.Context) (outcome, *fault) {
	s := r.session
	o, err := r.launch(ctx)
	s.in.turn.attend()
	return o, err
}

// retry waits until it is time to send the request again, which was refused for now: by the transport or, if why is not
// nil, by the server; that is final unless the request had no effect or may have it twice. If done, the call is over
// instead.
func (r *request) retry(ctx context.Context, why *transport.RequestError) (_ outcome, _ *fault, done bool) {
	delay, again := r.busy()
	reason := names.RetryBusy
	if why != nil {
		delay = max(delay, min(why.RetryAfter, waits.Most))
		again = again && why.Repeatable(r.content.harmless()) && fits(ctx, r.deadline, delay)
		reason = names.RetryServerBusy
	}
	if !again {
		o, err := r.settled(r.backpressure(why))
		return o, err, true
	}
	r.op.Retry(reason)
	return r.pause(ctx, delay)
}

// fits reports whether delay is over before the call's deadline, zero for none, and that of ctx.
func fits(ctx context.Context, deadline time.Time, delay time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && (deadline.IsZero() || end.Before(deadline)) {
		deadline = end
	}
	return deadline.IsZero() || delay < time.Until(deadline)
}

// busy asks whether the call may try again, and when.
func (r *request) busy() (time.Duration, bool) {
	r.core.mu.Lock()
	defer r.core.mu.Unlock()
	if effects, ok := r.core.stepLocked(machine.Input{Event: machine.SendBusy}, nil); !ok || len(effects) == 0 {
		return 0, true // the call has its outcome already, and finds it before it sends again
	}
	delay, again, ok := r.core.calls.Busy(r.id, rand.Float64())
	return delay, again || !ok
}

// waitInLine waits until the call is the first in line, or, if it is that already and has found no room, for a while.
// If done, the call is over instead.
func (r *request) waitInLine(ctx context.Context, p *place) (_ outcome, _ *fault, done bool) {
	if p.tried {
		return r.pause(ctx, roomEvery)
	}
	p.tried = true
	select {
	case <-p.first:
		return outcome{}, nil, false
	case o := <-r.outcome:
		return o, nil, true
	case <-ctx.Done():
		o, err := r.leave(ctx)
		return o, err, true
	}
}

// pause waits until it is time to try again, unless the call gets its outcome first.
func (r *request) pause(ctx context.Context, d time.Duration) (outcome, *fault, bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return outcome{}, nil, false
	case o := <-r.outcome:
		return o, nil, true
	case <-ctx.Done():
		o, err := r.leave(ctx)
		return o, err, true
	}
}

// unsendable deals with a request that the transport did not take. If the connection is closed, it is down; any other
// error is about this request only.
func (r *request) unsendable(ctx context.Context, err error) (outcome, *fault) {
	if errors.Is(err, transport.ErrClosed) {
		if o, err, done := r.pause(ctx, patience); done {
			return o, err // the reader has said why, or the call is over for another reason
		}
		err = r.core.lost(r.session, err)
	}
	return r.settled(&fault{Kind: kindTransport, Op: r.method, Unsent: true, Cause: err})
}

// settled takes the call out of flight because of err, unless it has its outcome already; then that is taken, with what
// err knows about whether the request was sent.
func (r *request) settled(err *fault) (outcome, *fault) {
	r.core.mu.Lock()
	_, mine := r.core.calls.Settle(r.id)
	r.core.mu.Unlock()
	if !mine {
		return <-r.outcome, nil
	}
	return outcome{}, err
}

// anyInFlight reports whether any call is in flight.
func (c *core) anyInFlight() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls.Len() > 0
}

// abandon takes the call out of flight because its caller does not wait any more, and tells the server. It reports
// false if the call has its outcome, of which the server knows.
func (r *request) abandon(ctx context.Context) bool {
	c := r.core
	c.mu.Lock()
	c.stepLocked(machine.Input{Event: machine.CallerLeft}, nil)
	_, mine := c.calls.Abandon(r.id, time.Now(), inflight.Cancelled)
	c.settleUp()
	c.mu.Unlock()
	if mine {
		r.cancelUpstream(ctx, "cancelled by the caller")
	}
	return mine
}

// leave abandons the call because its caller's context ended. An outcome that is already there is better than none.
func (r *request) leave(ctx context.Context) (outcome, *fault) {
	if r.abandon(ctx) {
		return outcome{}, r.left(ctx)
	}
	o := <-r.outcome
	r.deliverProgress()
	return o, nil
}

// cancelUpstream tells the server, in one try, that nobody waits for the answer any more. A request that the transport
// has not accepted needs no cancelling.
func (r *request) cancelUpstream(ctx context.Context, reason string) {
	s := r.session
	switch {
	case !r.accepted || r.content.givenUp(s):
		return
	case s.ownStreams: // the end of the stream says it
		s.conn.Cancel(r.id, transport.Message{})
		return
	}
	_, op := r.core.tel.StartRequest(ctx, instrument.Request{Method: mcp.NotificationCancelled, Notification: true,
		Parent: r.ref})
	defer op.End(brokenOff)
	trace := traceOf(&op)
	notice := s.cancelNotice(r.id, reason, trace.meta(nil))
	s.conn.Cancel(r.id, notice)
	op.Sent(len(notice.Data))
	op.End(instrument.Result{})
}

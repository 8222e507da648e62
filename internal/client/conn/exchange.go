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

// await waits for the outcome of the request, which has been sent. The error means that it is no longer in flight.
func (r *Request) await(ctx context.Context) (Outcome, *Fault) {
	for {
		select {
		case o := <-r.Outcome:
			r.deliverProgress(ctx)
			return o, nil
		case <-r.Progressed:
			r.deliverProgress(ctx)
		case why := <-r.putOff:
			r.Accepted = false
			r.Seen = r.Seen || !why.Unsent
			o, err, done := r.retry(ctx, why)
			if !done {
				o, err = r.send(ctx)
			}
			if err != nil || o.Decided() {
				return o, err
			}
		case <-ctx.Done():
			return r.Leave(ctx)
		}
	}
}

// launch encodes the request, which is in flight, and sends it. The error means that it no longer is.
func (r *Request) launch(ctx context.Context) (Outcome, *Fault) {
	if err := r.Content.Encode(r.Session); err != nil {
		return r.settled(err)
	}
	return r.send(ctx)
}

// send hands the request to the transport, again if that is busy. It returns an outcome if the call has one before the
// request is accepted.
func (r *Request) send(ctx context.Context) (Outcome, *Fault) {
	s := r.Session
	m := transport.Message{
		Data: r.Frame, Kind: transport.Request, ID: r.ID, Method: r.Method, Name: r.Name,
		ProtocolVersion: cmp.Or(r.Version, string(s.Version)), Header: r.Header,
	}
	r.trace.tell(&m)
	var place *place // in the line for room
	defer func() { s.in.line.leave(place) }()
	for {
		select {
		case o := <-r.Outcome: // failed while it was being encoded, or waiting for room
			return o, nil
		default:
		}
		r.Op.Sending()
		r.attempts++
		err := transport.ErrBusy
		if place != nil || s.in.line.empty() {
			err = s.hand(ctx, m)
		}
		switch {
		case err == nil:
			r.Accepted = true
			r.Op.Sent(len(r.Frame))
			return Outcome{}, nil
		case ctx.Err() != nil:
			return r.Leave(ctx)
		case !errors.Is(err, transport.ErrBusy):
			return r.unsendable(ctx, err)
		}
		if r.core.Settings.WaitForRoom || r.WaitForRoom {
			if place == nil {
				place = s.in.line.enter()
				r.Op.Retry(names.RetryBusy)
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
func (r *Request) launchAttended(ctx context.Context) (Outcome, *Fault) {
	s := r.Session
	o, err := r.launch(ctx)
	s.in.turn.attend()
	return o, err
}

// retry waits until it is time to send the request again, which was refused for now: by the transport or, if why is not
// nil, by the server; that is final unless the request had no effect or may have it twice. If done, the call is over
// instead.
func (r *Request) retry(ctx context.Context, why *transport.RequestError) (_ Outcome, _ *Fault, done bool) {
	delay, again := r.busy()
	reason := names.RetryBusy
	if why != nil {
		delay = max(delay, min(why.RetryAfter, waits.Most))
		again = again && why.Repeatable(r.Content.Harmless()) && fits(ctx, r.deadline, delay)
		reason = names.RetryServerBusy
	}
	if !again {
		o, err := r.settled(r.backpressure(why))
		return o, err, true
	}
	r.Op.Retry(reason)
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
func (r *Request) busy() (time.Duration, bool) {
	r.core.mu.Lock()
	defer r.core.mu.Unlock()
	if effects, ok := r.core.stepLocked(machine.Input{Event: machine.SendBusy}, nil); !ok || len(effects) == 0 {
		return 0, true // the call has its outcome already, and finds it before it sends again
	}
	delay, again, ok := r.core.calls.Busy(r.ID, rand.Float64())
	return delay, again || !ok
}

// waitInLine waits until the call is the first in line, or, if it is that already and has found no room, for a while.
// If done, the call is over instead.
func (r *Request) waitInLine(ctx context.Context, p *place) (_ Outcome, _ *Fault, done bool) {
	if p.tried {
		return r.pause(ctx, RoomEvery)
	}
	p.tried = true
	select {
	case <-p.first:
		return Outcome{}, nil, false
	case o := <-r.Outcome:
		return o, nil, true
	case <-ctx.Done():
		o, err := r.Leave(ctx)
		return o, err, true
	}
}

// pause waits until it is time to try again, unless the call gets its outcome first.
func (r *Request) pause(ctx context.Context, d time.Duration) (Outcome, *Fault, bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return Outcome{}, nil, false
	case o := <-r.Outcome:
		return o, nil, true
	case <-ctx.Done():
		o, err := r.Leave(ctx)
		return o, err, true
	}
}

// unsendable deals with a request that the transport did not take. If the connection is closed, it is down; any other
// error is about this request only.
func (r *Request) unsendable(ctx context.Context, err error) (Outcome, *Fault) {
	if errors.Is(err, transport.ErrClosed) {
		if o, err, done := r.pause(ctx, Patience); done {
			return o, err // the reader has said why, or the call is over for another reason
		}
		err = r.core.lost(r.Session, err)
	}
	return r.settled(&Fault{Kind: KindTransport, Op: r.Method, Unsent: true, Cause: err})
}

// settled takes the call out of flight because of err, unless it has its outcome already; then that is taken, with what
// err knows about whether the request was sent.
func (r *Request) settled(err *Fault) (Outcome, *Fault) {
	r.core.mu.Lock()
	_, mine := r.core.calls.Settle(r.ID)
	r.core.mu.Unlock()
	if !mine {
		return <-r.Outcome, nil
	}
	return Outcome{}, err
}

// anyInFlight reports whether any call is in flight.
func (c *Conn) anyInFlight() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls.Len() > 0
}

// abandon takes the call out of flight because its caller does not wait any more, and tells the server. It reports
// false if the call has its outcome, of which the server knows.
func (r *Request) abandon(ctx context.Context) bool {
	c := r.core
	c.mu.Lock()
	c.stepLocked(machine.Input{Event: machine.CallerLeft}, nil)
	_, mine := c.calls.Abandon(r.ID, time.Now(), inflight.Cancelled)
	c.settleUp()
	c.mu.Unlock()
	if mine {
		r.cancelUpstream(ctx, "cancelled by the caller")
	}
	return mine
}

// Leave abandons the call because its caller's context ended. An outcome that is already there is better than none.
func (r *Request) Leave(ctx context.Context) (Outcome, *Fault) {
	if r.abandon(ctx) {
		return Outcome{}, r.left(ctx)
	}
	o := <-r.Outcome
	r.deliverProgress(ctx)
	return o, nil
}

// cancelUpstream tells the server that its caller waits for the answer no more: in one try, unless it does so for
// another peer. A request that the transport has not accepted needs no cancelling.
func (r *Request) cancelUpstream(ctx context.Context, reason string) {
	s := r.Session
	switch {
	case !r.Accepted || r.Content.GivenUp(s):
		return
	case s.OwnStreams: // the end of the stream says it
		s.Conn.Cancel(r.ID, transport.Message{})
		return
	}
	_, op := r.core.Telemetry.StartRequest(ctx, instrument.Request{Method: mcp.NotificationCancelled, Notification: true,
		Parent: r.Ref})
	defer op.End(BrokenOff)
	op.Meet(s.Peer)
	trace := traceOf(&op)
	notice := s.cancelNotice(r.ID, reason, trace.meta(nil))
	if r.passing == nil || s.OverHTTP {
		s.Conn.Cancel(r.ID, notice)
	} else if err := s.sendInLine(s.Ctx, notice); err != nil {
		op.End(notSent(notice.Method, err).Result())
		return
	}
	op.Sent(len(notice.Data))
	op.End(instrument.Result{})
}

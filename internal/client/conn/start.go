package conn

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
)

// Completion hears of the end of a request that was made by [Request.Start].
type Completion interface {
	// Completed is called once, with the error that the request has come to, nil for a result, of which the content of the
	// request has heard. Behind an answer it is called in the goroutine that has read the answer, and nothing else is read
	// from the server before it returns. Any other end is told in a goroutine that may wait for the server.
	Completed(err *Fault)
}

// pending is the part of a request for whose end no goroutine waits. Two things have to come before its operation ends:
// no goroutine sends the request any more, and its outcome is known. The later one ends the operation, so a server may
// answer before the transport has said that it has accepted the request.
type pending struct {
	to   Completion
	ctx  context.Context
	stop func() bool // forgets ctx; nil before there is something to forget

	sending bool // guarded by the core's mutex; a goroutine sends the request
	decided bool // guarded by the core's mutex; the outcome is known

	// Written by the goroutine that decides, before it does.
	outcome Outcome // its message is used up
	fault   *Fault  // that an answer has come to
	at      time.Time
	size    int    // of an answer, in bytes
	content []byte // of an answer, for the telemetry; nil for none
}

// Start makes the request without a goroutine that waits for its end, of which to hears. It returns when the request is
// on its way, or has come to its end. ctx ends the request until its answer has come.
func (r *Request) Start(ctx context.Context, to Completion) {
	r.allow(cmp.Or(r.Timeout, r.core.Settings.RequestTimeout))
	ctx = r.begin(ctx, r.Content.About())
	r.pending = &pending{to: to, ctx: ctx, sending: true}
	o := r.attempt(func() Outcome { return r.start(ctx) })
	if !o.Decided() {
		r.pending.stop = context.AfterFunc(ctx, r.leave)
		if !r.Session.OverHTTP && !r.Content.Harmless() {
			r.Frame = nil // it is not sent again
		}
	}
	r.attended()
	r.sent(o)
}

// attempt sends the request by send, which calls the transport. If that fails, so has the connection.
func (r *Request) attempt(send func() Outcome) (o Outcome) {
	usercode.Run(func() { o = send() }, func(f *usercode.Failure) {
		lost := fmt.Errorf("%w: %w", ErrConnectionLost, f)
		r.Accepted = true // perhaps
		r.core.transportFailed(r.Session.Epoch, f)
		o = r.settled(&Fault{Kind: KindTransport, Op: r.Method, Cause: lost})
	})
	return o
}

// sent notes that no goroutine sends the request any more, which has the outcome o by now if that is decided. What the
// server has refused for now is sent again first.
func (r *Request) sent(o Outcome) {
	p, c := r.pending, r.core
	for {
		c.mu.Lock()
		if o.fault != nil && !p.decided { // it has not been in flight
			p.outcome, p.decided = o, true
		}
		if o.Decided() || p.decided || len(r.Outcome) > 0 || len(r.putOff) == 0 {
			break
		}
		c.mu.Unlock()
		o = r.attempt(r.sendAgain)
	}
	p.sending = false
	last := p.decided
	c.mu.Unlock()
	if last {
		r.over()
	}
}

// sendAgain sends the request anew when the server may take it.
func (r *Request) sendAgain() Outcome {
	why := <-r.putOff
	if r.Frame == nil { // only HTTP was to refuse anything
		return r.settled(r.backpressure(why))
	}
	return r.resend(r.pending.ctx, why)
}

// resume sends the request anew in a goroutine, if no other sends it. It is called with the core's mutex held, when the
// server has refused the request for now.
func (r *Request) resume() {
	if p := r.pending; !p.sending && !p.decided {
		p.sending = true
		r.core.goroutines.Go(func() { r.sent(r.attempt(r.sendAgain)) }) // ends when the request has been sent, or is over
	}
}

// decide notes the outcome of the request if that is no answer. It is called with the core's mutex held.
func (r *Request) decide(o Outcome) {
	p := r.pending
	if o.Message.Kind != 0 { // the goroutine that has read it goes on: see receive
		return
	}
	p.outcome, p.decided = o, true
	if !p.sending {
		r.core.goroutines.Go(r.over) // ends with what it leads to, for it may wait for either peer
	}
}

// receive takes the answer, in the goroutine that has read it.
func (r *Request) receive(m *jsonrpc.Message) {
	p := r.pending
	p.size = m.Size()
	p.fault = r.Decode(m)
	r.core.mu.Lock()
	p.decided = true
	last := !p.sending
	if !last {
		p.at = time.Now()
	}
	r.core.mu.Unlock()
	fault, to := p.fault, p.to
	if last {
		r.over()
	}
	to.Completed(fault)
}

// capture keeps an answer for the telemetry, before it is decoded in place.
func (r *Request) capture(answer []byte) {
	if r.pending == nil {
		r.Op.Answer(answer)
		return
	}
	r.pending.content = bytes.Clone(answer)
}

// over ends the operation of the request, and tells of an end that is no answer.
func (r *Request) over() {
	p := r.pending
	if p.stop != nil {
		p.stop()
	}
	if !p.outcome.Decided() {
		if !p.at.IsZero() {
			r.Op.AnsweredAt(p.at)
		}
		r.Op.Received(p.size)
		if p.content != nil {
			r.Op.Answer(p.content)
		}
		r.Op.End(r.Content.Ended(p.fault))
		return
	}
	usercode.Run(func() { r.inform(p.ctx, p.outcome) }, func(f *usercode.Failure) {
		r.core.transportFailed(r.Session.Epoch, f)
	})
	err := r.faultOf(p.ctx, p.outcome)
	r.Op.End(r.Content.Ended(err))
	p.to.Completed(err)
}

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

// Completion gets the end of a request made by [Request.Start].
type Completion interface {
	// Completed is called once, with the error of the request, or nil after the request's content has received a result.
	// After an answer, the goroutine that read the answer calls Completed, and reads no other message of the server before
	// Completed returns. For any other end, a goroutine that may wait for the server calls Completed.
	Completed(err *Fault)
}

// pending is the state of a request without a waiting goroutine. The operation ends when two conditions hold: no
// goroutine is sending the request, and the outcome is known. The later of the two ends the operation, because a server
// may answer before the transport reports that it has accepted the request.
type pending struct {
	to   Completion
	ctx  context.Context
	stop func() bool // stops watching ctx; nil before the watch starts

	sending bool // guarded by the core's mutex; a goroutine is sending the request
	decided bool // guarded by the core's mutex; the outcome is known

	// The goroutine that decides writes these fields before it sets decided.

	outcome Outcome   // without the message, which the content has consumed
	fault   *Fault    // the error of an answer; nil for a result
	at      time.Time // arrival of an answer during sending; zero otherwise
	size    int       // size of an answer in bytes
	content []byte    // captured content of an answer; nil for none
}

// Start makes the request without a goroutine that waits for the answer, and reports the end of the request to to. It
// returns when the transport has accepted the request or the request has ended. The end of ctx ends the request, until
// the answer arrives.
func (r *Request) Start(ctx context.Context, to Completion) {
	r.allow(cmp.Or(r.Timeout, r.core.Settings.RequestTimeout))
	ctx = r.begin(ctx, r.Content.About())
	r.pending = &pending{to: to, ctx: ctx, sending: true}
	o := r.attempt(func() Outcome { return r.start(ctx) })
	if !o.Decided() {
		r.pending.stop = context.AfterFunc(ctx, r.leave)
		if !r.Session.OverHTTP && !r.Content.Harmless() {
			r.Frame = nil // it is never sent again
		}
	}
	r.attended()
	r.sent(o)
}

// attempt calls send, which calls the transport. If the transport panics, the connection fails.
func (r *Request) attempt(send func() Outcome) (o Outcome) {
	usercode.Run(func() { o = send() }, func(f *usercode.Failure) {
		lost := fmt.Errorf("%w: %w", ErrConnectionLost, f)
		r.Accepted = true // possibly
		r.core.transportFailed(r.Session.Epoch, f)
		o = r.settled(&Fault{Kind: KindTransport, Op: r.Method, Cause: lost})
	})
	return o
}

// sent records that no goroutine is sending the request. If o is decided, it is the outcome. A request that the server
// refuses for now is first sent again.
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

// sendAgain sends the request again when the server may accept it.
func (r *Request) sendAgain() Outcome {
	why := <-r.putOff
	if r.Frame == nil { // only HTTP refuses requests
		return r.settled(r.backpressure(why))
	}
	return r.resend(r.pending.ctx, why)
}

// resume resends, in a goroutine, a request that the server has refused for now, unless another goroutine is already
// sending it. The core's mutex is held.
func (r *Request) resume() {
	if p := r.pending; !p.sending && !p.decided {
		p.sending = true
		r.core.goroutines.Go(func() { r.sent(r.attempt(r.sendAgain)) }) // ends when the request is sent or has ended
	}
}

// decide records an outcome that is not an answer. The core's mutex is held.
func (r *Request) decide(o Outcome) {
	p := r.pending
	if o.Message.Kind != 0 { // the goroutine that read the answer calls receive
		return
	}
	p.outcome, p.decided = o, true
	if !p.sending {
		r.core.goroutines.Go(r.over) // ends when both peers know of the end
	}
}

// receive decodes the answer, in the goroutine that read it.
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

// capture records the content of an answer before it is decoded in place.
func (r *Request) capture(answer []byte) {
	if r.pending == nil {
		r.Op.Answer(answer)
		return
	}
	r.pending.content = bytes.Clone(answer)
}

// over ends the operation of the request, and completes a request that ended without an answer.
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

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

// Completion gets the end of a request of [Request.Start].
type Completion interface {
	// Completed is called once, with the error of the request. err is nil if the request's content has received a result.
	// After an answer, the goroutine that read the answer calls Completed, and reads no other message of the server before
	// Completed returns. For any other end, a goroutine that may wait for the server calls Completed.
	Completed(err *Fault)
}

// pending is the state of a request without a waiting goroutine. The operation ends when two conditions hold: the
// outcome is known, and no goroutine is sending the request. Whichever goroutine makes the second condition true ends
// the operation. The order is open, because a server may answer before the transport reports that it has accepted the
// request.
type pending struct {
	to   Completion
	ctx  context.Context
	stop func() bool // stops watching ctx; nil before the watching starts

	sending bool // a goroutine is sending the request; guarded by the core's mutex
	decided bool // the outcome is known; guarded by the core's mutex

	// A goroutine writes these fields before it sets decided.

	outcome Outcome   // without the message, which the content has consumed
	fault   *Fault    // error of an answer; nil for a result
	at      time.Time // when an answer arrived during sending; zero otherwise
	size    int       // size of an answer, in bytes
	content []byte    // captured content of an answer; nil for none
}

// Start sends the request without a goroutine that waits for the answer, and calls to.Completed when the request has
// ended. Start returns when the transport has accepted the request or the request has ended. If ctx ends before the
// answer arrives, the request ends too.
func (r *Request) Start(ctx context.Context, to Completion) {
	r.allow(cmp.Or(r.Timeout, r.core.Settings.RequestTimeout))
	ctx = r.begin(ctx, r.Content.About())
	r.pending = &pending{to: to, ctx: ctx, sending: true}
	o := r.attempt(func() Outcome { return r.start(ctx) })
	if !o.Decided() {
		r.pending.stop = context.AfterFunc(ctx, r.leave)
		if !r.Session.OverHTTP && !r.Content.Harmless() {
			r.Frame = nil // the request is never sent again
		}
	}
	r.attended()
	r.sent(o)
}

// attempt calls send, which calls the transport. If the transport panics, the connection fails.
func (r *Request) attempt(send func() Outcome) (o Outcome) {
	usercode.Run(func() { o = send() }, func(f *usercode.Failure) {
		lost := fmt.Errorf("%w: %w", ErrConnectionLost, f)
		r.Accepted = true // the transport may have accepted it
		r.core.transportFailed(r.Session.Epoch, f)
		o = r.settled(&Fault{Kind: KindTransport, Op: r.Method, Cause: lost})
	})
	return o
}

// sent records that no goroutine is sending the request any more. A decided o is the outcome. If the server has refused
// the request for now, sent first sends the request again.
func (r *Request) sent(o Outcome) {
	p, c := r.pending, r.core
	for {
		c.mu.Lock()
		if o.fault != nil && !p.decided { // the request was never in flight
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

// sendAgain sends the request again as soon as the server may accept it.
func (r *Request) sendAgain() Outcome {
	why := <-r.putOff
	if r.Frame == nil { // the frame was dropped, because only HTTP servers refuse requests for now
		return r.settled(r.backpressure(why))
	}
	return r.resend(r.pending.ctx, why)
}

// resume sends a request again, in a new goroutine, after the server has refused it for now. If a goroutine is already
// sending it, resume does nothing. The caller holds the core's mutex.
func (r *Request) resume() {
	if p := r.pending; !p.sending && !p.decided {
		p.sending = true
		// the goroutine ends when the request was sent or has ended
		r.core.goroutines.Go(func() { r.sent(r.attempt(r.sendAgain)) })
	}
}

// decide records an outcome that is not an answer. The caller holds the core's mutex.
func (r *Request) decide(o Outcome) {
	p := r.pending
	if o.Message.Kind != 0 { // the goroutine that read the answer calls receive instead
		return
	}
	p.outcome, p.decided = o, true
	if !p.sending {
		r.core.goroutines.Go(r.over) // the goroutine ends when server and caller know of the end
	}
}

// receive decodes the answer. It runs in the goroutine that read the answer.
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

// over ends the operation of the request. If the request ended without an answer, over also calls Completed.
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

package conn

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/usercode"
)

// Passed is the [Content] of a request that the client makes for another peer: see [Request.Pass].
type Passed interface {
	Content
	// Heard looks at the answer, in the goroutine that has read it, and says how the operation ends.
	Heard(m *jsonrpc.Message) instrument.Result
	// Answered passes on what Heard has looked at, behind it in the same goroutine: nothing else is read meanwhile.
	Answered()
	// Failed hears, in any goroutine, that there is no answer.
	Failed(err *Fault)
}

// passing is the part of a request for whose answer no goroutine waits. The goroutine that sends it has it first. An
// answer, the end of its ctx or of the connection, or a deadline decides how it ends; what has decided ends the
// operation as well, or leaves that to the goroutine that is still sending.
type passing struct {
	to    Passed
	ctx   context.Context
	state atomic.Int32
	stop  func() bool // forgets ctx; nil before there is something to forget

	// Written by what has decided.
	outcome Outcome
	decided time.Time // if the goroutine that sends ends it
	size    int       // of the answer, in bytes
	tool    int       // of a tool's result, in bytes
	content []byte
	result  instrument.Result
}

// The states of a request that is passed on.
const (
	passSending int32 = iota // a goroutine sends it
	passWaiting              // for its answer
	passDecided              // the one that decided it ends it
	passLeft                 // the one that sends it ends it
)

// Pass makes the request for another peer, without a goroutine that waits for the answer. It returns when the request
// is on its way, or cannot be sent. It waits for a session until by, and for room in the transport. ctx ends the
// request, until its answer has come, and its cause is told to the server.
func (r *Request) Pass(ctx context.Context, to Passed, by time.Time) {
	r.Content, r.Wait, r.WaitForRoom = to, true, true
	r.allow(cmp.Or(r.Timeout, r.core.Settings.RequestTimeout))
	ctx = r.begin(ctx, to.About())
	r.passing = &passing{to: to, ctx: ctx}
	var o Outcome
	var err *Fault
	if ctx.Err() != nil {
		err = r.left(ctx)
	} else if err = r.takeBy(ctx, by); err == nil {
		o, err = r.attempt(func() (Outcome, *Fault) { return r.launch(ctx) })
		if err == nil && !o.Decided() {
			r.passing.stop = context.AfterFunc(ctx, r.leavePassed)
			if !r.Session.OverHTTP && !to.Harmless() {
				r.Frame = nil // it is not sent again
			}
		}
	}
	r.sent(o, err)
}

// attempt sends the request by send, which calls the transport. If that fails, so has the connection.
func (r *Request) attempt(send func() (Outcome, *Fault)) (o Outcome, err *Fault) {
	usercode.Run(func() { o, err = send() }, func(f *usercode.Failure) {
		r.Accepted = true // perhaps
		r.core.transportFailed(r.Session.Epoch, f)
		lost := fmt.Errorf("%w: %w", ErrConnectionLost, f)
		o, err = r.settled(&Fault{Kind: KindTransport, Op: r.Method, Cause: lost})
	})
	return o, err
}

// sent lets the request wait for its answer, unless it has one by now, or none will come. What the server has refused
// for now is sent again.
func (r *Request) sent(o Outcome, err *Fault) {
	p := r.passing
	for err == nil && p.state.CompareAndSwap(passSending, passWaiting) {
		if o.Decided() || len(r.putOff) == 0 || !p.state.CompareAndSwap(passWaiting, passSending) {
			return
		}
		o, err = r.attempt(r.sendAgain)
	}
	r.over(err)
}

// sendAgain sends the request anew when the server may take it.
func (r *Request) sendAgain() (Outcome, *Fault) {
	why := <-r.putOff
	r.Accepted = false
	r.Seen = r.Seen || !why.Unsent
	if r.Frame == nil { // only HTTP was to refuse anything
		return r.settled(r.backpressure(why))
	}
	o, err, done := r.retry(r.passing.ctx, why)
	if !done {
		o, err = r.send(r.passing.ctx)
	}
	return o, err
}

// passesAgain hears that the server has refused the request for now. It is called with the core's mutex held.
func (r *Request) passesAgain() {
	if r.passing.state.CompareAndSwap(passWaiting, passSending) {
		r.core.goroutines.Go(func() { r.sent(r.attempt(r.sendAgain)) }) // ends when the request has been sent, or is over
	}
}

// leavePassed hears that ctx has ended.
func (r *Request) leavePassed() {
	c := r.core
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, mine := c.calls.Abandon(r.ID, time.Now(), inflight.Cancelled); mine {
		r.finish(Outcome{Cause: inflight.Cancelled})
		c.settleUp()
	}
}

// passes hears the outcome of the request, and returns what the goroutine that sends it gets to see of that. An answer
// is passed on by the goroutine that has read it. It is called with the core's mutex held.
func (r *Request) passes(o Outcome) Outcome {
	if o.Cause == 0 {
		return Outcome{Message: jsonrpc.Message{Kind: o.Message.Kind}} // the frame is not the request's
	}
	r.core.goroutines.Go(func() { // ends with what it leads to, for it may wait for either peer
		r.passing.outcome = o
		if r.passing.decide() {
			r.over(nil)
		}
	})
	return o
}

// pass passes on the answer to the request, in the goroutine that has read it.
func (r *Request) pass(m *jsonrpc.Message) {
	p := r.passing
	if p.size = m.Size(); r.Op.Captures() && m.Check() == nil {
		p.content = bytes.Clone(m.Middle())
	}
	p.result = p.to.Heard(m)
	if p.decide() {
		r.over(nil)
	}
	p.to.Answered()
}

// ToolResult hears, while the answer is looked at, that a tool's result has this size.
func (r *Request) ToolResult(bytes int) { r.passing.tool = bytes }

// decide notes that it is known how the request ends, and reports whether the caller ends its operation.
func (p *passing) decide() bool {
	for {
		switch {
		case p.state.CompareAndSwap(passWaiting, passDecided):
			p.decided = time.Time{}
			return true
		case p.left():
			return false
		}
	}
}

// left leaves the end to the goroutine that is sending, and notes when it was: the peer that asked hears at once.
func (p *passing) left() bool {
	if p.state.Load() != passSending {
		return false
	}
	p.decided = time.Now()
	return p.state.CompareAndSwap(passSending, passLeft)
}

// over ends the operation of the request, which err has ended, if it is not nil, or what has decided it.
func (r *Request) over(err *Fault) {
	p := r.passing
	if p.stop != nil {
		p.stop()
	}
	switch o := p.outcome; {
	case err != nil:
	case o.Cause == 0:
		if !p.decided.IsZero() {
			r.Op.AnsweredAt(p.decided)
		}
		r.Op.Received(p.size)
		if p.content != nil {
			r.Op.Answer(p.content)
		}
		if p.tool > 0 {
			r.Op.Result(p.tool)
		}
		r.Op.End(p.result)
		return
	case o.Cause == inflight.Cancelled:
		r.hangUp(func() { r.cancelUpstream(p.ctx, relay.ReasonOf(p.ctx)) })
		err = r.left(p.ctx)
	case o.Cause == inflight.Timeout:
		r.hangUp(func() { r.cancelUpstream(p.ctx, "timeout") })
		err = r.Failed(o)
	default:
		r.hangUp(func() { r.HangUp(o) })
		err = r.Failed(o)
	}
	r.Op.End(p.to.Ended(err))
	p.to.Failed(err)
}

// hangUp calls f, which tells the server that the request is over. If the transport fails in that, so has the
// connection.
func (r *Request) hangUp(f func()) {
	usercode.Run(f, func(failure *usercode.Failure) { r.core.transportFailed(r.Session.Epoch, failure) })
}

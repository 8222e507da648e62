package conn

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// fact holds the data of an event that the machine does not need. A nil fact is empty.
type fact struct {
	err       error              // why a connection failed
	session   *Session           // the negotiated session
	call      *Request           // request that the response answers
	message   *jsonrpc.Message   // the response
	violation *jsonrpc.Violation // violation in the frame

	request   int64                   // ID of a single request that has failed
	failed    *transport.RequestError // why request failed, if the transport reported it
	cancelled *CancelledByServer      // why request failed, if the server cancelled it
}

// Start starts the machine.
func (c *Conn) Start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	var effects []machine.Effect
	c.m, effects = c.Settings.machine.Start(now)
	for _, e := range effects {
		c.apply(e, &fact{}, now)
	}
	c.arm()
}

// step passes an event to the machine and carries out its effects. It returns false if the event has no meaning in the
// present state. The state changes only here. step holds the mutex while it carries out effects, so that the changes of
// the state, of the calls in flight and of the waiters are atomic. None of these effects blocks. Effects that call user
// code, telemetry or the connection are left to the caller: step returns the list of all effects.
func (c *Conn) step(in machine.Input, f *fact) ([]machine.Effect, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stepLocked(in, f)
}

func (c *Conn) stepLocked(in machine.Input, f *fact) ([]machine.Effect, bool) {
	if f == nil {
		f = &fact{}
	}
	if in.Now.IsZero() {
		in.Now = time.Now()
	}
	in.Jitter = rand.Float64()
	before := c.m
	next, effects, ok := c.Settings.machine.Step(before, in)
	if !ok {
		return nil, false
	}
	c.m = next
	if t, moved := before.Transition(next); moved {
		c.moved(t, f.err, in.Now)
	}
	for _, e := range effects {
		c.apply(e, f, in.Now)
	}
	c.settleUp()
	return effects, true
}

// apply carries out one effect. Some effects of a frame or a call are left to the goroutine of that frame or call.
func (c *Conn) apply(e machine.Effect, f *fact, now time.Time) {
	switch e {
	case machine.Dial:
		c.dial()
	case machine.HangUp:
		c.hangUp(f.err)
	case machine.StoreSession:
		c.session = f.session
		c.session.First = c.m.Session == 1
		c.knownEra, c.probeLost, c.lastErr = f.session.Version.Era(), false, nil
		if f.session.guessed {
			c.knownEra = 0
		}
	case machine.ReportCause:
		c.refusal = c.lastErr
	case machine.Deliver:
		c.calls.Settle(f.call.ID)
		f.call.finish(Outcome{Message: *f.message})
	case machine.FailOwn:
		c.failOwn(f, now)
	case machine.FailLost:
		if f.failed != nil {
			c.failOwn(f, now)
		}
		c.failAll(inflight.Lost, now)
	case machine.FailProtocol:
		c.failAll(inflight.Protocol, now)
	case machine.FailShutdown:
		c.failAll(inflight.Shutdown, now)
	case machine.ReplyTimeout:
		c.calls.Expire(now, func(_ int64, r *Request) { r.finish(Outcome{Cause: inflight.Timeout}) })
	case machine.Sweep:
		c.calls.Sweep(now)
	case machine.End:
		c.end()

	case machine.Negotiate:
		c.conn.epoch = c.m.Epoch
	case machine.ReleaseWaiters: // moved has already notified the waiters
	case machine.Pull, machine.ReportViolation, machine.Drop, machine.Enqueue, machine.Serve, machine.Resubscribe:
		// carried out by the goroutine of the connection
	case machine.Admit, machine.RefuseOrWait, machine.RefuseShutdown, machine.RetrySend, machine.Abandon,
		machine.CancelUpstream, machine.ReplyCause:
		// carried out by the goroutine of the caller
	default:
		panic("mcpclient: no code carries out the effect " + e.String())
	}
}

// failAll fails every call in flight. No frame is routed before the last call has failed, because routing needs the
// mutex.
func (c *Conn) failAll(cause inflight.Cause, now time.Time) {
	err := c.lastErr
	c.calls.FailAll(now, cause, func(_ int64, r *Request) { r.finish(Outcome{Cause: cause, err: err}) })
}

// failOwn fails one call: the call that an unusable frame should have answered, or a call that will get no answer.
func (c *Conn) failOwn(f *fact, now time.Time) {
	o := Outcome{Cause: inflight.Lost, failed: f.failed}
	id := f.request
	switch v := f.violation; {
	case v != nil && !v.Response:
		return
	case v != nil:
		id, _ = v.ID.Int()
		o = Outcome{Cause: inflight.Protocol, err: v}
	case f.cancelled != nil:
		o = Outcome{Cause: inflight.Protocol, err: f.cancelled}
	}
	if r, ok := c.calls.Abandon(id, now, o.Cause); ok {
		r.finish(o)
	}
}

// dial starts the goroutine of the next connection.
func (c *Conn) dial() {
	l := newOpenLink(c, c.m.Epoch)
	c.conn = l
	c.goroutines.Go(func() { l.run() })
}

// hangUp makes the goroutine of the connection close the connection. If the client is closing, hangUp also starts a
// goroutine that waits until no connection is open and then reports that to the machine.
func (c *Conn) hangUp(why error) {
	closing := c.m.State == connstate.Closing
	if why == nil && closing {
		why = ErrShutdown
	}
	if c.conn != nil {
		c.conn.leave(why)
	}
	c.conn = nil
	if !closing {
		return
	}
	c.goroutines.Go(func() {
		if c.acquire(c.Base.Done()) {
			c.release()
			c.step(machine.Input{Event: machine.TransportClosed}, nil)
		}
	})
}

// acquire waits until no connection is open. It returns false if giveUp is closed first.
func (c *Conn) acquire(giveUp <-chan struct{}) bool {
	for {
		freed, ok := c.tryAcquire(giveUp)
		if freed == nil {
			return ok
		}
		select {
		case <-freed:
		case <-giveUp:
		}
	}
}

// tryAcquire acquires the right to open a connection. It fails if giveUp is closed. If a connection is still open,
// tryAcquire returns a channel that is closed when a retry may succeed. hangUp holds the same mutex, so a connection
// that was given up never acquires this right.
func (c *Conn) tryAcquire(giveUp <-chan struct{}) (freed <-chan struct{}, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-giveUp:
		return nil, false
	default:
	}
	if !c.open {
		c.open = true
		return nil, true
	}
	return c.freed.Next(), false
}

func (c *Conn) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = false
	c.freed.Send()
}

func (c *Conn) end() {
	if c.timer != nil {
		c.timer.Stop()
	}
	c.goroutines.Go(c.closeTelemetry)
	c.features.Ended()
	c.cancel()
}

// closeTelemetry waits until all records have been reported, including the records of a connection that is slow to
// close. Then it closes the telemetry.
func (c *Conn) closeTelemetry() {
	c.acquire(nil)
	c.release()
	c.teller.wait()
	c.Telemetry.Close()
}

// moved records a transition and notifies the callers that wait for its state.
func (c *Conn) moved(t connstate.Transition, err error, now time.Time) {
	if err != nil {
		c.lastErr = err
	}
	c.learn(t)
	if t.From == connstate.Ready && c.session != nil {
		c.session.in.alive.Stop()
		c.teller.note(record{sessionEnd: c.session, ended: now, err: err})
		c.session = nil
	}
	c.teller.note(record{transition: t, ref: c.attempt, err: err, delay: c.m.Deadline.Sub(now)})
	c.waiters = slices.DeleteFunc(c.waiters, func(w *waiter) bool { return w.hear(t.To) })
}

// learn draws conclusions about the server from a transition. If the server ended during the probe, the next attempt
// does not probe. If an attempt that relied on the known era has failed, the client forgets that era.
func (c *Conn) learn(t connstate.Transition) {
	switch {
	case t.Reason == connstate.ReasonProbeLost:
		c.probeLost = true
	case t.From == connstate.Initializing && t.To == connstate.Backoff:
		c.probeLost, c.knownEra = false, 0
	}
}

// settleUp updates the state that depends on the calls in flight. It is called after a change of these calls.
func (c *Conn) settleUp() {
	if n := c.calls.Tombstones(); n != c.buried {
		c.teller.note(record{tombstones: n - c.buried})
		c.buried = n
	}
	c.arm()
}

// arm sets the timer to the next due time: the machine's deadline, a call's deadline, or the sweep of tombstones. A
// timer that is set to an earlier time stays, because setting it again for each answered call would cost time. When it
// fires, tick finds nothing to do and calls arm again.
func (c *Conn) arm() {
	next := c.m.Deadline
	if due, ok := c.calls.Next(); ok && c.m.State != connstate.Closing && (next.IsZero() || due.Before(next)) {
		next = due
	}
	switch {
	case c.m.Ended || next.IsZero() || !c.armed.IsZero() && !next.Before(c.armed):
		return
	case c.timer == nil:
		c.timer = time.AfterFunc(time.Until(next), c.tick)
	default:
		c.timer.Reset(time.Until(next))
	}
	c.armed = next
}

// tick handles the deadlines that have passed. The timer calls it.
func (c *Conn) tick() {
	words := c.lastWords()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = time.Time{}
	now := time.Now()
	if due, ok := c.calls.NextDeadline(); ok && !now.Before(due) {
		c.stepLocked(machine.Input{Event: machine.CallTimeout}, nil)
	}
	if due, ok := c.calls.NextSweep(); ok && !now.Before(due) {
		c.stepLocked(machine.Input{Event: machine.SweepDue}, nil)
	}
	if !c.m.Deadline.IsZero() && !now.Before(c.m.Deadline) {
		c.stepLocked(machine.Input{Event: machine.Elapsed}, &fact{err: c.late(words)})
	}
	c.arm()
}

// probes reports whether the handshake begins with a probe.
func (c *Conn) probes() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(c.Settings.Modern) == 0:
		return false
	case len(c.Settings.Legacy) == 0:
		return true
	}
	return !c.probeLost && c.knownEra != mcp.Legacy
}

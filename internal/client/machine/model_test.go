package machine_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// client is the minimal code that runs a machine with a table of calls, in virtual time and without goroutines. It
// carries out effects, stores the undelivered answers, and records outcomes.
type client struct {
	policy machine.Policy
	m      machine.Machine
	table  *inflight.Table[*call, int64]
	now    time.Time
	chance float64

	issued int64    // the last ID
	calls  []*call  // every call ever made
	wire   []answer // answers that are not delivered yet
	trials []trial  // sends to be retried

	broken func(format string, args ...any) // called if an invariant does not hold
}

// request is the planned course of a call, if no other event intervenes.
type request struct {
	Timeout   time.Duration
	Answers   int           // number of answers: none, one, or several by mistake
	Delay     time.Duration // delay of the answers
	Misrouted bool          // the answers arrive over any present connection
	Busy      int           // number of attempts to send while the transport is busy
}

type call struct {
	request
	id       int64 // 0 if the call was never admitted
	outcomes []string
}

type answer struct {
	at    time.Time
	epoch uint64
	call  *call
}

type trial struct {
	at   time.Time
	call *call
}

const (
	most  = 50 // maximum number of calls in flight
	limit = 40 * time.Second
)

// newClient returns a ready client.
func newClient(broken func(string, ...any)) *client {
	c := &client{
		policy: machine.Defaults(),
		table:  inflight.New(inflight.Defaults(), func(cl *call) int64 { return cl.id }),
		now:    time.Date(2026, time.July, 28, 12, 0, 0, 0, time.UTC),
		broken: broken,
	}
	c.m, _ = c.policy.Start(c.now)
	c.connect()
	return c
}

// connect makes the client ready, if that is still possible.
func (c *client) connect() {
	if c.m.State == connstate.Backoff {
		c.pass(c.m.Deadline.Sub(c.now))
	}
	c.meet(machine.TransportUp, c.m.Epoch, nil)
	c.meet(machine.Negotiated, c.m.Epoch, nil)
}

func (c *client) call(r request) {
	if c.table.Len() == most {
		return
	}
	cl := &call{request: r}
	c.calls = append(c.calls, cl)
	c.meet(machine.UserCall, 0, cl)
}

func (c *client) cancel(cl *call) { c.meet(machine.CallerLeft, 0, cl) }

func (c *client) stop() { c.meet(machine.Stop, 0, nil) }

func (c *client) send(cl *call) {
	if cl.Busy > 0 {
		cl.Busy--
		c.meet(machine.SendBusy, 0, cl)
		return
	}
	for range cl.Answers {
		c.wire = append(c.wire, answer{c.now.Add(cl.Delay), c.m.Epoch, cl})
	}
}

func (c *client) receive(a answer) {
	epoch := a.epoch
	if a.call.Misrouted {
		epoch = c.m.Epoch
	}
	event := machine.ResponseUnknown
	switch _, class := c.table.Classify(a.call.id, c.now); class {
	case inflight.InFlight:
		event = machine.ResponseInFlight
	case inflight.Late:
		event = machine.ResponseLate
	case inflight.Unknown:
		c.broken("call %d was sent, but its id is unknown", a.call.id)
	}
	c.meet(event, epoch, a.call)
}

// meet steps the machine and carries out the effects.
func (c *client) meet(e machine.Event, epoch uint64, about *call) {
	next, effects, ok := c.policy.Step(c.m, machine.Input{
		Event: e, Epoch: epoch, Now: c.now, Jitter: c.chance, Launched: c.chance < 0.5,
	})
	if !ok {
		return
	}
	c.m = next
	for _, effect := range effects {
		c.apply(effect, about)
	}
	c.check()
}

func (c *client) apply(e machine.Effect, about *call) {
	switch e {
	case machine.Admit:
		c.issued++
		about.id = c.issued
		c.table.Add(about.id, c.now.Add(about.Timeout), about)
		c.send(about)
	case machine.RefuseOrWait:
		c.finish(about, "state")
	case machine.RefuseShutdown:
		c.finish(about, "shutdown")
	case machine.Deliver:
		if _, ok := c.table.Settle(about.id); !ok {
			c.broken("call %d: delivered, but not in flight", about.id)
		}
		c.finish(about, "result")
	case machine.RetrySend:
		c.retry(about)
	case machine.ReplyTimeout:
		c.table.Expire(c.now, func(_ int64, cl *call) { c.finish(cl, "timeout") })
	case machine.ReplyCause:
		if cl, ok := c.table.Abandon(about.id, c.now, inflight.Cancelled); ok {
			c.finish(cl, "cancelled")
		}
	case machine.FailLost:
		c.failAll(inflight.Lost)
	case machine.FailProtocol:
		c.failAll(inflight.Protocol)
	case machine.FailShutdown:
		c.failAll(inflight.Shutdown)
	case machine.Sweep:
		c.table.Sweep(c.now)
	}
}

func (c *client) retry(cl *call) {
	delay, again, ok := c.table.Busy(cl.id, c.chance)
	switch {
	case again:
		c.trials = append(c.trials, trial{c.now.Add(delay), cl})
	case ok:
		c.table.Settle(cl.id)
		c.finish(cl, "backpressure")
	}
}

func (c *client) failAll(why inflight.Cause) {
	c.table.FailAll(c.now, why, func(_ int64, cl *call) { c.finish(cl, why.String()) })
}

func (c *client) finish(cl *call, outcome string) {
	cl.outcomes = append(cl.outcomes, outcome)
	if len(cl.outcomes) > 1 {
		c.broken("call %d: got outcomes %q, want one", cl.id, cl.outcomes)
	}
}

// pass advances the time by d and carries out everything that becomes due.
func (c *client) pass(d time.Duration) {
	end := c.now.Add(d)
	for range 10_000 {
		due, happen := c.next()
		if happen == nil || due.After(end) {
			c.now = end
			return
		}
		if due.After(c.now) {
			c.now = due
		}
		happen()
	}
	c.broken("time stands still: something stays due in %+v", c.m)
}

// next returns the action that is due first, or nil.
func (c *client) next() (due time.Time, happen func()) {
	sooner := func(at time.Time, f func()) {
		if happen == nil || at.Before(due) {
			due, happen = at, f
		}
	}
	for i, a := range c.wire {
		sooner(a.at, func() {
			c.wire = slices.Delete(c.wire, i, i+1)
			c.receive(a)
		})
	}
	for i, r := range c.trials {
		sooner(r.at, func() {
			c.trials = slices.Delete(c.trials, i, i+1)
			if _, ok := c.table.Find(r.call.id); ok {
				c.send(r.call)
			}
		})
	}
	if !c.m.Deadline.IsZero() {
		sooner(c.m.Deadline, func() { c.meet(machine.Elapsed, 0, nil) })
	}
	if c.m.State == connstate.Closing {
		return due, happen // tombstones are no longer swept
	}
	if at, ok := c.table.NextDeadline(); ok {
		sooner(at, func() { c.meet(machine.CallTimeout, 0, nil) })
	}
	if at, ok := c.table.NextSweep(); ok {
		sooner(at, func() { c.meet(machine.SweepDue, 0, nil) })
	}
	return due, happen
}

// check asserts the invariants that always hold.
func (c *client) check() {
	pending := 0
	for _, cl := range c.calls {
		_, flying := c.table.Find(cl.id)
		if flying != (cl.id > 0 && len(cl.outcomes) == 0) {
			c.broken("call %d: in flight %v with outcomes %q", cl.id, flying, cl.outcomes)
		}
		if flying {
			pending++
		}
	}
	if pending != c.table.Len() {
		c.broken("%d calls pending, %d in flight", pending, c.table.Len())
	}
	if pending > 0 && c.m.State != connstate.Ready {
		c.broken("%d calls in flight in %v", pending, c.m.State)
	}
	if c.table.Tombstones() > len(c.calls)-pending {
		c.broken("%d tombstones of %d calls, %d of them in flight", c.table.Tombstones(), len(c.calls), pending)
	}
}

// checkEnd waits until everything has ended, and asserts that nothing is left: each call has its outcome, the table is
// empty, and no tombstone remains after the TTL and a sweep.
func (c *client) checkEnd() {
	c.pass(limit)
	for _, cl := range c.calls {
		if len(cl.outcomes) != 1 {
			c.broken("call %d: got outcomes %q, want one", cl.id, cl.outcomes)
		}
	}
	if c.table.Len() != 0 {
		c.broken("%d calls are still in flight", c.table.Len())
	}
	cfg := inflight.Defaults()
	c.pass(cfg.TTL)
	for _, cl := range c.calls {
		if stone, ok := c.table.Tombstone(cl.id, c.now); ok {
			c.broken("call %d: still remembered, %+v", cl.id, stone)
		}
	}
	c.pass(cfg.SweepInterval)
	if n := c.table.Tombstones(); n > 0 && !c.m.Ended {
		c.broken("%d tombstones are left after the last sweep", n)
	}
}

// history returns the outcomes of each call.
func (c *client) history() (out []string) {
	for i, cl := range c.calls {
		_, class := c.table.Classify(cl.id, c.now)
		out = append(out, fmt.Sprintf("call %d (id %d): %q, %v", i, cl.id, cl.outcomes, class))
	}
	return append(out, fmt.Sprintf("%+v", c.m))
}

package machine

import (
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Machine is the state of one client's connection. It is a value: copy it, compare it, put it into a test table.
type Machine struct {
	State connstate.State

	// Ended means that the client is done. State stays Closing, and only UserCall and Stop still have effects.
	Ended bool

	// Reason is why State was entered or, once Ended, why the client ended. It is Other at the start.
	Reason connstate.Reason

	// Probed means that this attempt has lost one connection to the probe; a second loss counts as TransportDown.
	Probed bool

	// Silent means that the server process was started in the first attempt and has sent no output yet.
	Silent bool

	// Renegotiated means that this connection has negotiated again because its session was gone, and has received
	// no answer to a call since. A second lost session counts as TransportDown.
	Renegotiated bool

	// Since is when State was entered or, once Ended, when the client ended.
	Since time.Time

	// Deadline is when Elapsed is due. It is zero in ready and after the end, when Elapsed is never due.
	Deadline time.Time

	// Epoch is increased by each new connection and by each new negotiation. Events of other epochs are stale.
	Epoch uint64

	// Session counts successful negotiations; 0 before the first.
	Session uint64

	// Attempt counts the attempts to connect since the connection was last ready, from 1. In ready it is the
	// successful attempt; in backoff it is the failed attempt, or 0 after a ready connection was lost. Dialling
	// again after a lost probe belongs to the same attempt.
	Attempt int

	// Delay is the length of the next backoff, before jitter. Each backoff doubles it. An answer to a call, or a
	// session that has lasted, resets it to the minimum; a successful handshake does not.
	Delay time.Duration
}

// Input is one event with its circumstances.
type Input struct {
	Event Event

	// Epoch is the connection's epoch if a connection caused the event, otherwise zero.
	Epoch uint64

	Now time.Time

	// Jitter is uniform in [0,1), a new number for each input.
	Jitter float64

	// Launched means that the transport has started the server process. It is set with TransportUp.
	Launched bool

	// Wait is the delay that the server asked for in a failure, zero if none. It can only lengthen the following
	// backoff.
	Wait time.Duration
}

// initial holds the first effects of a new machine.
var initial = do(Dial)

// Start returns a machine that starts its first attempt at now, with its first effects.
func (p Policy) Start(now time.Time) (Machine, []Effect) {
	return Machine{
		State:    starting,
		Since:    now,
		Deadline: now.Add(p.InitTimeout),
		Epoch:    1,
		Attempt:  1,
		Delay:    p.BackoffMin,
	}, initial
}

// Step returns the machine after in, and the effects. The effects belong to the table and must not be modified.
//
// If in has no meaning for m, because its epoch is stale, the deadline has not passed, or the client is done, ok
// is false and next is m. Every other event is defined, possibly without an effect. Step does not allocate.
func (p Policy) Step(m Machine, in Input) (next Machine, effects []Effect, ok bool) {
	if m.foreign(in) {
		return m, nil, false
	}
	c := &cells[m.State][m.judge(in.Event)]
	switch {
	case c.to == same:
		return p.stay(m, in), c.do, true
	case c.to == done:
		return m.end(in), c.do, true
	case c.to == backoff && p.spent(m):
		return p.enter(closing, m, connstate.ReasonRefused, in), c.givingUp, true
	default:
		return p.enter(c.to, m, in.Event.reason(m.State), in), c.do, true
	}
}

// Transition describes the move from m to next, one step later; ok is false if the state did not change.
func (m Machine) Transition(next Machine) (t connstate.Transition, ok bool) {
	if next.State == m.State && next.Ended == m.Ended {
		return connstate.Transition{}, false
	}
	return connstate.Transition{
		From:     m.State,
		To:       next.State,
		Reason:   next.Reason,
		Attempt:  next.Attempt,
		Epoch:    next.Epoch,
		Duration: next.Since.Sub(m.Since),
	}, true
}

// foreign reports whether in has no meaning for m.
func (m Machine) foreign(in Input) bool {
	switch {
	case m.Ended:
		return in.Event != UserCall && in.Event != Stop
	case in.Event.ofConnection():
		return in.Epoch != m.Epoch
	default:
		return in.Event == Elapsed && in.Now.Before(m.Deadline)
	}
}

// judge returns the event as which e counts: a second lost probe, or a second lost session, counts as
// TransportDown.
func (m Machine) judge(e Event) Event {
	if e == ProbeLost && m.Probed || e == SessionGone && m.Renegotiated {
		return TransportDown
	}
	return e
}

// spent reports whether the failing attempt was the last one allowed.
func (p Policy) spent(m Machine) bool {
	return m.Session == 0 && p.InitialAttempts > 0 && m.Attempt >= p.InitialAttempts
}

// stay returns m after an event that does not change its state.
func (p Policy) stay(m Machine, in Input) Machine {
	negotiating := m.State == starting || m.State == initializing
	switch {
	case in.Event == Held && negotiating:
		m.Deadline = in.Now.Add(p.AuthTimeout)
	case in.Event == Resumed && negotiating:
		m.Deadline = in.Now.Add(p.InitTimeout)
	case in.Event == Spoke && m.Silent:
		m.Silent, m.Deadline = false, in.Now.Add(p.InitTimeout)
	case in.Event == ResponseInFlight && m.State == ready:
		m.Renegotiated, m.Delay = false, p.BackoffMin
	case in.Event == ResponseOwn && m.State == ready:
		m.Renegotiated = false
	}
	return m
}

// enter returns m in state to.
func (p Policy) enter(to connstate.State, m Machine, why connstate.Reason, in Input) Machine {
	from := m.State
	if from == ready && p.lasted(in.Now.Sub(m.Since)) {
		m.Delay = p.BackoffMin
	}
	m.State, m.Reason, m.Since, m.Silent = to, why, in.Now, false
	switch to {
	case starting:
		m.Epoch++
		if from == backoff {
			m.Attempt++
		}
		m.Probed = from == initializing
		m.Renegotiated = false
		m.Deadline = in.Now.Add(p.InitTimeout)
	case initializing:
		if from == ready {
			m.Epoch++
			m.Attempt = 1
			m.Renegotiated = true
		}
		m.Deadline = in.Now.Add(p.InitTimeout)
		if in.Launched && m.Attempt == 1 && m.Session == 0 {
			m.Silent, m.Deadline = true, in.Now.Add(max(p.StartTimeout, p.InitTimeout))
		}
	case ready:
		m.Session++
		m.Probed = false
		m.Deadline = time.Time{}
	case backoff:
		if from == ready {
			m.Attempt = 0
		}
		delay := m.Delay
		if from == ready && p.AtOnce && delay == p.BackoffMin && delay < p.BackoffMax {
			delay = 0
		}
		m.Deadline = in.Now.Add(p.wait(delay, in.Wait, in.Jitter))
		m.Delay = p.longer(m.Delay)
	case closing:
		m.Deadline = in.Now.Add(p.CloseTimeout)
	}
	return m
}

// end returns m with Ended set.
func (m Machine) end(in Input) Machine {
	m.Ended, m.Reason, m.Since, m.Deadline = true, in.Event.reason(m.State), in.Now, time.Time{}
	return m
}

package machine

import (
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Machine is the state of one client's connection. It is a plain value: it can be copied, compared and put into a test
// table.
type Machine struct {
	State connstate.State

	// Ended means that the client has ended. State stays Closing, and only UserCall and Stop still have effects.
	Ended bool

	// Reason is the reason why State was entered or, if Ended is set, why the client ended. It is Other at the start.
	Reason connstate.Reason

	// Probed means that this attempt has already lost one connection during the probe. A second loss counts as
	// TransportDown.
	Probed bool

	// Silent means that the server process was started in the first attempt and has sent no output yet.
	Silent bool

	// Renegotiated means that this connection has negotiated again because the server had forgotten its session, and no
	// call has been answered since. If the server forgets the new session too, that counts as TransportDown.
	Renegotiated bool

	// Since is the time when State was entered or, if Ended is set, when the client ended.
	Since time.Time

	// Deadline is the time when Elapsed is due. It is zero in ready and after the end, when Elapsed is never due.
	Deadline time.Time

	// Epoch increases with each new connection and with each new negotiation. Events of other epochs are stale.
	Epoch uint64

	// Session is the number of successful negotiations so far.
	Session uint64

	// Attempt is the number of the present attempt to connect since the connection was last ready, counted from 1. In
	// ready, it is the number of the successful attempt. In backoff, it is the number of the failed attempt, or 0 after a
	// ready connection was lost. Dialling again after a lost probe belongs to the same attempt.
	Attempt int

	// Delay is the length of the next backoff, before jitter. Each backoff doubles it. An answer to a call, or a session
	// that has lasted, resets it to the minimum. A successful handshake does not reset it.
	Delay time.Duration
}

// Input is one event with the data that the machine needs.
type Input struct {
	Event Event

	// Epoch is the epoch of the connection that caused the event; zero if no connection did.
	Epoch uint64

	Now time.Time

	// Jitter is a random number, uniform in [0,1), and different for each input.
	Jitter float64

	// Launched means that the transport has started the server process. It is set only with TransportUp.
	Launched bool

	// Wait is the delay that the server requested in a failure; zero if none. It can only lengthen the following backoff.
	Wait time.Duration
}

// initial holds the first effects of a new machine.
var initial = do(Dial)

// Start returns a machine that starts its first attempt at now. It also returns the first effects of the machine.
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

// Step returns the machine after the input, and the effects. The effects belong to the table and must not be modified.
//
// If the input has no meaning for m, because its epoch is stale, the deadline has not passed, or the client has ended,
// ok is false and next is m. Every other event is defined, possibly without an effect. Step does not allocate.
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

// Transition describes the move from m to next, which is the machine one step later. ok is false if the state did not
// change.
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

// foreign reports whether the input has no meaning for m.
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

// judge returns the event that e counts as: a second lost probe, or a second lost session, counts as TransportDown.
func (m Machine) judge(e Event) Event {
	if e == ProbeLost && m.Probed || e == SessionGone && m.Renegotiated {
		return TransportDown
	}
	return e
}

// spent reports whether the failing attempt was the last one that is allowed.
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

// enter returns m in a new state, which is the argument to.
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

package machine

import (
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Machine is the state of one client's connection. It is a value: copy it, compare it, put it into a test table.
type Machine struct {
	State connstate.State

	// Ended means that the client is done. State stays Closing, and only UserCall and Stop still mean something.
	Ended bool

	// Reason is why State was entered or, once Ended, why the client ended. It is Other at the start.
	Reason connstate.Reason

	// Probed means that this attempt has lost a connection to the probe. It may do so once.
	Probed bool

	// Silent means that the server is a process which was started in the first attempt and has not said anything yet.
	Silent bool

	// Renegotiated means that this connection has negotiated anew after its session had gone, and has had no answer to a
	// call since. It may do so once.
	Renegotiated bool

	// Since is when State was entered or, once Ended, when the client ended.
	Since time.Time

	// Deadline is when Elapsed is due. It is zero, and Elapsed never due, in ready and after the end.
	Deadline time.Time

	// Epoch numbers what was dialled or negotiated anew. Answers of other epochs are stale.
	Epoch uint64

	// Session numbers the successful negotiations; 0 before the first.
	Session uint64

	// Attempt numbers the attempts to connect since the connection was last ready: 1 is the first. In ready it is the
	// one that succeeded, in backoff the one that failed, or 0 if it was a ready connection that was lost. Dialling
	// again after a lost probe belongs to the same attempt.
	Attempt int

	// Delay is what the next backoff will wait, before jitter. Each backoff doubles it. A session brings it back to the
	// minimum by an answer to a call, or by having lasted; that a handshake succeeds is not enough.
	Delay time.Duration
}

// Input is one event and what a step needs to know of the world.
type Input struct {
	Event Event

	// Epoch is the epoch an event of a connection comes from. Other events leave it zero.
	Epoch uint64

	Now time.Time

	// Jitter is uniform in [0,1), drawn anew for each input.
	Jitter float64

	// Launched means that the connection is to a process that the transport has started. It comes with TransportUp.
	Launched bool

	// Wait is how long the server has asked to be left alone, if the event is a failure that says so. It makes the
	// backoff that follows longer, never shorter.
	Wait time.Duration
}

// initial is what a new machine is to do.
var initial = do(Dial)

// Start returns a machine that starts its first attempt at now, and what to do for it.
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

// Step returns the machine after in, and what to do. The effects belong to the table and must not be changed.
//
// When in means nothing to m, because it comes from a stale epoch, because the deadline has not passed, or because the
// client is done, ok is false and next is m. Everything else is defined, if only to do nothing. Step does not allocate.
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
		return p.enter(closing, m, connstate.Refused, in), c.givingUp, true
	default:
		return p.enter(c.to, m, in.Event.reason(m.State), in), c.do, true
	}
}

// Transition returns the record of the move from m to next, a step apart; ok is false if there was none.
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

// foreign reports whether in means nothing to m.
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

// judge returns the event as which e counts: what may happen once is an ended connection the second time.
func (m Machine) judge(e Event) Event {
	if e == ProbeLost && m.Probed || e == SessionGone && m.Renegotiated {
		return TransportDown
	}
	return e
}

// spent reports whether no further attempt is allowed after the one that fails.
func (p Policy) spent(m Machine) bool {
	return m.Session == 0 && p.InitialAttempts > 0 && m.Attempt >= p.InitialAttempts
}

// stay returns m after an event that leaves it in its state.
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

// end returns m done.
func (m Machine) end(in Input) Machine {
	m.Ended, m.Reason, m.Since, m.Deadline = true, in.Event.reason(m.State), in.Now, time.Time{}
	return m
}

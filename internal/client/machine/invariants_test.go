package machine

import (
	"slices"
	"testing"
	"time"
)

// link is the state of the transport's connection.
type link uint8

const (
	none link = iota
	dialled
	open
)

// world is the machine's environment after the machine's effects. It counts the same things as the machine, but
// independently.
type world struct {
	link   link
	pulled bool // a frame may be delivered
	flying bool // a call may be in flight
	stored bool // there is a session

	redialled    bool          // dialled again after a lost probe, since the last ready or backoff
	renegotiated bool          // negotiated again after a lost session, since the last dial
	delay        time.Duration // length of the next backoff
}

// step is one step with its inputs and results.
type step struct {
	t       *testing.T
	policy  Policy
	m, next Machine
	in      Input
	effects []Effect
	ok      bool
}

// check asserts the invariants of every step, and returns the world after the step.
func (s *step) check(w world) world {
	if !s.ok {
		s.checkMeaningless()
		return w
	}
	s.require(!s.stale(), "no event of a stale epoch counts")
	if s.m.Ended {
		s.require(s.next == s.m, "nothing follows the end")
	}
	w = s.carryOut(s.meet(w))
	s.checkSurroundings(w)
	s.checkCounters()
	s.checkDeadline()
	s.checkOnce(&w)
	s.checkBackoff(&w)
	s.checkMove()
	return w
}

// unscoped are the events that do not come from a connection.
var unscoped = on(CallTimeout, CallerLeft, SendBusy, SweepDue, UserCall, Elapsed, Idle, Stop, TransportClosed)

func (s *step) stale() bool { return !unscoped.has(s.in.Event) && s.in.Epoch != s.m.Epoch }

func (s *step) checkMeaningless() {
	early := s.in.Event == Elapsed && s.in.Now.Before(s.m.Deadline)
	over := s.m.Ended && s.in.Event != UserCall && s.in.Event != Stop
	s.require(s.stale() || early || over, "every event that is not stale, early or after the end is defined")
	s.require(s.next == s.m && s.effects == nil, "what means nothing changes nothing")
}

// meet returns the world in which the event has happened and no effect has been carried out.
func (s *step) meet(w world) world {
	connected := s.m.State == initializing || s.m.State == ready
	switch s.in.Event {
	case TransportUp:
		if s.m.State == starting {
			w.link = open
		}
	case FrameInvalid, InvalidStreak, FrameTooLarge, FrameSkipped, RequestFailed,
		ResponseInFlight, ResponseOwn, ResponseLate, ResponseUnknown, Notification, Request:
		if connected {
			s.require(w.pulled, "a frame that comes was asked for")
			w.pulled = false
		}
	case Negotiated, SessionGone:
		if connected && len(s.effects) > 0 {
			w.pulled = false
		}
	}
	return w
}

// carryOut checks the effects and returns the world after them.
func (s *step) carryOut(w world) world {
	for _, e := range s.effects {
		switch e {
		case Dial:
			s.require(w.link == none, "at most one connection is alive")
			s.require(s.next.State == starting, "only starting dials")
			w.link = dialled
		case Negotiate:
			s.require(w.link == open, "negotiation has a connection")
			s.require(s.next.State == initializing, "only initializing negotiates")
		case Pull:
			s.require(w.link == open && !w.pulled, "one frame is asked for at a time")
			w.pulled = true
		case HangUp:
			s.require(w.link != none || s.in.Event == Stop || s.in.Event == Idle, "what is hung up was open")
			w.link, w.pulled = none, false
		case StoreSession:
			w.stored = true
		case FailLost, FailProtocol, FailShutdown:
			w.flying, w.stored = false, false
		case Admit:
			w.flying = true
		case ReportCause:
			s.require(s.next.State == closing, "a cause is reported when there is no way on")
		case End:
			s.require(s.next.Ended && !s.m.Ended, "the end comes once")
		}
	}
	return w
}

// checkSurroundings asserts that the world fits the state.
func (s *step) checkSurroundings(w world) {
	connected := s.next.State == initializing || s.next.State == ready
	s.require(connected == (w.link == open), "initializing and ready have a connection, and no other state has")
	s.require(connected == w.pulled, "a frame is asked for in initializing and ready, and in no other state")
	s.require((s.next.State == starting) == (w.link == dialled), "starting has dialled, and no other state has")
	s.require(!w.flying || s.next.State == ready, "calls are in flight in ready only")
	s.require(w.stored == (s.next.State == ready), "a session is kept in ready only")
	if s.m.State == closing {
		s.require(s.next.State == closing, "no state follows closing")
	}
	if s.m.State == ready && s.next.State != ready {
		s.require(s.fails(), "a step out of ready fails what is in flight")
	}
	if s.next.State == closing && s.m.State != closing {
		s.require(s.does(FailShutdown) || s.does(ReportCause), "those who wait hear of the closing")
	}
	s.require(s.does(End) == (s.next.Ended && !s.m.Ended), "the end is marked when it comes")
}

func (s *step) checkCounters() {
	sessions := s.next.Session - s.m.Session
	s.require((sessions == 1) == s.does(StoreSession) && sessions <= 1, "each negotiation makes one session")
	s.require((sessions == 1) == (s.in.Event == Negotiated && s.m.State == initializing), "nothing else makes one")
	epochs := s.next.Epoch - s.m.Epoch
	anew := s.does(Dial) || s.does(Negotiate) && s.m.State == ready
	s.require(epochs <= 1 && (epochs == 1) == anew, "what is dialled or negotiated anew has the next epoch")
	if limit := s.policy.InitialAttempts; limit > 0 && s.next.Session == 0 {
		s.require(s.next.Attempt <= limit, "no attempt is made beyond the limit")
	}
	switch {
	case s.m.State == backoff && s.next.State == starting:
		s.require(s.next.Attempt == s.m.Attempt+1, "each dial after a backoff is the next attempt")
	case s.m.State == ready && s.next.State == backoff:
		s.require(s.next.Attempt == 0, "a lost connection starts counting anew")
	case s.m.State == ready && s.next.State == initializing:
		s.require(s.next.Attempt == 1, "a lost session starts counting anew")
	default:
		s.require(s.next.Attempt == s.m.Attempt, "nothing else is an attempt")
	}
}

func (s *step) checkDeadline() {
	if s.next.State == ready || s.next.Ended {
		s.require(s.next.Deadline.IsZero(), "nothing is due in ready and after the end")
		return
	}
	wait := s.next.Deadline.Sub(s.in.Now)
	if s.next.State == s.m.State {
		switch {
		case s.negotiates() && s.in.Event == Held:
			s.require(wait == s.policy.AuthTimeout, "an authorization has its own timeout")
		case s.m.Silent && s.in.Event == Spoke:
			s.require(wait == s.policy.InitTimeout, "what follows the first word has the init timeout")
		case s.negotiates() && s.in.Event == Resumed:
			s.require(wait == s.policy.InitTimeout, "what follows an authorization has the init timeout")
		default:
			s.require(s.next.Deadline.Equal(s.m.Deadline), "what else happens within a state does not prolong it")
		}
		return
	}
	switch s.next.State {
	case initializing:
		first := s.in.Launched && s.next.Attempt == 1 && s.next.Session == 0
		s.require(s.next.Silent == first, "a process is starting in the first attempt only")
		if first {
			s.require(wait == max(s.policy.StartTimeout, s.policy.InitTimeout),
				"a process that is starting has the start timeout")
			return
		}
		fallthrough
	case starting:
		s.require(wait == s.policy.InitTimeout, "connecting has the init timeout")
	case closing:
		s.require(wait == s.policy.CloseTimeout, "closing has the close timeout")
	}
}

// checkOnce asserts that a lost probe and a lost session are retried without a delay the first time, and with a backoff
// after that.
func (s *step) checkOnce(w *world) {
	if s.m.State == initializing && s.in.Event == ProbeLost {
		s.require(s.next.State == starting != w.redialled, "a lost probe is dialled again once in an attempt")
		w.redialled = true
	}
	if s.m.State == ready && s.in.Event == SessionGone {
		s.require(s.next.State == initializing != w.renegotiated, "a lost session is negotiated anew once before an answer")
		w.renegotiated = true
	}
	if s.does(Dial) || s.does(Deliver) {
		w.renegotiated = false
	}
	if s.next.State == ready || s.next.State == backoff {
		w.redialled = false
	}
}

// checkBackoff asserts that the delays double from one failure to the next. Only a session that has answered a call of
// the user, or has lasted, may reset them.
func (s *step) checkBackoff(w *world) {
	if s.m.State == ready {
		lived := s.in.Now.Sub(s.m.Since)
		switch {
		case s.next.State == ready && s.does(Deliver) && s.in.Event != ResponseOwn:
			w.delay = s.policy.BackoffMin
		case s.next.State != ready && lived >= s.policy.BackoffMax:
			w.delay = s.policy.BackoffMin
		}
	}
	if s.next.State == backoff && s.m.State != backoff {
		wait, want := s.next.Deadline.Sub(s.in.Now), w.delay
		switch {
		case s.in.Jitter == 0:
			want /= 2
		case s.in.Jitter > 0.5:
			want = want * 3 / 2
		}
		asked := s.in.Wait + time.Duration(float64(min(s.in.Wait, s.policy.BackoffMax))*s.in.Jitter/2)
		want = max(want, min(asked, s.policy.WaitMax))
		s.require((wait-want).Abs() < time.Microsecond,
			"a backoff has the length that its position and the jitter determine, or that the server requests")
		w.delay = min(2*w.delay, s.policy.BackoffMax)
	}
	s.require(s.next.Delay == w.delay, "only a session that proves itself resets the backoff, only backoff prolongs it")
}

func (s *step) checkMove() {
	t, ok := s.m.Transition(s.next)
	s.require(ok == (s.next.State != s.m.State || s.next.Ended != s.m.Ended), "every move is recorded, and nothing else")
	if !ok {
		s.checkStay()
		return
	}
	s.require(s.next.Since.Equal(s.in.Now), "a state is entered now")
	s.require(t.From == s.m.State && t.To == s.next.State, "the record names the states")
	s.require(t.Reason == s.next.Reason && t.Reason.String() != "_OTHER", "the record names the reason")
	s.require(t.Epoch == s.next.Epoch && t.Attempt == s.next.Attempt, "the record counts as the machine does")
	s.require(t.Duration == s.in.Now.Sub(s.m.Since), "the record says how long the state lasted")
}

// checkStay asserts that an event without a transition changes only the fields that are checked elsewhere.
func (s *step) checkStay() {
	rest := s.next
	if s.negotiates() && (s.in.Event == Held || s.in.Event == Resumed) {
		rest.Deadline = s.m.Deadline
	}
	if s.m.Silent && s.in.Event == Spoke {
		s.require(!s.next.Silent, "a server that has spoken is silent no more")
		rest.Silent, rest.Deadline = true, s.m.Deadline
	}
	if s.does(Deliver) {
		rest.Renegotiated, rest.Delay = s.m.Renegotiated, s.m.Delay
	}
	s.require(rest == s.m, "what does not move changes nothing")
	s.require(!s.does(Deliver) || !s.next.Renegotiated, "a session that answers a call has proved itself")
}

func (s *step) negotiates() bool { return s.m.State == starting || s.m.State == initializing }

func (s *step) does(e Effect) bool { return slices.Contains(s.effects, e) }

func (s *step) fails() bool { return s.does(FailLost) || s.does(FailProtocol) || s.does(FailShutdown) }

func (s *step) require(held bool, promise string) {
	if !held {
		s.t.Errorf("broken: %s\nfrom %+v\non   %v epoch %d at %v with chance %v\ngot  %+v\ndo   %v, ok %v",
			promise, s.m, s.in.Event, s.in.Epoch, s.in.Now, s.in.Jitter, s.next, s.effects, s.ok)
	}
}

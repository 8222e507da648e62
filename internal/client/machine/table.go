package machine

import "github.com/mcpotel/mcpotel/mcpclient/connstate"

// Short names of the states, for the table.
const (
	starting     = connstate.Starting
	initializing = connstate.Initializing
	ready        = connstate.Ready
	backoff      = connstate.Backoff
	closing      = connstate.Closing

	done connstate.State = 0xfe // there is no next state
	same connstate.State = 0xff // the state does not change
)

// table is the complete machine. Each row means: in each of these states, on each of these events, carry out these
// effects, then enter that state. Every pair of a state and an event is in exactly one row, even if it has no effect.
//
// Policy.enter applies the consequences of a new state for the deadline, the counters and the backoff. Policy.stay
// applies the few changes within a state: for example, an answer to a call resets the backoff to its minimum. Before
// the first session, if no further attempt is allowed, a row that leads to backoff leads to closing instead, and
// reports the cause.
var table = []row{
	// The connection is opened.
	{in(starting), on(TransportUp), do(Negotiate, Pull), initializing},
	{in(starting), on(OpenFailed), do(HangUp), backoff},
	{in(starting, initializing), on(Elapsed), do(HangUp), backoff},
	{in(starting, initializing), on(Refused), do(HangUp, ReportCause), closing},

	// The connection is negotiated. No call is in flight yet, so no response can answer a call.
	{in(initializing), on(Negotiated), do(StoreSession, Pull, Resubscribe, ReleaseWaiters), ready},
	{in(initializing), on(NegotiationFailed, TransportDown, SessionGone), do(HangUp), backoff},
	{in(initializing), on(ProbeLost), do(HangUp, Dial), starting},
	{in(starting, initializing), on(Held, Resumed), nothing, same},
	{in(initializing), on(Spoke), nothing, same},
	{in(initializing), on(ResponseInFlight, ResponseOwn, ResponseLate, ResponseUnknown), do(Drop, Pull), same},
	{in(initializing), on(Notification, Request), do(Drop, Pull), same},

	// The server breaks the protocol.
	{in(initializing), on(FrameInvalid), do(ReportViolation, Drop, Pull), same},
	{in(ready), on(FrameInvalid), do(ReportViolation, Drop, FailOwn, Pull), same},
	{in(initializing, ready), on(FrameTooLarge, InvalidStreak), do(ReportViolation, HangUp, FailProtocol), backoff},
	{in(initializing), on(FrameSkipped), do(ReportViolation, Pull), same},
	{in(ready), on(FrameSkipped), do(ReportViolation, FailOwn, Pull), same},

	// A single request fails.
	{in(initializing), on(RequestFailed), do(Drop, Pull), same},
	{in(ready), on(RequestFailed), do(FailOwn, Pull), same},

	// The server sends messages.
	{in(ready), on(ResponseInFlight, ResponseOwn), do(Deliver, Pull), same},
	{in(ready), on(ResponseLate, ResponseUnknown), do(Drop, Pull), same},
	{in(ready), on(Notification), do(Enqueue, Pull), same},
	{in(ready), on(Request), do(Serve, Pull), same},

	// Calls, and their failures.
	{in(ready), on(UserCall), do(Admit), same},
	{in(starting, initializing, backoff), on(UserCall), do(RefuseOrWait), same},
	{in(ready), on(CallTimeout), do(Abandon, CancelUpstream, ReplyTimeout), same},
	{in(ready), on(CallerLeft), do(Abandon, CancelUpstream, ReplyCause), same},
	{in(ready), on(SendBusy), do(RetrySend), same},
	{in(starting, initializing, ready, backoff), on(SweepDue), do(Sweep), same},

	// The connection is lost, and restored.
	{in(ready), on(TransportDown), do(FailLost, HangUp), backoff},
	{in(ready), on(SessionGone), do(FailLost, Negotiate, Pull), initializing},
	{in(backoff), on(Elapsed), do(Dial), starting},

	// The client ends.
	{in(starting, initializing, ready, backoff), on(Stop, Idle), do(FailShutdown, HangUp), closing},
	{in(closing), on(TransportClosed, Elapsed), do(End), done},
	{in(closing), on(UserCall), do(RefuseShutdown), same},
	{in(closing), on(Stop, Idle), nothing, same},
	{in(closing), otherThan(TransportClosed, Elapsed, UserCall, Stop, Idle), nothing, same},

	// Events of a connection that is not open are ignored.
	{in(starting, backoff), on(TransportDown, SessionGone), nothing, same},
	{in(starting, backoff), on(FrameInvalid, InvalidStreak, FrameTooLarge, FrameSkipped, RequestFailed), nothing, same},
	{in(starting, backoff), on(ResponseInFlight, ResponseOwn, ResponseLate, ResponseUnknown), nothing, same},
	{in(starting, backoff), on(Notification, Request), nothing, same},
	{in(starting, initializing, backoff), on(CallTimeout, CallerLeft, SendBusy), nothing, same},

	// Events that do not result from an effect of the state are ignored.
	{in(initializing, ready, backoff), on(TransportUp, OpenFailed), nothing, same},
	{in(starting, ready, backoff), on(Negotiated, NegotiationFailed, ProbeLost), nothing, same},
	{in(ready, backoff), on(Refused, Held, Resumed), nothing, same},
	{in(starting, ready, backoff), on(Spoke), nothing, same},
	{in(ready), on(Elapsed), nothing, same},
	{in(starting, initializing, ready, backoff), on(TransportClosed), nothing, same},
}

package machine

import "github.com/mcpotel/mcpotel/mcpclient/connstate"

// Event is what happened. Events from TransportUp to Request are those of one connection and carry its epoch; the
// others come from callers, the clock and the user and carry none.
type Event uint8

const (
	// TransportUp: the transport opened the connection that Dial asked for.
	TransportUp Event = iota
	// OpenFailed: the transport could not open it; another attempt may succeed.
	OpenFailed
	// Refused: opening or negotiating met a failure that no further attempt can change.
	Refused
	// Negotiated: the handshake succeeded; version and capabilities are valid.
	Negotiated
	// NegotiationFailed: the handshake was answered with an error or with something unusable.
	NegotiationFailed
	// ProbeLost: the connection ended on the modern era's probe; the same server may answer the legacy handshake.
	ProbeLost
	// TransportDown: the connection ended.
	TransportDown
	// SessionGone: the server no longer knows the session; the transport itself still works.
	SessionGone
	// FrameInvalid: a frame is not valid JSON, or not a valid message.
	FrameInvalid
	// InvalidStreak: the frame is invalid and so were too many before it, without a valid one between.
	InvalidStreak
	// FrameTooLarge: a frame exceeds the limit; the rest of it was not read.
	FrameTooLarge
	// FrameSkipped: a frame exceeds the limit and was skipped to its end, as the user asked for.
	FrameSkipped
	// RequestFailed: one request gets no answer, as its transport can tell, and the connection goes on.
	RequestFailed
	// Held: the handshake waits for an authorization, for which a person may need minutes.
	Held
	// Resumed: the handshake goes on after an authorization.
	Resumed
	// Spoke: the server, which is a process, has said something for the first time.
	Spoke
	// ResponseInFlight: a response to a call that is in flight.
	ResponseInFlight
	// ResponseOwn: a response to a call that is in flight and that the client makes by itself whenever a session begins.
	ResponseOwn
	// ResponseLate: a response to a call that has already had its outcome and is remembered.
	ResponseLate
	// ResponseUnknown: a response to no call that is in flight or remembered.
	ResponseUnknown
	// Notification: the server notified.
	Notification
	// Request: the server asked for something, as it may in the legacy era.
	Request

	// CallTimeout: the deadline of a call that is in flight passed.
	CallTimeout
	// CallerLeft: the context of a call that is in flight ended.
	CallerLeft
	// SendBusy: the transport had no room for the request of a call.
	SendBusy
	// SweepDue: it is time to look for tombstones that have expired.
	SweepDue
	// UserCall: the user makes a call.
	UserCall
	// Elapsed: the deadline of the machine passed.
	Elapsed
	// Stop: the user stops the client.
	Stop
	// TransportClosed: the client is closing and nothing is open any more.
	TransportClosed
)

// eventCount is one more than the last event.
const eventCount = TransportClosed + 1

// events gives each event its name and, where it can move the machine, the public word for that. What Elapsed means
// depends on the state it ends.
var events = [eventCount]struct {
	name string
	why  connstate.Reason
}{
	TransportUp:       {"TransportUp", connstate.TransportUp},
	OpenFailed:        {"OpenFailed", connstate.OpenFailed},
	Refused:           {"Refused", connstate.Refused},
	Negotiated:        {"Negotiated", connstate.Negotiated},
	NegotiationFailed: {"NegotiationFailed", connstate.NegotiationFailed},
	ProbeLost:         {"ProbeLost", connstate.ProbeLost},
	TransportDown:     {"TransportDown", connstate.TransportDown},
	SessionGone:       {"SessionGone", connstate.SessionGone},
	FrameInvalid:      {name: "FrameInvalid"},
	InvalidStreak:     {"InvalidStreak", connstate.InvalidStreak},
	FrameTooLarge:     {"FrameTooLarge", connstate.FrameTooLarge},
	FrameSkipped:      {name: "FrameSkipped"},
	RequestFailed:     {name: "RequestFailed"},
	Held:              {name: "Held"},
	Resumed:           {name: "Resumed"},
	Spoke:             {name: "Spoke"},
	ResponseInFlight:  {name: "ResponseInFlight"},
	ResponseOwn:       {name: "ResponseOwn"},
	ResponseLate:      {name: "ResponseLate"},
	ResponseUnknown:   {name: "ResponseUnknown"},
	Notification:      {name: "Notification"},
	Request:           {name: "Request"},
	CallTimeout:       {name: "CallTimeout"},
	CallerLeft:        {name: "CallerLeft"},
	SendBusy:          {name: "SendBusy"},
	SweepDue:          {name: "SweepDue"},
	UserCall:          {name: "UserCall"},
	Elapsed:           {name: "Elapsed"},
	Stop:              {"Stop", connstate.StopRequested},
	TransportClosed:   {"TransportClosed", connstate.TransportClosed},
}

func (e Event) String() string { return events[e].name }

// ofConnection reports whether e carries the epoch of the connection it came from.
func (e Event) ofConnection() bool { return e <= Request }

// reason returns the public word for leaving state from because of e.
func (e Event) reason(from connstate.State) connstate.Reason {
	switch {
	case e != Elapsed:
		return events[e].why
	case from == connstate.Backoff:
		return connstate.DelayElapsed
	case from == connstate.Closing:
		return connstate.CloseTimeout
	default:
		return connstate.InitTimeout
	}
}

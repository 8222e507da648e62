package machine

import "github.com/mcpotel/mcpotel/mcpclient/connstate"

// Event is an event that the machine handles. Events from TransportUp to Request belong to one connection and carry its
// epoch. The others come from callers, the clock and the user, and carry no epoch.
type Event uint8

const (
	// TransportUp: the transport opened the connection that Dial requested.
	TransportUp Event = iota
	// OpenFailed: the transport could not open the connection; another attempt may succeed.
	OpenFailed
	// Refused: opening or negotiating failed permanently.
	Refused
	// Negotiated: the handshake succeeded; version and capabilities are valid.
	Negotiated
	// NegotiationFailed: the server answered the handshake with an error or an unusable result.
	NegotiationFailed
	// ProbeLost: the connection ended during the probe for the modern era. The server may support the legacy handshake.
	ProbeLost
	// TransportDown: the connection ended.
	TransportDown
	// SessionGone: the server no longer knows the session; the transport still works.
	SessionGone
	// FrameInvalid: a frame is not valid JSON, or not a valid message.
	FrameInvalid
	// InvalidStreak: the frame is invalid, and the number of consecutive invalid frames has reached its limit.
	InvalidStreak
	// FrameTooLarge: a frame exceeds the limit. The rest of it was not read.
	FrameTooLarge
	// FrameSkipped: a frame exceeds the limit and was skipped to its end, as configured.
	FrameSkipped
	// RequestFailed: the transport reports that one request gets no answer. The connection still works.
	RequestFailed
	// Held: the handshake waits for an authorization, which may take a person minutes.
	Held
	// Resumed: the handshake continues after an authorization.
	Resumed
	// Spoke: the server process has sent its first output.
	Spoke
	// ResponseInFlight: a response to a call in flight.
	ResponseInFlight
	// ResponseOwn: a response to a call in flight that the client itself made, not its user; for example a ping.
	ResponseOwn
	// ResponseLate: a response to a call that already has its outcome and left a tombstone.
	ResponseLate
	// ResponseUnknown: a response that belongs neither to a call in flight nor to a tombstone.
	ResponseUnknown
	// Notification: a notification of the server.
	Notification
	// Request: a request of the server, which is possible in the legacy era.
	Request

	// CallTimeout: the deadline of a call in flight has passed.
	CallTimeout
	// CallerLeft: the context of a call in flight ended.
	CallerLeft
	// SendBusy: the send queue of the transport has no room for the request of a call.
	SendBusy
	// SweepDue: it is time to remove expired tombstones.
	SweepDue
	// UserCall: the user makes a call.
	UserCall
	// Elapsed: the deadline of the machine has passed.
	Elapsed
	// Idle: the owner of the client stops it, because nothing has used it for a time.
	Idle
	// Stop: the user closes the client with Close or Shutdown.
	Stop
	// TransportClosed: the client is closing, and its connection is closed.
	TransportClosed
)

// eventCount is the number of events.
const eventCount = TransportClosed + 1

// events defines the name of each event. If the event can change the state, events also defines the public reason. The
// reason for Elapsed depends on the state.
var events = [eventCount]struct {
	name string
	why  connstate.Reason
}{
	TransportUp:       {"TransportUp", connstate.ReasonTransportUp},
	OpenFailed:        {"OpenFailed", connstate.ReasonOpenFailed},
	Refused:           {"Refused", connstate.ReasonRefused},
	Negotiated:        {"Negotiated", connstate.ReasonNegotiated},
	NegotiationFailed: {"NegotiationFailed", connstate.ReasonNegotiationFailed},
	ProbeLost:         {"ProbeLost", connstate.ReasonProbeLost},
	TransportDown:     {"TransportDown", connstate.ReasonTransportDown},
	SessionGone:       {"SessionGone", connstate.ReasonSessionGone},
	FrameInvalid:      {name: "FrameInvalid"},
	InvalidStreak:     {"InvalidStreak", connstate.ReasonInvalidStreak},
	FrameTooLarge:     {"FrameTooLarge", connstate.ReasonFrameTooLarge},
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
	Idle:              {"Idle", connstate.ReasonIdle},
	Stop:              {"Stop", connstate.ReasonStopRequested},
	TransportClosed:   {"TransportClosed", connstate.ReasonTransportClosed},
}

func (e Event) String() string { return events[e].name }

// ofConnection reports whether e carries the epoch of its connection.
func (e Event) ofConnection() bool { return e <= Request }

// reason returns the public reason of the transition that e causes in the state from.
func (e Event) reason(from connstate.State) connstate.Reason {
	switch {
	case e != Elapsed:
		return events[e].why
	case from == connstate.Backoff:
		return connstate.ReasonDelayElapsed
	case from == connstate.Closing:
		return connstate.ReasonCloseTimeout
	default:
		return connstate.ReasonInitTimeout
	}
}

package machine

// Effect is one action after a step. Effects are carried out in the given order, and none of them waits.
//
// Effects on a connection apply to one epoch: HangUp to the epoch before the step, Dial, Negotiate and Pull to the
// epoch after it.
type Effect uint8

const (
	// Dial opens a new connection. The resulting event is TransportUp, OpenFailed or Refused.
	Dial Effect = iota
	// Negotiate sends the first message of the handshake. The resulting event is Negotiated, NegotiationFailed,
	// ProbeLost or Refused.
	Negotiate
	// Pull asks for the next frame. A frame is delivered only after a Pull.
	Pull
	// HangUp cancels the work of the connection and closes it, if it is open. In closing, TransportClosed follows
	// once everything is closed.
	HangUp
	// StoreSession stores the result of the negotiation, under the new session number.
	StoreSession
	// Resubscribe renews the user's subscriptions.
	Resubscribe
	// ReleaseWaiters resumes callers that wait for the connection to be ready.
	ReleaseWaiters
	// ReportCause reports to callers that wait for the connection, and to the user, why the client will not connect.
	ReportCause
	// ReportViolation reports that the server broke the protocol.
	ReportViolation
	// Drop discards the frame and counts it by its class.
	Drop
	// Deliver passes a response to its call and cancels the call's timeout; the response is the outcome of the
	// call.
	Deliver
	// Enqueue queues a notification for the handlers.
	Enqueue
	// Serve passes a request to its handler; without a handler the answer is "method not found".
	Serve
	// Admit adds a call to the calls in flight and sends its request.
	Admit
	// RefuseOrWait fails a call with a state error, or lets it wait if it may wait for the connection.
	RefuseOrWait
	// RefuseShutdown fails a call because the client is closing.
	RefuseShutdown
	// RetrySend sends the request again after a short delay, or fails the call with backpressure after the last
	// attempt. A call with WaitForRoom waits in line instead.
	RetrySend
	// Abandon removes a call from the calls in flight and leaves a tombstone.
	Abandon
	// CancelUpstream notifies the server once, without a retry, that the answer is no longer wanted.
	CancelUpstream
	// ReplyTimeout fails a call because its deadline passed.
	ReplyTimeout
	// ReplyCause fails a call with the cause of its context.
	ReplyCause
	// FailOwn fails the call that an unusable frame would have answered, if the frame identifies the call.
	FailOwn
	// FailLost fails every call in flight because the connection was lost. Each call leaves a tombstone and is no
	// longer retried.
	FailLost
	// FailProtocol fails every call in flight like FailLost, because the server broke the protocol.
	FailProtocol
	// FailShutdown fails every call in flight like FailLost, because the client is closing; callers that wait for
	// the connection fail as well.
	FailShutdown
	// Sweep removes expired tombstones.
	Sweep
	// End marks the client as done. It is the last effect.
	End
)

// effectCount is one more than the last effect.
const effectCount = End + 1

var effectNames = [effectCount]string{
	Dial:            "Dial",
	Negotiate:       "Negotiate",
	Pull:            "Pull",
	HangUp:          "HangUp",
	StoreSession:    "StoreSession",
	Resubscribe:     "Resubscribe",
	ReleaseWaiters:  "ReleaseWaiters",
	ReportCause:     "ReportCause",
	ReportViolation: "ReportViolation",
	Drop:            "Drop",
	Deliver:         "Deliver",
	Enqueue:         "Enqueue",
	Serve:           "Serve",
	Admit:           "Admit",
	RefuseOrWait:    "RefuseOrWait",
	RefuseShutdown:  "RefuseShutdown",
	RetrySend:       "RetrySend",
	Abandon:         "Abandon",
	CancelUpstream:  "CancelUpstream",
	ReplyTimeout:    "ReplyTimeout",
	ReplyCause:      "ReplyCause",
	FailOwn:         "FailOwn",
	FailLost:        "FailLost",
	FailProtocol:    "FailProtocol",
	FailShutdown:    "FailShutdown",
	Sweep:           "Sweep",
	End:             "End",
}

func (e Effect) String() string { return effectNames[e] }

package machine

// Effect is one action that follows a step. The owner carries out effects in the given order, and no effect blocks.
//
// Effects on a connection apply to one epoch: HangUp to the epoch before the step, and Dial, Negotiate and Pull to the
// epoch after the step.
type Effect uint8

const (
	// Dial opens a new connection. The resulting event is TransportUp, OpenFailed or Refused.
	Dial Effect = iota
	// Negotiate sends the first message of the handshake. The resulting event is Negotiated, NegotiationFailed,
	// ProbeLost or Refused.
	Negotiate
	// Pull requests the next frame. A frame is delivered only after a Pull.
	Pull
	// HangUp cancels the work of the connection, and closes the connection if it is open. In closing, TransportClosed
	// follows when everything is closed.
	HangUp
	// StoreSession stores the result of the negotiation under the new session number.
	StoreSession
	// Resubscribe renews the user's subscriptions.
	Resubscribe
	// ReleaseWaiters resumes callers that wait for the connection to be ready.
	ReleaseWaiters
	// ReportCause reports the reason why the client will not connect, to callers that wait for the connection and to the
	// user.
	ReportCause
	// ReportViolation reports that the server violated the protocol.
	ReportViolation
	// Drop discards the frame and counts it by its class.
	Drop
	// Deliver passes a response to its call and cancels the call's timeout. The response is the outcome of the call.
	Deliver
	// Enqueue queues a notification for the handlers.
	Enqueue
	// Serve passes a request to its handler. Without a handler, the answer is "method not found".
	Serve
	// Admit adds a call to the calls in flight and sends its request.
	Admit
	// RefuseOrWait fails a call with a state error, or lets the call wait for the connection if it may wait.
	RefuseOrWait
	// RefuseShutdown fails a call because the client is closing.
	RefuseShutdown
	// RetrySend sends the request again after a short delay. After the last attempt, it fails the call with backpressure.
	// A call with WaitForRoom waits in line instead.
	RetrySend
	// Abandon removes a call from the calls in flight and leaves a tombstone.
	Abandon
	// CancelUpstream notifies the server once, without a retry, that the client no longer needs the answer.
	CancelUpstream
	// ReplyTimeout fails a call because its deadline has passed.
	ReplyTimeout
	// ReplyCause fails a call with the cause of its context.
	ReplyCause
	// FailOwn fails one call: the call that RequestFailed names, or the call that an unusable frame identifies and should
	// have answered.
	FailOwn
	// FailLost fails every call in flight because the connection was lost. Each call leaves a tombstone and is not retried
	// any more.
	FailLost
	// FailProtocol fails every call in flight as FailLost does, because the server violated the protocol.
	FailProtocol
	// FailShutdown fails every call in flight as FailLost does, because the client is closing. Callers that wait for the
	// connection fail too.
	FailShutdown
	// Sweep removes expired tombstones.
	Sweep
	// End marks the client as ended. It is the last effect.
	End
)

// effectCount is the number of effects.
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

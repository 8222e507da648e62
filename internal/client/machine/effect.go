package machine

// Effect is one thing to do after a step. Effects are carried out in the order given, and none of them waits.
//
// Effects that concern a connection mean the one of an epoch: HangUp the epoch before the step, Dial, Negotiate and
// Pull the epoch after it.
type Effect uint8

const (
	// Dial opens a new connection. It is answered with TransportUp, OpenFailed or Refused.
	Dial Effect = iota
	// Negotiate sends the first message of the handshake. It is answered with Negotiated, NegotiationFailed, ProbeLost
	// or Refused.
	Negotiate
	// Pull asks for the next frame. Nothing else permits a frame to be delivered.
	Pull
	// HangUp cancels what the connection is busy with and closes it, if one is open. In closing it is answered with
	// TransportClosed once nothing is open any more.
	HangUp
	// StoreSession keeps what was negotiated, under the new session number.
	StoreSession
	// Resubscribe asks again for what the user is subscribed to.
	Resubscribe
	// ReleaseWaiters lets callers go on that wait for the connection to be ready.
	ReleaseWaiters
	// ReportCause tells those who wait for the connection, and the user of the client, why there will be none.
	ReportCause
	// ReportViolation reports that the server broke the protocol.
	ReportViolation
	// Drop throws the frame away and counts it under what it was.
	Drop
	// Deliver hands a response to its call, which has its outcome with that; its timeout is cancelled.
	Deliver
	// Enqueue puts a notification into the queue of the handlers.
	Enqueue
	// Serve hands a request to its handler; without one it is answered with "method not found".
	Serve
	// Admit takes a call into flight and sends its request.
	Admit
	// RefuseOrWait fails a call with a state error, or lets it wait if it was made to wait for the connection.
	RefuseOrWait
	// RefuseShutdown fails a call because the client is stopped.
	RefuseShutdown
	// RetrySend tries to send the request again after a short delay, or fails the call with backpressure after the last
	// attempt. A call that waits for room in line does so by itself.
	RetrySend
	// Abandon removes a call from flight and leaves a tombstone.
	Abandon
	// CancelUpstream tells the server, in one try, that the answer is no longer wanted.
	CancelUpstream
	// ReplyTimeout fails a call because its deadline passed.
	ReplyTimeout
	// ReplyCause fails a call with the cause of its context.
	ReplyCause
	// FailOwn fails the call that an unusable frame would have answered, if the frame tells which.
	FailOwn
	// FailLost fails every call in flight because the connection was lost; each leaves a tombstone and its send retries
	// end.
	FailLost
	// FailProtocol is FailLost because the server broke the protocol.
	FailProtocol
	// FailShutdown is FailLost because the client was stopped; those who wait for the connection fail as well.
	FailShutdown
	// Sweep forgets the tombstones that have expired.
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

package names

// Other stands for every value that a closed or limited set does not hold, as the semantic conventions have it.
const Other = "_OTHER"

// Values of error.type that this module gives itself. A JSON-RPC error has its code there instead, and any other error
// what its ErrorType method says or else its Go type.
const (
	ErrorToolError      = "tool_error"         // the tool reports an error in its result
	ErrorTimeout        = "timeout"            // no answer in time
	ErrorCancelled      = "cancelled"          // the caller left before the answer
	ErrorConnectionLost = "connection_lost"    // the connection ended before the answer
	ErrorTransportBusy  = "transport_busy"     // every try to send found no room
	ErrorViolation      = "protocol_violation" // the answer breaks the protocol
	ErrorNotReady       = "not_ready"          // there was no connection to send on
	ErrorShutdown       = "shutdown"           // this end was stopped
	ErrorLoop           = "loop"               // the client did not send one more call of a loop
	ErrorPanic          = "panic"              // the handler of a notification panicked
)

// Values of mcp_client.drop.reason and mcp_server.drop.reason: why a response or a notification was dropped.
const (
	DropLateTimeout   = "late_timeout"   // response: the call had timed out
	DropLateCancelled = "late_cancelled" // response: the caller had left
	DropLateLost      = "late_lost"      // response: the call was failed with its connection
	DropDuplicate     = "duplicate"      // response: the call was answered before
	DropUnknownID     = "unknown_id"     // response: no call ever had this id
	DropUnexpected    = "unexpected"     // response: it came when none could
	DropNotReady      = "not_ready"      // both: the connection was not negotiated yet
	DropQueueFull     = "queue_full"     // notification: its handlers were too slow
	DropCoalesced     = "coalesced"      // notification: one like it was waiting already
	DropUnsubscribed  = "unsubscribed"   // notification: it belongs to no subscription that is open
	DropNoStream      = "no_stream"      // notification: the client has opened no stream to send it on
	DropRateLimited   = "rate_limited"   // notification: the client was sent many of its kind
)

// Values of mcp_client.retry.reason: why a message had to be sent again.
const (
	RetryBusy           = "busy"            // the transport had no room
	RetryServerBusy     = "server_busy"     // the server had none: HTTP 429 or 503
	RetryHeaderMismatch = "header_mismatch" // the server missed headers, or found other values in the body
)

// Values of mcp_client.stream.kind and mcp_server.stream.kind: what a stream that outlives requests is for.
const (
	StreamGet    = "get"    // messages of the server, in a legacy session over Streamable HTTP
	StreamSSE    = "sse"    // everything the server sends, over HTTP+SSE
	StreamListen = "listen" // what the client has subscribed to, by subscriptions/listen
)

// Values of mcp_client.tool.definition.part: what of a tool a model is given.
const (
	DefinitionDescription = "description"  // the name and the description, and the punctuation of the whole
	DefinitionInputSchema = "input_schema" // as compact JSON
)

// Values of mcp_client.loop.kind: how calls of tools bring nothing new.
const (
	LoopSameCall   = "same_call"   // one call with the same arguments had the same result
	LoopSameResult = "same_result" // one tool had the same result, whatever its arguments
	LoopCycle      = "cycle"       // two to four calls came in turns, with the same results
)

// Values of mcp_client.tool.change.kind: what has become of a tool since the list before, or since a baseline.
const (
	ChangeAdded   = "added"
	ChangeRemoved = "removed"
	ChangeChanged = "changed" // in its definition
)

// Values of mcp_client.fault.kind: what a plan of faults does on purpose. Package chaos says more of each.
const (
	FaultLatency   = "latency"   // the message comes later
	FaultDrip      = "drip"      // it comes slowly
	FaultDrop      = "drop"      // it is lost
	FaultDuplicate = "duplicate" // it comes twice
	FaultReorder   = "reorder"   // it comes behind the next one
	FaultTruncate  = "truncate"  // its end is missing
	FaultGarbage   = "garbage"   // a frame of random bytes comes before it
	FaultOversize  = "oversize"  // it is taken for one over the frame limit
	FaultError     = "error"     // an answer is replaced by a JSON-RPC error
	FaultBusy      = "busy"      // a request is turned away as by a busy server
	FaultExpire    = "expire"    // a request is answered as if the session were not known
	FaultFreeze    = "freeze"    // nothing passes any more, or for a time
	FaultCut       = "cut"       // the connection breaks
	FaultDeath     = "death"     // the server's process is killed
	FaultRefuse    = "refuse"    // the connection is not made
)

// Values of mcp_server.policy.decision: what the policy of a proxy did with a message.
const (
	PolicyDenied   = "denied"    // a call of a tool that it does not allow was not passed on
	PolicyHidden   = "hidden"    // tools that it does not allow were left out of a list
	PolicyLimited  = "limited"   // a call was not passed on, because there were too many
	PolicyTimedOut = "timed_out" // a call was ended, because it took too long
	PolicyRedacted = "redacted"  // something in a message was replaced
)

// Values of mcp_client.auth.step: the requests, and the visit of a person, that an authorization is made of.
const (
	AuthDiscoverResource = "discover_resource" // the metadata of the protected resource
	AuthDiscoverServer   = "discover_server"   // the metadata of its authorization server
	AuthRegister         = "register"          // the client there
	AuthAuthorize        = "authorize"         // by a person
	AuthToken            = "token"             // the exchange of a grant for a token
	AuthRefresh          = "refresh"           // of a token
)

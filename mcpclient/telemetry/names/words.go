package names

// Other replaces every value outside a closed or limited set, as in the semantic conventions.
const Other = "_OTHER"

// Values of error.type that this module defines. For a JSON-RPC error, the value is the code of the error instead. For
// any other error, the value is the result of its ErrorType method, or its Go type.
const (
	ErrorToolError      = "tool_error"         // the tool reports an error in its result
	ErrorTimeout        = "timeout"            // no answer in time
	ErrorCancelled      = "cancelled"          // the caller cancelled the call before the answer
	ErrorConnectionLost = "connection_lost"    // the connection ended before the answer
	ErrorTransportBusy  = "transport_busy"     // the send queue was full at each attempt to send
	ErrorViolation      = "protocol_violation" // the answer breaks the protocol
	ErrorNotReady       = "not_ready"          // there was no connection to send on
	ErrorShutdown       = "shutdown"           // this end was stopped
	ErrorUnsupported    = "unsupported"        // the server does not declare the feature, so nothing was sent
	ErrorToolChanged    = "tool_changed"       // the tool has changed, and the client did not call it
	ErrorLoop           = "loop"               // the client did not send one more call of a loop
	ErrorPanic          = "panic"              // the handler of a notification panicked
	ErrorOverloaded     = "overloaded"         // the server had no capacity for the request
	ErrorRateLimited    = "rate_limited"       // the client exceeded Options.Rates
)

// Values of mcp_client.drop.reason and mcp_server.drop.reason: why a response or a notification was dropped.
const (
	DropLateTimeout   = "late_timeout"   // response: the call had timed out
	DropLateCancelled = "late_cancelled" // response: the caller had cancelled the call
	DropLateLost      = "late_lost"      // response: the call failed with its connection
	DropDuplicate     = "duplicate"      // response: the call was already answered
	DropUnknownID     = "unknown_id"     // response: no call ever had this id
	DropUnexpected    = "unexpected"     // response: it arrived when no response was possible
	DropNotReady      = "not_ready"      // response or notification: the connection was not negotiated yet
	DropQueueFull     = "queue_full"     // notification: its handlers were too slow
	DropCoalesced     = "coalesced"      // notification: an equal one was waiting already
	DropUnsubscribed  = "unsubscribed"   // notification: it belongs to no open subscription
	DropNoStream      = "no_stream"      // notification: the client has no open stream for it
	DropRateLimited   = "rate_limited"   // notification: too many of its kind were sent to the client
)

// Values of mcp_client.retry.reason: why sending was retried.
const (
	RetryBusy           = "busy"            // the transport had no room
	RetryServerBusy     = "server_busy"     // the server had no capacity: HTTP 429 or 503
	RetryHeaderMismatch = "header_mismatch" // the server found headers missing or different from the body
)

// Values of mcp_client.stream.kind and mcp_server.stream.kind: the purpose of a stream that outlives requests.
const (
	StreamGet    = "get"    // messages of the server, in a legacy session over Streamable HTTP
	StreamSSE    = "sse"    // all messages of the server, over HTTP+SSE
	StreamListen = "listen" // changes that the client subscribed to, by subscriptions/listen
)

// Values of mcp_client.tool.definition.part: the part of a tool's definition.
const (
	DefinitionDescription = "description"  // the name and the description, with the punctuation of the whole definition
	DefinitionInputSchema = "input_schema" // as compact JSON
)

// Values of mcp_client.loop.kind: the kind of loop in tool calls that return nothing new.
const (
	LoopSameCall   = "same_call"   // a call with the same arguments had the same result
	LoopSameResult = "same_result" // a tool had the same result for different arguments
	LoopCycle      = "cycle"       // two to four calls alternated, with the same results
)

// Values of mcp_client.gap.cause: why the client may have missed changes.
const (
	GapSession      = "session"      // the connection was lost, and the client has another session
	GapStream       = "stream"       // the stream of changes ended, or opened late, and the missed changes are unavailable
	GapReplay       = "replay"       // the server no longer has the events that the client missed
	GapSubscription = "subscription" // the server agreed late, or again, to send changes
	GapReplacement  = "replacement"  // a subscription was closed before all of its updates were read
)

// Values of mcp_client.tool.change.kind: the change of a tool since the previous list, or since a baseline.
const (
	ChangeAdded   = "added"
	ChangeRemoved = "removed"
	ChangeChanged = "changed" // its definition differs
)

// Values of mcp_client.fault.kind: the fault that a fault plan injects. Package chaos describes each.
const (
	FaultLatency   = "latency"   // the message is delayed
	FaultDrip      = "drip"      // the message arrives slowly
	FaultDrop      = "drop"      // the message is lost
	FaultDuplicate = "duplicate" // the message arrives twice
	FaultReorder   = "reorder"   // the message arrives after the next one
	FaultTruncate  = "truncate"  // the end of the message is missing
	FaultGarbage   = "garbage"   // a frame of random bytes arrives before the message
	FaultOversize  = "oversize"  // the message counts as larger than the frame limit
	FaultError     = "error"     // an answer is replaced by a JSON-RPC error
	FaultBusy      = "busy"      // a request is rejected as by a busy server
	FaultExpire    = "expire"    // a request is answered as if the session were unknown
	FaultFreeze    = "freeze"    // no message passes any more, or for a time
	FaultCut       = "cut"       // the connection breaks
	FaultDeath     = "death"     // the server's process is killed
	FaultRefuse    = "refuse"    // the connection is not made
)

// Values of mcp_server.policy.decision: the decision of a proxy's policy about a message.
const (
	PolicyDenied   = "denied"    // a call of a forbidden tool was blocked
	PolicyHidden   = "hidden"    // forbidden tools were omitted from a list
	PolicyLimited  = "limited"   // a call was blocked, because there were too many
	PolicyTimedOut = "timed_out" // a call was ended, because it took too long
	PolicyRedacted = "redacted"  // a text in the message was replaced
)

// Values of mcp_client.audit.outcome and mcp_server.audit.outcome: what is known about whether a tool ran.
const (
	AuditRan        = "ran"          // a result arrived or was made, even if the tool reported an error
	AuditDidNotRun  = "did_not_run"  // it is certain that the tool did not run
	AuditMayHaveRun = "may_have_run" // any other end: the tool may have run, in part or completely
)

// Values of mcp_server.refusal.reason: why a server refused a request before a handler saw it.
const (
	RefusalOrigin       = "origin"       // the web page that sent the request has no allowed origin
	RefusalHost         = "host"         // the request names a forbidden host
	RefusalUnauthorized = "unauthorized" // the request's credentials are missing, invalid or too weak
	RefusalMethod       = "method"       // the HTTP method is not allowed
	RefusalMediaType    = "media_type"   // the media type of the body, or the types that the client accepts, are wrong
	RefusalHeader       = "header"       // a header is missing or invalid
	RefusalVersion      = "version"      // the server does not support the revision
	RefusalSession      = "session"      // the session id is unknown
	RefusalTooLarge     = "too_large"    // the frame or body exceeds the limit
	RefusalBody         = "body"         // the body arrived too slowly, or incomplete
	RefusalInvalid      = "invalid"      // the body or frame breaks the protocol
	RefusalOverloaded   = "overloaded"   // a limit of the server was reached
	RefusalRateLimited  = "rate_limited" // the client exceeded its rate limit
	RefusalStore        = "store"        // the store of sessions failed
	RefusalShutdown     = "shutdown"     // the server was stopping
)

// Values of mcp_server.capacity.kind: the kind of a server's limited resource.
const (
	CapacityRequest        = "request"         // requests in flight of a connection or session: Options.Limits.Concurrent
	CapacityQueue          = "queue"           // waiting requests of a connection or session: Options.Limits.Queued
	CapacityTotal          = "total"           // requests in flight of all clients: Options.Limits.Total
	CapacityHTTPRequest    = "http_request"    // POSTs being answered: HTTPOptions.Limits.Requests
	CapacityWaitingHandler = "waiting_handler" // handlers that wait for their clients: HTTPOptions.Limits.Waiting
	CapacitySession        = "session"         // legacy sessions over HTTP: HTTPOptions.Limits.Sessions
	CapacitySubscription   = "subscription"    // subscriptions of modern clients: HTTPOptions.Limits.Subscriptions
	CapacityTask           = "task"            // running tasks: TaskOptions.MaxRunning
	CapacityKeptTask       = "kept_task"       // running and ended tasks: TaskOptions.MaxKept
)

// Values of mcp_server.memory.kind: the kind of a server's limited memory.
const (
	MemoryFrame        = "frame"        // frames of the requests in flight of one connection or session
	MemoryBody         = "body"         // bodies of HTTP requests: HTTPOptions.Limits.Bodies
	MemoryIntroduction = "introduction" // names and capabilities of clients: HTTPOptions.Limits.IntroductionBytes
	MemoryWatched      = "watched"      // resource URIs that clients watch: HTTPOptions.Limits.WatchedBytes
	MemoryTaskResult   = "task_result"  // results of tasks: TaskOptions.MaxKeptBytes
)

// Values of mcp_client.auth.step: the requests of an authorization, and the visit of a person.
const (
	AuthDiscoverResource = "discover_resource" // the metadata of the protected resource
	AuthDiscoverServer   = "discover_server"   // the metadata of its authorization server
	AuthRegister         = "register"          // the registration of the client
	AuthAuthorize        = "authorize"         // the consent of a person
	AuthToken            = "token"             // the exchange of a grant for a token
	AuthRefresh          = "refresh"           // the refresh of a token
)

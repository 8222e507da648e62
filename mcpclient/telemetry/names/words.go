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
	ErrorUnsupported    = "unsupported"        // the server has not declared it, and was not asked
	ErrorToolChanged    = "tool_changed"       // the tool has changed, and the client did not call it
	ErrorLoop           = "loop"               // the client did not send one more call of a loop
	ErrorPanic          = "panic"              // the handler of a notification panicked
	ErrorOverloaded     = "overloaded"         // the server had no room for the request
	ErrorRateLimited    = "rate_limited"       // the client asked more often than Options.Rates allow
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

// Values of mcp_client.gap.cause: why the client may have missed changes.
const (
	GapSession      = "session"      // the connection was lost, and there is another session
	GapStream       = "stream"       // the stream of changes ended, or opened late, and the rest cannot be had
	GapReplay       = "replay"       // the server does not keep the events that the client has missed
	GapSubscription = "subscription" // the server agreed late, or again, to send changes
	GapReplacement  = "replacement"  // a subscription was closed before all of its updates were read
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

// Values of mcp_server.refusal.reason: why a server turned a request away before a handler saw it.
const (
	RefusalOrigin       = "origin"       // the web page that sent it is of no allowed origin
	RefusalHost         = "host"         // it names a host that is not allowed
	RefusalUnauthorized = "unauthorized" // its credentials are missing, invalid or too weak
	RefusalMethod       = "method"       // of HTTP
	RefusalMediaType    = "media_type"   // of the body, or those that the client accepts
	RefusalHeader       = "header"       // one is missing or invalid
	RefusalVersion      = "version"      // the server does not speak that revision
	RefusalSession      = "session"      // there is none with that id
	RefusalTooLarge     = "too_large"    // the frame or body is above the limit
	RefusalBody         = "body"         // the body came too slowly, or not whole
	RefusalInvalid      = "invalid"      // the body or frame breaks the protocol
	RefusalOverloaded   = "overloaded"   // a limit of the server was reached
	RefusalRateLimited  = "rate_limited" // the client asked more often than it may
	RefusalStore        = "store"        // the store of sessions failed
	RefusalShutdown     = "shutdown"     // the server was being stopped
)

// Values of mcp_server.capacity.kind: what a server has only so much of.
const (
	CapacityRequest        = "request"         // requests under way of one connection or session: Options.MaxConcurrent
	CapacityQueue          = "queue"           // requests of a connection or session that wait for that: Options.MaxQueued
	CapacityTotal          = "total"           // requests under way of all clients: Options.MaxTotal
	CapacityHTTPRequest    = "http_request"    // POSTs being answered: HTTPOptions.MaxRequests
	CapacityWaitingHandler = "waiting_handler" // handlers that wait for their clients: HTTPOptions.MaxWaiting
	CapacitySession        = "session"         // legacy sessions over HTTP: HTTPOptions.MaxSessions
	CapacitySubscription   = "subscription"    // subscriptions of modern clients: HTTPOptions.MaxSubscriptions
	CapacityTask           = "task"            // tasks that run: TaskOptions.MaxRunning
	CapacityKeptTask       = "kept_task"       // tasks that run or have ended: TaskOptions.MaxKept
)

// Values of mcp_server.memory.kind: what a server keeps in memory up to a limit.
const (
	MemoryFrame        = "frame"        // frames of the requests under way of one connection or session
	MemoryBody         = "body"         // bodies of HTTP requests: HTTPOptions.MaxBodies
	MemoryIntroduction = "introduction" // what clients say of themselves: HTTPOptions.MaxIntroductionBytes
	MemoryWatched      = "watched"      // what clients watch: HTTPOptions.MaxWatchedBytes
	MemoryTaskResult   = "task_result"  // results of tasks: TaskOptions.MaxKeptBytes
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

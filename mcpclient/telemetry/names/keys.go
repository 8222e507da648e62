package names

// Keys of attributes, the same on spans, metrics and log records.
const (
	// Name of the event that a log record is.
	KeyEventName = "event.name"
	// Method of the request or notification.
	KeyMCPMethodName = "mcp.method.name"
	// Name of the tool.
	KeyGenAIToolName = "gen_ai.tool.name"
	// Name of the prompt.
	KeyGenAIPromptName = "gen_ai.prompt.name"
	// Set on tool calls, as on those of other GenAI instrumentation.
	KeyGenAIOperationName = "gen_ai.operation.name"
	// Set on tool calls of clients: an MCP server runs the tool, and no model or agent does.
	KeyGenAIToolType = "gen_ai.tool.type"
	// Arguments of the tool call: a map, what the redactor of WithContentCapture keeps of it, up to 8 KiB. A member
	// named … says that more was left out. JSON as a string with WithContentAsText.
	KeyGenAIToolCallArguments = "gen_ai.tool.call.arguments"
	// Result of the tool call, likewise.
	KeyGenAIToolCallResult = "gen_ai.tool.call.result"
	// Argument of the prompt, its first 8 KiB; the key ends with its name. At most 16.
	KeyGenAIPromptVariable = "gen_ai.prompt.variable."
	// How the operation failed: the JSON-RPC code if that is an error of this side, the HTTP status if only HTTP
	// answered, tool_error, a word of this module, or a Go type.
	KeyErrorType = "error.type"
	// Code of the JSON-RPC error that is the answer, whether or not it is an error of this side.
	KeyRPCResponseStatusCode = "rpc.response.status_code"
	// JSON-RPC id of the request.
	KeyJSONRPCRequestID = "jsonrpc.request.id"
	// URI of the resource, up to 1,024 bytes.
	KeyMCPResourceURI = "mcp.resource.uri"
	// Negotiated version of the protocol.
	KeyMCPProtocolVersion = "mcp.protocol.version"
	// Id of the session, with versions and transports that have one.
	KeyMCPSessionID = "mcp.session.id"
	// pipe for a child process, tcp or quic for a network; absent in memory.
	KeyNetworkTransport = "network.transport"
	// Protocol under MCP, such as http.
	KeyNetworkProtocolName = "network.protocol.name"
	// Version of the protocol under MCP, as soon as it is known.
	KeyNetworkProtocolVersion = "network.protocol.version"
	// Name of the server that was dialled.
	KeyServerAddress = "server.address"
	// Port of the server that was dialled.
	KeyServerPort = "server.port"
	// Id of the conversation that the call belongs to: see telemetry.ContextWithConversation.
	KeyGenAIConversationID = "gen_ai.conversation.id"
	// Name of the agent that makes the call, likewise. On metrics only with telemetry.WithBaggageLabel.
	KeyGenAIAgentName = "gen_ai.agent.name"
	// Id of the session of the agent's user, likewise.
	KeySessionID = "session.id"
	// Hash of the user's id, likewise: 64 hexadecimal digits.
	KeyUserHash = "user.hash"
	// Address that a request over HTTP came from; of a proxy, if there is one.
	KeyClientAddress = "client.address"
	// Port that a request over HTTP came from.
	KeyClientPort = "client.port"
	// Status of the HTTP response that refused a request.
	KeyHttpResponseStatusCode = "http.response.status_code"
	// Id of the server's process.
	KeyProcessPID = "process.pid"
	// Exit code of the server's process; -1 if a signal ended it.
	KeyProcessExitCode = "process.exit.code"
	// Type of the error: what its ErrorType method returns, else its Go type, else error.type. After a panic, the Go
	// type of the value.
	KeyExceptionType = "exception.type"
	// Text of the error, or of the value that a handler panicked with, up to 256 bytes. On log records only.
	KeyExceptionMessage = "exception.message"
	// Stack of the goroutine whose handler panicked, up to 16 KiB.
	KeyExceptionStacktrace = "exception.stacktrace"
	// Configured name of the client: which server it talks to.
	KeyMCPClientName = "mcp_client.name"
	// Group that the client is configured to be in, if there is one. On metrics 32 groups of a process are told
	// apart; and where there are more names of clients than places, their name is _OTHER and the group, _OTHER for
	// none, stands for them.
	KeyMCPClientGroup = "mcp_client.group"
	// Tells clients of one name apart: configured, or 16 random hexadecimal digits. On spans and log records only.
	KeyMCPClientInstanceID = "mcp_client.instance.id"
	// Names one logical call, over retries and rounds: 32 hexadecimal digits.
	KeyMCPClientCorrID = "mcp_client.corr_id"
	// The event's measurement of time.
	KeyMCPClientDuration = "mcp_client.duration"
	// Kind of the error.
	KeyMCPClientErrorKind = "mcp_client.error.kind"
	// The failed request cannot have made the server act: sending it again is safe. False means unknown.
	KeyMCPClientSafeToRetry = "mcp_client.safe_to_retry"
	// Type of the result, if it is not complete.
	KeyMCPClientResultType = "mcp_client.result.type"
	// Size of the request's frame.
	KeyMCPClientRequestSize = "mcp_client.request.size"
	// Size of the answer's frame.
	KeyMCPClientResponseSize = "mcp_client.response.size"
	// How often sending was tried again.
	KeyMCPClientSendRetries = "mcp_client.send.retries"
	// Why sending was tried again.
	KeyMCPClientRetryReason = "mcp_client.retry.reason"
	// Which way the message went, seen from the client.
	KeyMCPClientDirection = "mcp_client.direction"
	// Kind of the JSON-RPC message.
	KeyMCPClientMessageKind = "mcp_client.message.kind"
	// Rule of the protocol that a frame broke.
	KeyMCPClientViolationReason = "mcp_client.violation.reason"
	// Size of the frame, as far as it was read.
	KeyMCPClientFrameSize = "mcp_client.frame.size"
	// Limit that the frame exceeded.
	KeyMCPClientFrameLimit = "mcp_client.frame.limit"
	// Hash of the first 64 bytes of the frame, 8 hexadecimal digits: it tells whether frames begin alike, and
	// nothing of what is in them.
	KeyMCPClientFrameHeadHash = "mcp_client.frame.head_hash"
	// How many records like this one were not written before it.
	KeyMCPClientSuppressed = "mcp_client.suppressed"
	// Why a message was dropped.
	KeyMCPClientDropReason = "mcp_client.drop.reason"
	// Time since the call ended that the response answers.
	KeyMCPClientDropAge = "mcp_client.drop.age"
	// How many tombstones were added or expired.
	KeyMCPClientTombstoneCount = "mcp_client.tombstone.count"
	// State of the connection.
	KeyMCPClientConnectionState = "mcp_client.connection.state"
	// Name that the server gives itself in the negotiation, up to 128 bytes. Metrics tell 256 of a process apart, by
	// name and version.
	KeyMCPClientServerName = "mcp_client.server.name"
	// Version of it that the server gives itself, up to 128 bytes.
	KeyMCPClientServerVersion = "mcp_client.server.version"
	// State the connection left.
	KeyMCPClientConnectionFrom = "mcp_client.connection.from"
	// State the connection entered.
	KeyMCPClientConnectionTo = "mcp_client.connection.to"
	// Why the connection moved.
	KeyMCPClientConnectionReason = "mcp_client.connection.reason"
	// Numbers the connections over the life of the client, from 1.
	KeyMCPClientConnectionEpoch = "mcp_client.connection.epoch"
	// Numbers the attempts to connect since the connection was last ready, from 1; 0 when a ready connection is
	// lost.
	KeyMCPClientConnectionAttemptNumber = "mcp_client.connection.attempt.number"
	// Whether the client was ready before.
	KeyMCPClientConnectionAttemptKind = "mcp_client.connection.attempt.kind"
	// Time until the next attempt.
	KeyMCPClientConnectionBackoffDelay = "mcp_client.connection.backoff.delay"
	// Signal that ended the server's process.
	KeyMCPClientProcessSignal = "mcp_client.process.signal"
	// Line of the server's standard error, up to 64 KiB.
	KeyMCPClientProcessStderrLine = "mcp_client.process.stderr.line"
	// What a plan of faults has done to the message: see package chaos. Of several things, the last.
	KeyMCPClientFaultKind = "mcp_client.fault.kind"
	// Numbers the requests of a call that bring the server what it asked for, from 1.
	KeyMCPClientMRTRRound = "mcp_client.mrtr.round"
	// What a stream that outlives requests is for: messages of the server, everything it sends, subscriptions.
	KeyMCPClientStreamKind = "mcp_client.stream.kind"
	// Whether the cache had the result.
	KeyMCPClientCacheOutcome = "mcp_client.cache.outcome"
	// What of a tool's definition it is: its name and description, or its inputSchema.
	KeyMCPClientToolDefinitionPart = "mcp_client.tool.definition.part"
	// How calls of tools bring nothing new: see mcpclient.UseLoopDetection.
	KeyMCPClientLoopKind = "mcp_client.loop.kind"
	// Why the client may have missed changes.
	KeyMCPClientGapCause = "mcp_client.gap.cause"
	// How many calls belong to the loop, this one among them, if it was made.
	KeyMCPClientLoopCalls = "mcp_client.loop.calls"
	// What has become of a tool since the list before, or since the baseline.
	KeyMCPClientToolChangeKind = "mcp_client.tool.change.kind"
	// Which parts of a definition have changed, with commas between them: title, description, input_schema,
	// output_schema, annotations.
	KeyMCPClientToolChangeParts = "mcp_client.tool.change.parts"
	// What an authorization is doing.
	KeyMCPClientAuthStep = "mcp_client.auth.step"
	// Entries of the flight recorder, the oldest first, a line for each with its time relative to the record's:
	// sizes, names and ids, up to 16 KiB.
	KeyMCPClientFlightRecordText = "mcp_client.flight_record.text"
	// How many those are.
	KeyMCPClientFlightRecordEntries = "mcp_client.flight_record.entries"
	// How many older ones there was no room for.
	KeyMCPClientFlightRecordOmitted = "mcp_client.flight_record.omitted"
	// Configured name of the server.
	KeyMCPServerName = "mcp_server.name"
	// Tells servers of one name apart: configured, or 16 random hexadecimal digits. On spans and log records only.
	KeyMCPServerInstanceID = "mcp_server.instance.id"
	// Name that the client gives itself, in the handshake or in each request, up to 128 bytes. Metrics tell 256 of a
	// server apart, by name and version.
	KeyMCPServerClientName = "mcp_server.client.name"
	// Version of it that the client gives itself, up to 128 bytes.
	KeyMCPServerClientVersion = "mcp_server.client.version"
	// The event's measurement of time.
	KeyMCPServerDuration = "mcp_server.duration"
	// Kind of the error.
	KeyMCPServerErrorKind = "mcp_server.error.kind"
	// Type of the result, if it is not complete.
	KeyMCPServerResultType = "mcp_server.result.type"
	// Size of the request's frame.
	KeyMCPServerRequestSize = "mcp_server.request.size"
	// Size of the answer's frame.
	KeyMCPServerResponseSize = "mcp_server.response.size"
	// Which way the message went, seen from the server.
	KeyMCPServerDirection = "mcp_server.direction"
	// Kind of the JSON-RPC message.
	KeyMCPServerMessageKind = "mcp_server.message.kind"
	// Rule of the protocol that a frame broke.
	KeyMCPServerViolationReason = "mcp_server.violation.reason"
	// Size of the frame, as far as it was read.
	KeyMCPServerFrameSize = "mcp_server.frame.size"
	// Limit that the frame exceeded.
	KeyMCPServerFrameLimit = "mcp_server.frame.limit"
	// Hash of the first 64 bytes of the frame, 8 hexadecimal digits: it tells whether frames begin alike, and
	// nothing of what is in them.
	KeyMCPServerFrameHeadHash = "mcp_server.frame.head_hash"
	// How many records like this one were not written before it.
	KeyMCPServerSuppressed = "mcp_server.suppressed"
	// Why a message was dropped.
	KeyMCPServerDropReason = "mcp_server.drop.reason"
	// Final status of a task.
	KeyMCPServerTaskStatus = "mcp_server.task.status"
	// What the policy of a proxy did with a message: see mcpproxy.Policy. Of several things, the last.
	KeyMCPServerPolicyDecision = "mcp_server.policy.decision"
	// How much of the message was replaced.
	KeyMCPServerPolicyRedactions = "mcp_server.policy.redactions"
	// Why a request was refused before a handler saw it.
	KeyMCPServerRefusalReason = "mcp_server.refusal.reason"
	// What a server has only so much of.
	KeyMCPServerCapacityKind = "mcp_server.capacity.kind"
	// What a server keeps in memory up to a limit.
	KeyMCPServerMemoryKind = "mcp_server.memory.kind"
	// What a stream that outlives requests is for: messages of the server, everything it sends, subscriptions.
	KeyMCPServerStreamKind = "mcp_server.stream.kind"
	// Which options make one trace of a call.
	KeyMCPServerTraceAdvice = "mcp_server.trace.advice"
	// Time since the request ended that the response answers.
	KeyMCPServerDropAge = "mcp_server.drop.age"
	// Entries of the flight recorder, the oldest first, a line for each with its time relative to the record's:
	// sizes, names and ids, up to 16 KiB.
	KeyMCPServerFlightRecordText = "mcp_server.flight_record.text"
	// How many those are.
	KeyMCPServerFlightRecordEntries = "mcp_server.flight_record.entries"
	// How many older ones there was no room for.
	KeyMCPServerFlightRecordOmitted = "mcp_server.flight_record.omitted"
)

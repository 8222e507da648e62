package names

// Keys of attributes, the same on spans, metrics and log records.
const (
	// Name of the log record's event.
	KeyEventName = "event.name"
	// Method of the request or notification.
	KeyMCPMethodName = "mcp.method.name"
	// Name of the tool.
	KeyGenAIToolName = "gen_ai.tool.name"
	// Name of the prompt.
	KeyGenAIPromptName = "gen_ai.prompt.name"
	// Operation in the terms of the GenAI conventions. Set on tool calls.
	KeyGenAIOperationName = "gen_ai.operation.name"
	// Type of the tool. Set on tool calls of clients: the tool runs in an MCP server, not in a model or agent.
	KeyGenAIToolType = "gen_ai.tool.type"
	// Arguments of the tool call, as returned by the redactor of WithContentCapture: a map, up to 8 KiB. A member
	// named … marks omitted members. JSON as a string with WithContentAsText.
	KeyGenAIToolCallArguments = "gen_ai.tool.call.arguments"
	// Result of the tool call, as returned by the redactor, in the same format as the arguments.
	KeyGenAIToolCallResult = "gen_ai.tool.call.result"
	// Argument of the prompt, its first 8 KiB; the key ends with the argument's name. At most 16 on a span.
	KeyGenAIPromptVariable = "gen_ai.prompt.variable."
	// Cause of the failure: the JSON-RPC code if it is an error of this side, the HTTP status if only HTTP answered,
	// tool_error, a word of this module, or a Go type.
	KeyErrorType = "error.type"
	// Code of the JSON-RPC error in the answer, even if it is not an error of this side.
	KeyRPCResponseStatusCode = "rpc.response.status_code"
	// JSON-RPC id of the request.
	KeyJSONRPCRequestID = "jsonrpc.request.id"
	// URI of the resource, up to 1,024 bytes.
	KeyMCPResourceURI = "mcp.resource.uri"
	// Negotiated version of the protocol.
	KeyMCPProtocolVersion = "mcp.protocol.version"
	// Id of the session. Only some versions and transports have sessions with an id.
	KeyMCPSessionID = "mcp.session.id"
	// pipe for a child process, tcp or quic for a network; absent for a connection in memory.
	KeyNetworkTransport = "network.transport"
	// Protocol under MCP, such as http.
	KeyNetworkProtocolName = "network.protocol.name"
	// Version of the protocol under MCP, as soon as it is known.
	KeyNetworkProtocolVersion = "network.protocol.version"
	// Name of the dialled server.
	KeyServerAddress = "server.address"
	// Port of the dialled server.
	KeyServerPort = "server.port"
	// Id of the conversation that the call belongs to: see telemetry.ContextWithConversation.
	KeyGenAIConversationID = "gen_ai.conversation.id"
	// Name of the agent that makes the call: see telemetry.ContextWithConversation. On metrics only with
	// telemetry.WithBaggageLabel.
	KeyGenAIAgentName = "gen_ai.agent.name"
	// Id of the user's session with the agent: see telemetry.ContextWithConversation.
	KeySessionID = "session.id"
	// Hash of the user's id, 64 hexadecimal digits: see telemetry.ContextWithConversation.
	KeyUserHash = "user.hash"
	// Address of the sender of an HTTP request. Behind a proxy, the address of the proxy.
	KeyClientAddress = "client.address"
	// Port of the sender of an HTTP request.
	KeyClientPort = "client.port"
	// Status of the HTTP response that refused a request.
	KeyHttpResponseStatusCode = "http.response.status_code"
	// Id of the server's process.
	KeyProcessPID = "process.pid"
	// Exit code of the server's process; -1 if a signal ended it.
	KeyProcessExitCode = "process.exit.code"
	// Mode of the CPU: user for the program's own work, system for the work of the kernel for the program.
	KeyCpuMode = "cpu.mode"
	// Type of the error: the result of its ErrorType method, else its Go type, else error.type. After a panic, the
	// Go type of the value.
	KeyExceptionType = "exception.type"
	// Text of the error, or of a panic's value, up to 256 bytes. On log records only.
	KeyExceptionMessage = "exception.message"
	// Stack of the goroutine in which a handler panicked, up to 16 KiB.
	KeyExceptionStacktrace = "exception.stacktrace"
	// Configured name of the client. It names the server to which the client connects.
	KeyMCPClientName = "mcp_client.name"
	// Configured group of the client, if any. Metrics distinguish 32 groups in a process. If the limit of client
	// names is reached, the name becomes _OTHER, and the group identifies the clients. The group of clients without
	// a group is then _OTHER, too.
	KeyMCPClientGroup = "mcp_client.group"
	// Id that distinguishes clients with the same name: configured, or 16 random hexadecimal digits. On spans and
	// log records only.
	KeyMCPClientInstanceID = "mcp_client.instance.id"
	// Id of one logical call, the same for all its retries and rounds: 32 hexadecimal digits.
	KeyMCPClientCorrID = "mcp_client.corr_id"
	// Duration of the event's operation.
	KeyMCPClientDuration = "mcp_client.duration"
	// Kind of the error.
	KeyMCPClientErrorKind = "mcp_client.error.kind"
	// Whether the failed request certainly had no effect on the server, so that a retry is safe. False means
	// unknown.
	KeyMCPClientSafeToRetry = "mcp_client.safe_to_retry"
	// Type of the result, if it is not complete.
	KeyMCPClientResultType = "mcp_client.result.type"
	// Size of the request's frame.
	KeyMCPClientRequestSize = "mcp_client.request.size"
	// Size of the answer's frame.
	KeyMCPClientResponseSize = "mcp_client.response.size"
	// Number of retries of sending.
	KeyMCPClientSendRetries = "mcp_client.send.retries"
	// Reason for a retry of sending.
	KeyMCPClientRetryReason = "mcp_client.retry.reason"
	// Direction of the message, from the client's view.
	KeyMCPClientDirection = "mcp_client.direction"
	// Kind of the JSON-RPC message.
	KeyMCPClientMessageKind = "mcp_client.message.kind"
	// Rule of the protocol that a frame broke.
	KeyMCPClientViolationReason = "mcp_client.violation.reason"
	// Size of the frame, as far as it was read.
	KeyMCPClientFrameSize = "mcp_client.frame.size"
	// Limit that the frame exceeded.
	KeyMCPClientFrameLimit = "mcp_client.frame.limit"
	// Hash of the first 64 bytes of the frame, 8 hexadecimal digits. It identifies frames with equal beginnings and
	// reveals no content.
	KeyMCPClientFrameHeadHash = "mcp_client.frame.head_hash"
	// Number of suppressed records of this kind since the last written record.
	KeyMCPClientSuppressed = "mcp_client.suppressed"
	// Reason for dropping a message.
	KeyMCPClientDropReason = "mcp_client.drop.reason"
	// Time between the end of the call and its late response.
	KeyMCPClientDropAge = "mcp_client.drop.age"
	// Number of tombstones that were added or expired.
	KeyMCPClientTombstoneCount = "mcp_client.tombstone.count"
	// State of the connection.
	KeyMCPClientConnectionState = "mcp_client.connection.state"
	// Name that the server sent in the negotiation, up to 128 bytes. Metrics distinguish up to 256 servers in a
	// process, by name and version.
	KeyMCPClientServerName = "mcp_client.server.name"
	// Version that the server sent in the negotiation, up to 128 bytes.
	KeyMCPClientServerVersion = "mcp_client.server.version"
	// State before the transition.
	KeyMCPClientConnectionFrom = "mcp_client.connection.from"
	// State after the transition.
	KeyMCPClientConnectionTo = "mcp_client.connection.to"
	// Reason for the transition.
	KeyMCPClientConnectionReason = "mcp_client.connection.reason"
	// Number of the connection in the life of the client, from 1.
	KeyMCPClientConnectionEpoch = "mcp_client.connection.epoch"
	// Number of the attempt since the connection was last ready, from 1; 0 when a ready connection is lost.
	KeyMCPClientConnectionAttemptNumber = "mcp_client.connection.attempt.number"
	// Whether the client has been ready before.
	KeyMCPClientConnectionAttemptKind = "mcp_client.connection.attempt.kind"
	// Time until the next attempt.
	KeyMCPClientConnectionBackoffDelay = "mcp_client.connection.backoff.delay"
	// Signal that ended the server's process.
	KeyMCPClientProcessSignal = "mcp_client.process.signal"
	// Line of the server's standard error, up to 64 KiB.
	KeyMCPClientProcessStderrLine = "mcp_client.process.stderr.line"
	// Fault that a fault plan injected into the message: see package chaos. The last fault, if there were several.
	KeyMCPClientFaultKind = "mcp_client.fault.kind"
	// Number of the round in a call, from 1. In each round, a request brings input that the server asked for.
	KeyMCPClientMRTRRound = "mcp_client.mrtr.round"
	// Purpose of a stream that outlives requests: messages of the server, all messages from the server, or
	// subscriptions.
	KeyMCPClientStreamKind = "mcp_client.stream.kind"
	// Whether the cache had the result.
	KeyMCPClientCacheOutcome = "mcp_client.cache.outcome"
	// Part of a tool's definition: its name and description, or its inputSchema.
	KeyMCPClientToolDefinitionPart = "mcp_client.tool.definition.part"
	// Kind of loop in tool calls that return nothing new: see mcpclient.UseLoopDetection.
	KeyMCPClientLoopKind = "mcp_client.loop.kind"
	// Reason why the client may have missed changes.
	KeyMCPClientGapCause = "mcp_client.gap.cause"
	// Number of calls in the loop, including this one if it was made.
	KeyMCPClientLoopCalls = "mcp_client.loop.calls"
	// Kind of change of a tool since the previous list, or since the baseline.
	KeyMCPClientToolChangeKind = "mcp_client.tool.change.kind"
	// Changed parts of the definition, separated by commas: title, description, input_schema, output_schema,
	// annotations.
	KeyMCPClientToolChangeParts = "mcp_client.tool.change.parts"
	// Step of an authorization.
	KeyMCPClientAuthStep = "mcp_client.auth.step"
	// Entries of the flight recorder, oldest first, one per line: sizes, names, ids, and times relative to the
	// record. Up to 16 KiB.
	KeyMCPClientFlightRecordText = "mcp_client.flight_record.text"
	// Number of entries in the text.
	KeyMCPClientFlightRecordEntries = "mcp_client.flight_record.entries"
	// Number of older entries that exceed the limit of the text.
	KeyMCPClientFlightRecordOmitted = "mcp_client.flight_record.omitted"
	// What is known about whether the tool of an audited call ran.
	KeyMCPClientAuditOutcome = "mcp_client.audit.outcome"
	// HMAC-SHA-256 of the arguments of an audited call, 64 hexadecimal digits, with the key of the audit log. Equal
	// arguments have equal hashes.
	KeyMCPClientAuditArgumentsHash = "mcp_client.audit.arguments_hash"
	// Id of the key of the audit log, 16 hexadecimal digits.
	KeyMCPClientAuditKeyID = "mcp_client.audit.key_id"
	// Number of the record in the chain of the audit log. With the hash, it is the head of the chain.
	KeyMCPClientAuditSequence = "mcp_client.audit.sequence"
	// Hash of the record in the audit log, 64 hexadecimal digits.
	KeyMCPClientAuditHash = "mcp_client.audit.hash"
	// Configured name of the server.
	KeyMCPServerName = "mcp_server.name"
	// Id that distinguishes servers with the same name: configured, or 16 random hexadecimal digits. On spans and
	// log records only.
	KeyMCPServerInstanceID = "mcp_server.instance.id"
	// Name that the client sent in the handshake or in each request, up to 128 bytes. Metrics distinguish up to 256
	// clients of each server, by name and version.
	KeyMCPServerClientName = "mcp_server.client.name"
	// Version that the client sent with its name, up to 128 bytes.
	KeyMCPServerClientVersion = "mcp_server.client.version"
	// Duration of the event's operation.
	KeyMCPServerDuration = "mcp_server.duration"
	// Kind of the error.
	KeyMCPServerErrorKind = "mcp_server.error.kind"
	// Type of the result, if it is not complete.
	KeyMCPServerResultType = "mcp_server.result.type"
	// Size of the request's frame.
	KeyMCPServerRequestSize = "mcp_server.request.size"
	// Size of the answer's frame.
	KeyMCPServerResponseSize = "mcp_server.response.size"
	// Direction of the message, from the server's view.
	KeyMCPServerDirection = "mcp_server.direction"
	// Kind of the JSON-RPC message.
	KeyMCPServerMessageKind = "mcp_server.message.kind"
	// Rule of the protocol that a frame broke.
	KeyMCPServerViolationReason = "mcp_server.violation.reason"
	// Size of the frame, as far as it was read.
	KeyMCPServerFrameSize = "mcp_server.frame.size"
	// Limit that the frame exceeded.
	KeyMCPServerFrameLimit = "mcp_server.frame.limit"
	// Hash of the first 64 bytes of the frame, 8 hexadecimal digits. It identifies frames with equal beginnings and
	// reveals no content.
	KeyMCPServerFrameHeadHash = "mcp_server.frame.head_hash"
	// Number of suppressed records of this kind since the last written record.
	KeyMCPServerSuppressed = "mcp_server.suppressed"
	// Reason for dropping a message.
	KeyMCPServerDropReason = "mcp_server.drop.reason"
	// Final status of a task.
	KeyMCPServerTaskStatus = "mcp_server.task.status"
	// Decision of a proxy's policy about a message: see mcpproxy.Policy. The last decision, if there were several.
	KeyMCPServerPolicyDecision = "mcp_server.policy.decision"
	// Number of texts that were replaced in the message.
	KeyMCPServerPolicyRedactions = "mcp_server.policy.redactions"
	// Reason for refusing a request before it reached a handler.
	KeyMCPServerRefusalReason = "mcp_server.refusal.reason"
	// Kind of resource that the server limits.
	KeyMCPServerCapacityKind = "mcp_server.capacity.kind"
	// Kind of memory that the server limits.
	KeyMCPServerMemoryKind = "mcp_server.memory.kind"
	// Purpose of a stream that outlives requests: messages of the server, all messages from the server, or
	// subscriptions.
	KeyMCPServerStreamKind = "mcp_server.stream.kind"
	// How to join client and server spans into one trace.
	KeyMCPServerTraceAdvice = "mcp_server.trace.advice"
	// Time between the end of the request and its late response.
	KeyMCPServerDropAge = "mcp_server.drop.age"
	// Entries of the flight recorder, oldest first, one per line: sizes, names, ids, and times relative to the
	// record. Up to 16 KiB.
	KeyMCPServerFlightRecordText = "mcp_server.flight_record.text"
	// Number of entries in the text.
	KeyMCPServerFlightRecordEntries = "mcp_server.flight_record.entries"
	// Number of older entries that exceed the limit of the text.
	KeyMCPServerFlightRecordOmitted = "mcp_server.flight_record.omitted"
	// What is known about whether the tool of an audited call ran.
	KeyMCPServerAuditOutcome = "mcp_server.audit.outcome"
	// HMAC-SHA-256 of the arguments of an audited call, 64 hexadecimal digits, with the key of the audit log. Equal
	// arguments have equal hashes.
	KeyMCPServerAuditArgumentsHash = "mcp_server.audit.arguments_hash"
	// Id of the key of the audit log, 16 hexadecimal digits.
	KeyMCPServerAuditKeyID = "mcp_server.audit.key_id"
	// Number of the record in the chain of the audit log. With the hash, it is the head of the chain.
	KeyMCPServerAuditSequence = "mcp_server.audit.sequence"
	// Hash of the record in the audit log, 64 hexadecimal digits.
	KeyMCPServerAuditHash = "mcp_server.audit.hash"
	// Authenticated user of an audited call, up to 256 bytes: see mcpserver.HTTPOptions.
	KeyMCPServerAuditPrincipal = "mcp_server.audit.principal"
)

// Code generated from mcpclient/telemetry by "go generate ./mcpclient/telemetry". DO NOT EDIT.

// Package names has a constant for every name in the schema of package telemetry, for those who query, filter or test
// what is emitted: metrics, attributes and events, each called as its name in one word. A name that the schema gives up
// is gone here too, and the compiler says where it was used.
package names

// SchemaVersion is the version of the schema that these names are from.
const SchemaVersion = "1.1"

// Names of metrics.
const (
	// Duration of a request or notification as its sender sees it, from sending to the answer. In s.
	MetricMCPClientOperationDuration = "mcp.client.operation.duration"
	// Duration of a request or notification as its receiver sees it, from its arrival to the answer. In s.
	MetricMCPServerOperationDuration = "mcp.server.operation.duration"
	// Duration of a session as the client sees it. Sessions may outlast the buckets by far: a View with an
	// exponential histogram serves them better. In s.
	MetricMCPClientSessionDuration = "mcp.client.session.duration"
	// Duration of a session as the server sees it. In s.
	MetricMCPServerSessionDuration = "mcp.server.session.duration"
	// Requests that wait for a connection or for their answer. In {request}.
	MetricMCPClientActiveRequests = "mcp_client.active_requests"
	// Requests of the server that the client is answering. In {request}.
	MetricMCPClientActiveHandlers = "mcp_client.active_handlers"
	// Panics of handlers. In {panic}.
	MetricMCPClientHandlerPanics = "mcp_client.handler.panics"
	// Notifications sent, and notifications received that were handled or had no handler. In {notification}.
	MetricMCPClientNotifications = "mcp_client.notifications"
	// Notifications received that did not reach their handlers. In {notification}.
	MetricMCPClientNotificationsDropped = "mcp_client.notifications.dropped"
	// Frames that broke the protocol. In {violation}.
	MetricMCPClientProtocolViolations = "mcp_client.protocol.violations"
	// Responses that nobody waited for. In {response}.
	MetricMCPClientResponsesDropped = "mcp_client.responses.dropped"
	// Sizes of frames. In By.
	MetricMCPClientMessageSize = "mcp_client.message.size"
	// Time to decode a result. In s.
	MetricMCPClientMessageDecodeDuration = "mcp_client.message.decode.duration"
	// Time a message waited before it was written. In s.
	MetricMCPClientSendQueueWait = "mcp_client.send.queue.wait"
	// Messages that wait to be written. In {message}.
	MetricMCPClientSendQueueLength = "mcp_client.send.queue.length"
	// Further tries to send a message. In {retry}.
	MetricMCPClientTransportSendRetries = "mcp_client.transport.send.retries"
	// Ids of calls that ended without an answer, kept to know a late one by. In {tombstone}.
	MetricMCPClientTombstones = "mcp_client.tombstones"
	// Moves of the connection from state to state. In {transition}.
	MetricMCPClientConnectionTransitions = "mcp_client.connection.transitions"
	// Clients in each state: 0 or 1 where each has a name of its own. In {connection}.
	MetricMCPClientConnectionState = "mcp_client.connection.state"
	// Duration of an attempt to connect, negotiation included. In s.
	MetricMCPClientConnectionAttemptDuration = "mcp_client.connection.attempt.duration"
	// Delay before an attempt to connect. In s.
	MetricMCPClientConnectionBackoff = "mcp_client.connection.backoff"
	// Streams that are open and serve no single request. In {stream}.
	MetricMCPClientStreamsActive = "mcp_client.streams.active"
	// Time a stream was open that served no single request. In s.
	MetricMCPClientStreamDuration = "mcp_client.stream.duration"
	// Results that were looked for in the client's cache. A hit is no request: nothing is sent, and no other metric
	// counts it. In {lookup}.
	MetricMCPClientCacheLookups = "mcp_client.cache.lookups"
	// Requests that the server is answering. In {request}.
	MetricMCPServerActiveRequests = "mcp_server.active_requests"
	// Panics of handlers. In {panic}.
	MetricMCPServerHandlerPanics = "mcp_server.handler.panics"
	// Notifications sent and received. In {notification}.
	MetricMCPServerNotifications = "mcp_server.notifications"
	// Frames that broke the protocol. In {violation}.
	MetricMCPServerProtocolViolations = "mcp_server.protocol.violations"
	// Responses that nobody waited for. In {response}.
	MetricMCPServerResponsesDropped = "mcp_server.responses.dropped"
	// Notifications that were not sent: the client took none, or one like it was waiting. In {notification}.
	MetricMCPServerNotificationsDropped = "mcp_server.notifications.dropped"
	// Requests to clients that wait for their answers. In {request}.
	MetricMCPServerActiveAsks = "mcp_server.active_asks"
	// Sessions that are open in this process. Versions of the protocol from 2026-07-28 on have none. In {session}.
	MetricMCPServerSessionsActive = "mcp_server.sessions.active"
	// Streams that are open and serve no single request. In {stream}.
	MetricMCPServerStreamsActive = "mcp_server.streams.active"
	// Time a stream was open that served no single request. In s.
	MetricMCPServerStreamDuration = "mcp_server.stream.duration"
	// Sizes of frames. In By.
	MetricMCPServerMessageSize = "mcp_server.message.size"
	// Time to decode the params of a request, without the arguments of a tool, or the client's answer to a request
	// of the server. In s.
	MetricMCPServerMessageDecodeDuration = "mcp_server.message.decode.duration"
	// Tasks that run, those that wait for input included. In {task}.
	MetricMCPServerTasksActive = "mcp_server.tasks.active"
	// Time from the creation of a task to its outcome. In s.
	MetricMCPServerTaskDuration = "mcp_server.task.duration"
	// Time a message waited before it was written. HTTP has no queue. In s.
	MetricMCPServerSendQueueWait = "mcp_server.send.queue.wait"
	// Messages that wait to be written, over all connections. HTTP has no queue. In {message}.
	MetricMCPServerSendQueueLength = "mcp_server.send.queue.length"
)

// Keys of attributes, the same on spans, metrics and log records.
const (
	// Name of the event that a log record is.
	KeyEventName = "event.name"
	// Text of the error, up to 256 bytes. On log records only.
	KeyError = "error"
	// Method of the request or notification.
	KeyMCPMethodName = "mcp.method.name"
	// Name of the tool.
	KeyGenAIToolName = "gen_ai.tool.name"
	// Name of the prompt.
	KeyGenAIPromptName = "gen_ai.prompt.name"
	// Set on tool calls, as on those of other GenAI instrumentation.
	KeyGenAIOperationName = "gen_ai.operation.name"
	// Arguments of the tool call: JSON, what the redactor of WithContentCapture keeps of it, up to 8 KiB.
	KeyGenAIToolCallArguments = "gen_ai.tool.call.arguments"
	// Result of the tool call, likewise.
	KeyGenAIToolCallResult = "gen_ai.tool.call.result"
	// Argument of the prompt, likewise; the key ends with its name. At most 16.
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
	// Id of the server's process.
	KeyProcessPID = "process.pid"
	// Exit code of the server's process; -1 if a signal ended it.
	KeyProcessExitCode = "process.exit.code"
	// Go type of the value a handler panicked with.
	KeyExceptionType = "exception.type"
	// Text of that value, up to 256 bytes.
	KeyExceptionMessage = "exception.message"
	// Stack of the handler's goroutine, up to 16 KiB.
	KeyExceptionStacktrace = "exception.stacktrace"
	// Configured name of the client: which server it talks to.
	KeyMCPClientName = "mcp_client.name"
	// Tells clients of one name apart: configured, or 16 random hexadecimal digits. On spans and log records only.
	KeyMCPClientInstanceID = "mcp_client.instance.id"
	// Names one logical call, over retries and rounds: 32 hexadecimal digits.
	KeyMCPClientCorrID = "mcp_client.corr_id"
	// The event's measurement of time.
	KeyMCPClientDuration = "mcp_client.duration"
	// Kind of the error.
	KeyMCPClientErrorKind = "mcp_client.error.kind"
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
	// Why a message went to nobody.
	KeyMCPClientDropReason = "mcp_client.drop.reason"
	// Time since the call ended that the response answers.
	KeyMCPClientDropAge = "mcp_client.drop.age"
	// How many tombstones were added or expired.
	KeyMCPClientTombstoneCount = "mcp_client.tombstone.count"
	// State of the connection.
	KeyMCPClientConnectionState = "mcp_client.connection.state"
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
	// Numbers the requests of a call that bring the server what it asked for, from 1.
	KeyMCPClientMRTRRound = "mcp_client.mrtr.round"
	// What a stream that outlives requests is for: messages of the server, everything it sends, subscriptions.
	KeyMCPClientStreamKind = "mcp_client.stream.kind"
	// Whether the cache had the result.
	KeyMCPClientCacheOutcome = "mcp_client.cache.outcome"
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
	// Why a message went to nobody.
	KeyMCPServerDropReason = "mcp_server.drop.reason"
	// Final status of a task.
	KeyMCPServerTaskStatus = "mcp_server.task.status"
	// What a stream that outlives requests is for: messages of the server, everything it sends, subscriptions.
	KeyMCPServerStreamKind = "mcp_server.stream.kind"
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

// Names of events, which are the messages of their log records too.
const (
	// A request begins: it has its id, or ends without ever getting one.
	EventMCPClientRequestStart = "mcp_client.request.start"
	// A request succeeded. Info if it took longer than the slow threshold.
	EventMCPClientRequestStop = "mcp_client.request.stop"
	// A request failed. Debug if the caller cancelled it, if the tool reported the error, which has its own record,
	// or if it was to be reckoned with, as on the probe.
	EventMCPClientRequestException = "mcp_client.request.exception"
	// A tool reported an error in its result. Follows the exception.
	EventMCPClientRequestToolError = "mcp_client.request.tool_error"
	// A request succeeded in that the server asks for something before it answers: the next request of the call
	// brings it. Follows the stop.
	EventMCPClientRequestInputRequired = "mcp_client.request.input_required"
	// A subscription is opened anew that was lost with its connection; its span has a link to that of the one
	// before. Follows the start. No other request is repeated by itself.
	EventMCPClientRequestReissued = "mcp_client.request.reissued"
	// The connection moved; the duration is the time it spent in the state it left. Warn if it has to back off or
	// was refused.
	EventMCPClientConnectionTransition = "mcp_client.connection.transition"
	// A notification was handled, which took the duration, or has no handler.
	EventMCPClientNotificationReceived = "mcp_client.notification.received"
	// A frame broke the protocol. Five records for each reason at once, then one a second; what was left out is
	// counted in the next record, or in a last one without a frame.
	EventMCPClientProtocolViolation = "mcp_client.protocol.violation"
	// The client begins to answer a request of the server.
	EventMCPClientHandlerStart = "mcp_client.handler.start"
	// The client answered a request of the server, or the server's request was at fault. Info if it took longer than
	// the slow threshold.
	EventMCPClientHandlerStop = "mcp_client.handler.stop"
	// The client did not answer a request of the server. Debug if the server cancelled it, Error for an internal
	// error. Warnings are as rare as records of violations: beyond that, Debug.
	EventMCPClientHandlerException = "mcp_client.handler.exception"
	// A handler panicked.
	EventMCPClientHandlerPanic = "mcp_client.handler.panic"
	// A notification was sent.
	EventMCPClientNotificationSent = "mcp_client.notification.sent"
	// A notification did not reach its handlers. Debug if one like it did. As rare as records of violations.
	EventMCPClientNotificationDropped = "mcp_client.notification.dropped"
	// Nobody waited for a response; the record has the trace of the call that did. Warn if no call ever had its id.
	// As rare as records of violations.
	EventMCPClientResponseDropped = "mcp_client.response.dropped"
	// A session is over.
	EventMCPClientSessionEnd = "mcp_client.session.end"
	// An attempt to connect ended. Warn if it failed.
	EventMCPClientConnectionAttempt = "mcp_client.connection.attempt"
	// The client waits before it tries to connect again, after the attempt with this number.
	EventMCPClientConnectionBackoff = "mcp_client.connection.backoff"
	// A message could not be sent and will be tried again.
	EventMCPClientSendRetry = "mcp_client.send.retry"
	// Calls ended without an answer.
	EventMCPClientTombstoneAdded = "mcp_client.tombstone.added"
	// Answers to these calls would not be known any more.
	EventMCPClientTombstoneExpired = "mcp_client.tombstone.expired"
	// The server's process ended. Info if it exited with 0.
	EventMCPClientProcessExit = "mcp_client.process.exit"
	// The server's process wrote a line to its standard error.
	EventMCPClientProcessStderr = "mcp_client.process.stderr"
	// Closing a connection left something behind, such as a process that the kernel does not let go of.
	EventMCPClientConnectionCloseFailed = "mcp_client.connection.close_failed"
	// So many records were not written, or transitions not told of: the log handler, or the user's function, took
	// too long.
	EventMCPClientLogLost = "mcp_client.log.lost"
	// A stream is open that serves no single request.
	EventMCPClientStreamOpened = "mcp_client.stream.opened"
	// Such a stream has ended, with an error unless it ended in order.
	EventMCPClientStreamClosed = "mcp_client.stream.closed"
	// The server offers no such stream, which it need not.
	EventMCPClientStreamRefused = "mcp_client.stream.refused"
	// The server did not accept a message that has no answer: a notification, or the answer to a request of its own.
	EventMCPClientMessageRefused = "mcp_client.message.refused"
	// A connection that was ready is lost, or the client gave up: what happened before, as far as no record like
	// this has said it. Follows the transition, once a minute at most.
	EventMCPClientConnectionFlightRecord = "mcp_client.connection.flight_record"
	// In a later session, or with other wishes, the server does not tell of a resource any more that the client is
	// subscribed to.
	EventMCPClientSubscriptionLost = "mcp_client.subscription.lost"
	// A tool is left out of the list, because its schema breaks the rules for parameters that HTTP headers repeat.
	EventMCPClientToolRejected = "mcp_client.tool.rejected"
	// Icons are left out of what the server sent, because their sources are unsafe to load: how many, and what is
	// wrong with the first one.
	EventMCPClientIconRejected = "mcp_client.icon.rejected"
	// The output of a tool is not checked, because its schema has a regular expression that Go cannot compile.
	EventMCPClientToolOutputUnchecked = "mcp_client.tool.output_unchecked"
	// The server begins to answer a request.
	EventMCPServerRequestStart = "mcp_server.request.start"
	// The server answered a request, or the request was at fault. Info if it took longer than the slow threshold.
	EventMCPServerRequestStop = "mcp_server.request.stop"
	// The server did not answer a request as asked. Debug if the client cancelled it or the tool reported the error,
	// Error for an internal error. Warnings are as rare as records of violations: beyond that, Debug.
	EventMCPServerRequestException = "mcp_server.request.exception"
	// A tool reported an error in its result. Follows the exception.
	EventMCPServerRequestToolError = "mcp_server.request.tool_error"
	// The server answered that it needs something of the client first. Follows the stop.
	EventMCPServerRequestInputRequired = "mcp_server.request.input_required"
	// The server asks its client something: sampling, elicitation or roots.
	EventMCPServerAskStart = "mcp_server.ask.start"
	// The client answered. Info if it took longer than the slow threshold, as people do.
	EventMCPServerAskStop = "mcp_server.ask.stop"
	// The client did not answer, or with an error. Debug if the handler that asked does not wait any more.
	EventMCPServerAskException = "mcp_server.ask.exception"
	// A handler panicked.
	EventMCPServerHandlerPanic = "mcp_server.handler.panic"
	// A notification was handled, which took the duration, or has no handler.
	EventMCPServerNotificationReceived = "mcp_server.notification.received"
	// A notification was sent.
	EventMCPServerNotificationSent = "mcp_server.notification.sent"
	// A frame broke the protocol. As rare as the client's.
	EventMCPServerProtocolViolation = "mcp_server.protocol.violation"
	// Nobody waited for a response.
	EventMCPServerResponseDropped = "mcp_server.response.dropped"
	// A notification was not sent. Debug if one like it was waiting, or if the client has opened no stream for it.
	// As rare as records of violations.
	EventMCPServerNotificationDropped = "mcp_server.notification.dropped"
	// A client has opened a stream that serves no single request.
	EventMCPServerStreamOpened = "mcp_server.stream.opened"
	// Such a stream has ended.
	EventMCPServerStreamClosed = "mcp_server.stream.closed"
	// The http.ResponseWriter allows no deadlines, as behind middleware whose writer has no Unwrap method: a client
	// that takes nothing of a response is not given up. Once for each handler.
	EventMCPServerHttpNoDeadlines = "mcp_server.http.no_deadlines"
	// So many records were not written: the log handler took too long.
	EventMCPServerLogLost = "mcp_server.log.lost"
	// The work of a task is over. Error for an internal error.
	EventMCPServerTaskEnd = "mcp_server.task.end"
	// A connection to a client broke: what the server did before over this kind of network, as far as no record like
	// this has said it. Once a minute at most.
	EventMCPServerConnectionFlightRecord = "mcp_server.connection.flight_record"
	// A session is over.
	EventMCPServerSessionEnd = "mcp_server.session.end"
)

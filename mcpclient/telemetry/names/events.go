package names

// Names of events. A log record has its event's name as its message, too.
const (
	// A request starts. The record follows as soon as the request has an id, or when the request ends without an id.
	EventMCPClientRequestStart = "mcp_client.request.start"
	// A request succeeded, or an old server refused the probe. Info if it took longer than the slow threshold.
	EventMCPClientRequestStop = "mcp_client.request.stop"
	// A request failed. Debug if the caller cancelled it, or if another record contains the error: the record of the
	// tool's error, or of the attempt to connect. Limit for each method and error type: five warnings or errors at
	// once, then one a second; others are Debug.
	EventMCPClientRequestException = "mcp_client.request.exception"
	// A tool reported an error in its result. The record follows the exception. Limit for each method and error
	// type: five records at once, then one a second.
	EventMCPClientRequestToolError = "mcp_client.request.tool_error"
	// The server asks for input before it answers the call. The next request of the call brings the input. The
	// record follows the stop.
	EventMCPClientRequestInputRequired = "mcp_client.request.input_required"
	// A request repeats a failed request: a subscription that was lost with its connection, or a call whose options
	// set Retry. Its span has a link to the span of the failed request. The record follows the start. No other
	// request is repeated automatically.
	EventMCPClientRequestReissued = "mcp_client.request.reissued"
	// The connection changed its state. The duration is the time in the previous state. Warn if a ready connection
	// was lost, or if the connection was refused.
	EventMCPClientConnectionTransition = "mcp_client.connection.transition"
	// A notification was handled within the duration, or has no handler.
	EventMCPClientNotificationReceived = "mcp_client.notification.received"
	// A frame violated the protocol. Limit for each reason: five records at once, then one a second. The next record
	// contains the number of suppressed records. When the client ends, a last record without a frame may contain
	// this number.
	EventMCPClientProtocolViolation = "mcp_client.protocol.violation"
	// The client starts to answer a request of the server.
	EventMCPClientHandlerStart = "mcp_client.handler.start"
	// The client answered a request of the server, or rejected it as faulty. Info if it took longer than the slow
	// threshold.
	EventMCPClientHandlerStop = "mcp_client.handler.stop"
	// The client did not answer a request of the server. Debug if the server cancelled it, Error for an internal
	// error. Limit for each method and error type: five warnings or errors at once, then one a second; others are
	// Debug.
	EventMCPClientHandlerException = "mcp_client.handler.exception"
	// A handler panicked. Limit for each method and error type: five records at once, then one a second.
	EventMCPClientHandlerPanic = "mcp_client.handler.panic"
	// A notification was sent.
	EventMCPClientNotificationSent = "mcp_client.notification.sent"
	// A notification did not reach its handlers. Debug if an equal notification reached them. Limited like records
	// of violations.
	EventMCPClientNotificationDropped = "mcp_client.notification.dropped"
	// A response arrived after its call had ended; the record has the trace of the call. Warn if no call ever had
	// its id. Limited like records of violations.
	EventMCPClientResponseDropped = "mcp_client.response.dropped"
	// A session ended.
	EventMCPClientSessionEnd = "mcp_client.session.end"
	// An attempt to connect ended. Warn if it failed, except during the probe. After the probe, the next attempt
	// starts immediately.
	EventMCPClientConnectionAttempt = "mcp_client.connection.attempt"
	// The client waits before it tries to connect again. The attempt number is the number of the previous attempt.
	EventMCPClientConnectionBackoff = "mcp_client.connection.backoff"
	// A message could not be sent and will be retried.
	EventMCPClientSendRetry = "mcp_client.send.retry"
	// Calls ended without an answer.
	EventMCPClientTombstoneAdded = "mcp_client.tombstone.added"
	// Late answers to these calls can no longer be recognized.
	EventMCPClientTombstoneExpired = "mcp_client.tombstone.expired"
	// The server's process ended. Info if it exited with 0.
	EventMCPClientProcessExit = "mcp_client.process.exit"
	// The server's process wrote a line to its standard error.
	EventMCPClientProcessStderr = "mcp_client.process.stderr"
	// The cached lists of a server that starts on demand cannot be used, read or written. The file is ignored; the
	// server starts to list its tools.
	EventMCPClientListCacheFailed = "mcp_client.list_cache.failed"
	// A fault plan disturbed an attempt to connect or a message on purpose: see package chaos. For a message, the
	// record has the method and the tool of the request.
	EventMCPClientFaultInjected = "mcp_client.fault.injected"
	// Closing a connection left something open, such as a process that the kernel does not end.
	EventMCPClientConnectionCloseFailed = "mcp_client.connection.close_failed"
	// Records were not written, or transitions were not reported, because the log handler or the user's function
	// took too long. The record contains their number. If the record has a method, the number counts the failures of
	// this method that had no record when the client was closed.
	EventMCPClientLogLost = "mcp_client.log.lost"
	// A stream that does not belong to a single request was opened.
	EventMCPClientStreamOpened = "mcp_client.stream.opened"
	// A stream that does not belong to a single request ended. The record has an error unless the end was normal.
	EventMCPClientStreamClosed = "mcp_client.stream.closed"
	// The server does not offer a stream for its own messages, which is optional.
	EventMCPClientStreamRefused = "mcp_client.stream.refused"
	// The server rejected a message that has no answer: a notification, or the answer to one of its own requests.
	EventMCPClientMessageRefused = "mcp_client.message.refused"
	// A ready connection was lost, or the client gave up. The record contains the latest events that no earlier
	// record of this kind contains. The record follows the record of the transition, at most once a minute.
	EventMCPClientConnectionFlightRecord = "mcp_client.connection.flight_record"
	// In a later session, or after a change of subscriptions, the server no longer reports updates of a subscribed
	// resource. Limit for each method and error type: five records at once, then one a second.
	EventMCPClientSubscriptionLost = "mcp_client.subscription.lost"
	// The client may have missed changes of lists or resources. Limited like records of violations, for each cause.
	EventMCPClientChangeGap = "mcp_client.change.gap"
	// The client omits a tool from the list, because its schema breaks the rules for parameters that HTTP headers
	// repeat. Limit for each method and error type: five records at once, then one a second.
	EventMCPClientToolRejected = "mcp_client.tool.rejected"
	// The client omits icons of the server, because their sources are unsafe to load. The record contains their
	// number, and the problem of the first icon.
	EventMCPClientIconRejected = "mcp_client.icon.rejected"
	// The client does not validate the output of a tool, because its schema has a regular expression that Go cannot
	// compile. Limit for each method and error type: five records at once, then one a second.
	EventMCPClientToolOutputUnchecked = "mcp_client.tool.output_unchecked"
	// A tool call returned nothing new, like several calls before it. Limited like records of violations, for each
	// kind of loop.
	EventMCPClientToolLoop = "mcp_client.tool.loop"
	// A tool differs from the previous list, or from the baseline, for clients with mcpclient.UseDriftDetection. If
	// the record has an error, the error is the reason for rejecting the change. Limited like records of violations,
	// for each kind; a last record may have no tool.
	EventMCPClientToolChanged = "mcp_client.tool.changed"
	// A tools/call ended, and is audited: see telemetry.WithAudit. Error if the audit file lacks the record; the
	// record then has no sequence and no hash. The records have no limit.
	EventMCPClientAuditCall = "mcp_client.audit.call"
	// The server starts to answer a request.
	EventMCPServerRequestStart = "mcp_server.request.start"
	// The server answered a request, or rejected it as faulty. Info if it took longer than the slow threshold.
	EventMCPServerRequestStop = "mcp_server.request.stop"
	// The server failed to answer a request. Debug if the client cancelled it, or if the tool's error or a handler's
	// panic has its own record; Error for an internal error. Limit for each method and error type: five warnings or
	// errors at once, then one a second; others are Debug.
	EventMCPServerRequestException = "mcp_server.request.exception"
	// A tool reported an error in its result. The record follows the exception. Limit for each method and error
	// type: five records at once, then one a second.
	EventMCPServerRequestToolError = "mcp_server.request.tool_error"
	// The server answered that it needs input from the client first. The record follows the stop.
	EventMCPServerRequestInputRequired = "mcp_server.request.input_required"
	// The server sends its client a request: sampling, elicitation or roots.
	EventMCPServerAskStart = "mcp_server.ask.start"
	// The client answered a request of the server. Info if it took longer than the slow threshold, as answers of
	// people do.
	EventMCPServerAskStop = "mcp_server.ask.stop"
	// The client did not answer, or answered with an error. Debug if the handler no longer waits. Limit for each
	// method and error type: five warnings or errors at once, then one a second; others are Debug.
	EventMCPServerAskException = "mcp_server.ask.exception"
	// A handler panicked. Limit for each method and error type: five records at once, then one a second.
	EventMCPServerHandlerPanic = "mcp_server.handler.panic"
	// A notification was handled within the duration, or has no handler.
	EventMCPServerNotificationReceived = "mcp_server.notification.received"
	// A notification was sent.
	EventMCPServerNotificationSent = "mcp_server.notification.sent"
	// A frame violated the protocol. Limited like the client's records.
	EventMCPServerProtocolViolation = "mcp_server.protocol.violation"
	// A response arrived for which no request waits.
	EventMCPServerResponseDropped = "mcp_server.response.dropped"
	// A notification was not sent. Debug if an equal notification was waiting, or if the client has no open stream
	// for it. Limited like records of violations.
	EventMCPServerNotificationDropped = "mcp_server.notification.dropped"
	// A client opened a stream that does not belong to a single request.
	EventMCPServerStreamOpened = "mcp_server.stream.opened"
	// A stream that does not belong to a single request ended.
	EventMCPServerStreamClosed = "mcp_server.stream.closed"
	// The http.ResponseWriter does not support deadlines, for example because the writer of a middleware has no
	// Unwrap method. So the server cannot disconnect a client that stops reading. Once for each handler.
	EventMCPServerHttpNoDeadlines = "mcp_server.http.no_deadlines"
	// A client over HTTP without a principal sent a trace context. The server's span starts a new trace and has a
	// link to the client's span. Once for each telemetry.Telemetry.
	EventMCPServerTraceLinked = "mcp_server.trace.linked"
	// Records were not written, because the log handler took too long. The record contains their number. If the
	// record has a method, the number counts the failures of this method that had no record when the server was
	// stopped.
	EventMCPServerLogLost = "mcp_server.log.lost"
	// The work of a task ended. Error for an internal error, unless a panic has its own record. Failures are limited
	// like the exceptions of requests.
	EventMCPServerTaskEnd = "mcp_server.task.end"
	// The policy of a proxy changed or blocked a message. Info for redactions, Debug for tools omitted from a list.
	// Limited like records of violations, for each decision; a last record may have no method.
	EventMCPServerPolicyDecided = "mcp_server.policy.decided"
	// A connection to a client failed. The record contains the server's latest events over this kind of network that
	// no earlier record of this kind contains. At most once a minute.
	EventMCPServerConnectionFlightRecord = "mcp_server.connection.flight_record"
	// The server refused a request before it reached a handler. Info for refusals by which clients learn the
	// server's requirements: methods, headers, revisions, sessions, tokens. Limited like records of violations, for
	// each reason; a last record may have no client.
	EventMCPServerRequestRefused = "mcp_server.request.refused"
	// A session ended.
	EventMCPServerSessionEnd = "mcp_server.session.end"
	// A tools/call ended, and is audited: see telemetry.WithAudit. Error if the audit file lacks the record; the
	// record then has no sequence and no hash. The records have no limit.
	EventMCPServerAuditCall = "mcp_server.audit.call"
)

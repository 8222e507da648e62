package names

// Names of events, which are the messages of their log records too.
const (
	// A request begins: it has its id, or ends without ever getting one.
	EventMCPClientRequestStart = "mcp_client.request.start"
	// A request succeeded, or an old server refused the probe. Info if it took longer than the slow threshold.
	EventMCPClientRequestStop = "mcp_client.request.stop"
	// A request failed. Debug if the caller cancelled it, or if another record has the error: that of the tool or of
	// the attempt to connect. Five warnings or errors for each method and error type at once, then one a second;
	// others are Debug.
	EventMCPClientRequestException = "mcp_client.request.exception"
	// A tool reported an error in its result. Follows the exception. Five records for each method and error type at
	// once, then one a second.
	EventMCPClientRequestToolError = "mcp_client.request.tool_error"
	// A request succeeded in that the server asks for something before it answers: the next request of the call
	// brings it. Follows the stop.
	EventMCPClientRequestInputRequired = "mcp_client.request.input_required"
	// A request repeats one that has failed: that of a subscription that was lost with its connection, or of a call
	// whose options say Retry. Its span has a link to that of the one before. Follows the start. No other request is
	// repeated by itself.
	EventMCPClientRequestReissued = "mcp_client.request.reissued"
	// The connection moved; the duration is the time it spent in the state it left. Warn if it was ready and has to
	// back off, or was refused.
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
	// error. Five warnings or errors for each method and error type at once, then one a second; others are Debug.
	EventMCPClientHandlerException = "mcp_client.handler.exception"
	// A handler panicked. Five records for each method and error type at once, then one a second.
	EventMCPClientHandlerPanic = "mcp_client.handler.panic"
	// A notification was sent.
	EventMCPClientNotificationSent = "mcp_client.notification.sent"
	// A notification did not reach its handlers. Debug if one like it did. As rare as records of violations.
	EventMCPClientNotificationDropped = "mcp_client.notification.dropped"
	// A response came for which no call waited any more; the record has the trace of the call that did. Warn if no
	// call ever had its id. As rare as records of violations.
	EventMCPClientResponseDropped = "mcp_client.response.dropped"
	// A session is over.
	EventMCPClientSessionEnd = "mcp_client.session.end"
	// An attempt to connect ended. Warn if it failed, unless it ended on the probe: then another one begins at once.
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
	// A plan of faults has broken something on purpose: a message, with the request's method and tool, or an attempt
	// to connect: see package chaos.
	EventMCPClientFaultInjected = "mcp_client.fault.injected"
	// Closing a connection left something behind, such as a process that the kernel does not let go of.
	EventMCPClientConnectionCloseFailed = "mcp_client.connection.close_failed"
	// So many records were not written, or transitions not told of: the log handler, or the user's function, took
	// too long. With a method: so many failures of that method had no record when the client was closed.
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
	// subscribed to. Five records for each method and error type at once, then one a second.
	EventMCPClientSubscriptionLost = "mcp_client.subscription.lost"
	// The client may have missed changes of lists or resources. As rare as records of violations, of each cause.
	EventMCPClientChangeGap = "mcp_client.change.gap"
	// A tool is left out of the list, because its schema breaks the rules for parameters that HTTP headers repeat.
	// Five records for each method and error type at once, then one a second.
	EventMCPClientToolRejected = "mcp_client.tool.rejected"
	// Icons are left out of what the server sent, because their sources are unsafe to load: how many, and what is
	// wrong with the first one.
	EventMCPClientIconRejected = "mcp_client.icon.rejected"
	// The output of a tool is not checked, because its schema has a regular expression that Go cannot compile. Five
	// records for each method and error type at once, then one a second.
	EventMCPClientToolOutputUnchecked = "mcp_client.tool.output_unchecked"
	// A call of a tool has brought nothing new, as so many before it. As rare as records of violations, for each
	// kind of loop.
	EventMCPClientToolLoop = "mcp_client.tool.loop"
	// A tool is in a list otherwise than in the list before, or than in the baseline, for clients with
	// mcpclient.UseDriftDetection. An error says why the change is refused. As rare as records of violations, of
	// each kind; a last one may be without a tool.
	EventMCPClientToolChanged = "mcp_client.tool.changed"
	// The server begins to answer a request.
	EventMCPServerRequestStart = "mcp_server.request.start"
	// The server answered a request, or the request was at fault. Info if it took longer than the slow threshold.
	EventMCPServerRequestStop = "mcp_server.request.stop"
	// The server did not answer a request as asked. Debug if the client cancelled it, or if the tool's error or a
	// handler's panic has a record of its own; Error for an internal error. Five warnings or errors for each method
	// and error type at once, then one a second; others are Debug.
	EventMCPServerRequestException = "mcp_server.request.exception"
	// A tool reported an error in its result. Follows the exception. Five records for each method and error type at
	// once, then one a second.
	EventMCPServerRequestToolError = "mcp_server.request.tool_error"
	// The server answered that it needs something of the client first. Follows the stop.
	EventMCPServerRequestInputRequired = "mcp_server.request.input_required"
	// The server asks its client something: sampling, elicitation or roots.
	EventMCPServerAskStart = "mcp_server.ask.start"
	// The client answered. Info if it took longer than the slow threshold, as people do.
	EventMCPServerAskStop = "mcp_server.ask.stop"
	// The client did not answer, or with an error. Debug if the handler that asked does not wait any more. Five
	// warnings or errors for each method and error type at once, then one a second; others are Debug.
	EventMCPServerAskException = "mcp_server.ask.exception"
	// A handler panicked. Five records for each method and error type at once, then one a second.
	EventMCPServerHandlerPanic = "mcp_server.handler.panic"
	// A notification was handled, which took the duration, or has no handler.
	EventMCPServerNotificationReceived = "mcp_server.notification.received"
	// A notification was sent.
	EventMCPServerNotificationSent = "mcp_server.notification.sent"
	// A frame broke the protocol. As rare as the client's.
	EventMCPServerProtocolViolation = "mcp_server.protocol.violation"
	// A response came for which no call waited.
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
	// A client over HTTP without a principal has sent a trace context for the first time. The server's span has a
	// link to the client's, in a trace of its own. Once for each telemetry.Telemetry.
	EventMCPServerTraceLinked = "mcp_server.trace.linked"
	// So many records were not written: the log handler took too long. With a method: so many failures of that
	// method had no record when the server was stopped.
	EventMCPServerLogLost = "mcp_server.log.lost"
	// The work of a task is over. Error for an internal error, unless a panic has a record of its own. Of failures:
	// as rare as the exceptions of requests.
	EventMCPServerTaskEnd = "mcp_server.task.end"
	// The policy of a proxy has not passed on a message as it was. Info for what was redacted, Debug for tools that
	// are left out of a list. As rare as records of violations, of each decision; a last one may be without a
	// method.
	EventMCPServerPolicyDecided = "mcp_server.policy.decided"
	// A connection to a client broke: what the server did before over this kind of network, as far as no record like
	// this has said it. Once a minute at most.
	EventMCPServerConnectionFlightRecord = "mcp_server.connection.flight_record"
	// The server refused a request before it became one that a handler sees. Info where that is how clients find out
	// what the server speaks and demands: methods, headers, revisions, sessions, tokens. As rare as records of
	// violations, of each reason; a last one may be without a client.
	EventMCPServerRequestRefused = "mcp_server.request.refused"
	// A session is over.
	EventMCPServerSessionEnd = "mcp_server.session.end"
)

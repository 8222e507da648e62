package telemetry

import (
	"log/slog"
	"slices"
)

// Levels of events. Debug is one per message, Info the life of a connection, Warn what works less well or a peer that
// misbehaves, Error a defect of this side.
var (
	atDebug     = []slog.Level{slog.LevelDebug}
	atInfo      = []slog.Level{slog.LevelInfo}
	atWarn      = []slog.Level{slog.LevelWarn}
	atError     = []slog.Level{slog.LevelError}
	atDebugInfo = []slog.Level{slog.LevelDebug, slog.LevelInfo}
	atInfoWarn  = []slog.Level{slog.LevelInfo, slog.LevelWarn}
)

// Names of requests, on every event of their lives.
var (
	clientRequestFields = slices.Concat(clientToolFields, when(keyPrompt))
	clientToolFields    = slices.Concat(required(keyClientName, keyMethod, keyClientCorrID), when(keyTool, keyRequestID))
	clientHandlerFields = slices.Concat(required(keyClientName, keyMethod), when(keyRequestID))
	serverRequestFields = slices.Concat(serverToolFields, when(keyPrompt))
	serverAskFields     = slices.Concat(required(keyServerName, keyMethod), when(keyRequestID))
	serverToolFields    = slices.Concat(required(keyServerName, keyMethod), when(keyTool, keyRequestID))
)

const (
	measuresWallClock = "wall-clock time, which is the record's own"
	measuresFrame     = "size of the frame"
)

// allEvents is every event there is. Besides its fields each has event.name.
var allEvents = identifiedEvents([]Event{
	{eventClientStart, atDebug, clientRequestFields, true, measuresWallClock, spanClientRequest,
		[]string{metricClientActive}, Stable,
		"A request begins: it has its id, or ends without ever getting one."},
	{eventClientStop, atDebugInfo,
		slices.Concat(clientRequestFields, required(keyClientDuration), when(keyClientResultType)), true,
		keyClientDuration, spanClientRequest, []string{metricClientDuration, metricClientActive}, Stable,
		"A request succeeded. Info if it took longer than the slow threshold."},
	{eventClientException, []slog.Level{slog.LevelDebug, slog.LevelWarn},
		slices.Concat(clientRequestFields, required(keyClientDuration, keyErrorType, keyClientErrorKind), when(keyStatusCode, keyError)), true,
		keyClientDuration, spanClientRequest, []string{metricClientDuration, metricClientActive}, Stable,
		"A request failed. Debug if the caller cancelled it, if the tool reported the error, which has its own record, or if it was to be reckoned with, as on the probe."},
	{eventClientToolError, atInfo, slices.Concat(clientToolFields, required(keyClientDuration)), false,
		keyClientDuration, spanClientRequest, []string{metricClientDuration}, Experimental,
		"A tool reported an error in its result. Follows the exception."},
	{eventClientInputRequired, atDebug, slices.Concat(clientRequestFields, when(keyClientRound)), false, "",
		spanClientRequest, nil, Experimental,
		"A request succeeded in that the server asks for something before it answers: the next request of the call brings it. Follows the stop."},
	{eventClientReissued, atInfo, slices.Concat(required(keyClientName, keyMethod, keyClientCorrID), when(keyRequestID)), false, "",
		spanClientRequest, nil, Experimental,
		"A subscription is opened anew that was lost with its connection; its span has a link to that of the one before. Follows the start. No other request is repeated by itself."},
	{eventClientTransition, atInfoWarn,
		slices.Concat(required(keyClientName, keyClientFrom, keyClientTo, keyClientTransitionReason, keyClientAttempt,
			keyClientEpoch, keyClientDuration), when(keyError)), true,
		keyClientDuration, "", []string{metricClientTransitions, metricClientState}, Stable,
		"The connection moved; the duration is the time it spent in the state it left. Warn if it has to back off or was refused."},
	{eventClientNotification, atDebug,
		slices.Concat(required(keyClientName, keyMethod), when(keyClientDuration, keyErrorType)), true,
		keyClientDuration, spanClientHandler, []string{metricClientNotifications, metricServerDuration}, Stable,
		"A notification was handled, which took the duration, or has no handler."},
	{eventClientViolation, atWarn,
		slices.Concat(required(keyClientName, keyClientViolationReason, keyClientDirection),
			when(keyClientFrameSize, keyClientFrameLimit, keyClientFrameHash, keyClientSuppressed)), true,
		measuresFrame, "", []string{metricClientViolations}, Stable,
		"A frame broke the protocol. Five records for each reason at once, then one a second; what was left out is counted in the next record, or in a last one without a frame."},

	{eventClientHandlerStart, atDebug, clientHandlerFields, false, measuresWallClock, spanClientHandler,
		[]string{metricClientHandlers}, Experimental, "The client begins to answer a request of the server."},
	{eventClientHandlerStop, atDebugInfo,
		slices.Concat(clientHandlerFields, required(keyClientDuration), when(keyStatusCode)), false,
		keyClientDuration, spanClientHandler, []string{metricServerDuration, metricClientHandlers}, Experimental,
		"The client answered a request of the server, or the server's request was at fault. Info if it took longer than the slow threshold."},
	{eventClientHandlerException, []slog.Level{slog.LevelDebug, slog.LevelWarn, slog.LevelError},
		slices.Concat(clientHandlerFields, required(keyClientDuration, keyErrorType, keyClientErrorKind),
			when(keyStatusCode, keyError, keyClientSuppressed)), false,
		keyClientDuration, spanClientHandler, []string{metricServerDuration, metricClientHandlers}, Experimental,
		"The client did not answer a request of the server. Debug if the server cancelled it, Error for an internal error. " +
			"Warnings are as rare as records of violations: beyond that, Debug."},
	{eventClientPanic, atError, required(keyClientName, keyMethod, keyPanicType, keyPanicMessage, keyPanicStack), false, "",
		spanClientHandler, []string{metricClientPanics}, Experimental, "A handler panicked."},
	{eventClientNotificationSent, atDebug, required(keyClientName, keyMethod), false, "", spanClientNotification,
		[]string{metricClientNotifications, metricClientDuration}, Experimental, "A notification was sent."},
	{eventClientNotificationDropped, []slog.Level{slog.LevelDebug, slog.LevelWarn},
		slices.Concat(required(keyClientName, keyClientDropReason), when(keyMethod, keyClientSuppressed)), false, "", "",
		[]string{metricClientNotificationsDropped}, Experimental,
		"A notification did not reach its handlers. Debug if one like it did. As rare as records of violations."},
	{eventClientDropped, atInfoWarn,
		slices.Concat(required(keyClientName, keyClientDropReason), when(keyRequestID, keyClientDropAge, keyClientSuppressed)), false,
		keyClientDropAge, "", []string{metricClientDropped}, Experimental,
		"Nobody waited for a response; the record has the trace of the call that did. Warn if no call ever had its id. As rare as records of violations."},
	{eventClientSessionEnd, atInfo,
		slices.Concat(required(keyClientName, keyClientDuration), when(keyMCPVersion, keyErrorType)), false,
		keyClientDuration, "", []string{metricClientSession}, Experimental, "A session is over."},
	{eventClientAttempt, atInfoWarn,
		slices.Concat(required(keyClientName, keyClientAttempt, keyClientAttemptKind, keyClientDuration), when(keyErrorType, keyError)), false,
		keyClientDuration, spanClientAttempt, []string{metricClientAttempt}, Experimental,
		"An attempt to connect ended. Warn if it failed."},
	{eventClientBackoff, atInfo, required(keyClientName, keyClientBackoffDelay, keyClientAttempt), false,
		keyClientBackoffDelay, "", []string{metricClientBackoff}, Experimental,
		"The client waits before it tries to connect again, after the attempt with this number."},
	{eventClientRetry, atDebug,
		slices.Concat(clientRequestFields, required(keyClientRetryReason, keyClientSendRetries)), false, "",
		spanClientRequest, []string{metricClientRetries}, Experimental, "A message could not be sent and will be tried again."},
	{eventClientTombstoneAdded, atDebug, required(keyClientName, keyClientTombstones), false, keyClientTombstones, "",
		[]string{metricClientTombstones}, Experimental, "Calls ended without an answer."},
	{eventClientTombstoneExpired, atDebug, required(keyClientName, keyClientTombstones), false, keyClientTombstones, "",
		[]string{metricClientTombstones}, Experimental, "Answers to these calls would not be known any more."},
	{eventClientExit, atInfoWarn,
		slices.Concat(required(keyClientName, keyPID, keyExitCode), when(keyClientSignal)), false, "", "", nil, Experimental,
		"The server's process ended. Info if it exited with 0."},
	{eventClientStderr, atDebug, required(keyClientName, keyClientStderrLine), false, "", "", nil, Experimental,
		"The server's process wrote a line to its standard error."},
	{eventClientCloseFailed, atWarn, slices.Concat(required(keyClientName), when(keyError)), false, "", "", nil, Experimental,
		"Closing a connection left something behind, such as a process that the kernel does not let go of."},
	{eventClientLogLost, atWarn, required(keyClientName, keyClientSuppressed), false, "", "", nil, Experimental,
		"So many records were not written, or transitions not told of: the log handler, or the user's function, took too long."},
	{eventClientStreamOpened, atInfo, required(keyClientName, keyClientStreamKind), false, "", "",
		[]string{metricClientStreams}, Experimental, "A stream is open that serves no single request."},
	{eventClientStreamClosed, atInfo,
		slices.Concat(required(keyClientName, keyClientStreamKind, keyClientDuration), when(keyErrorType, keyError)), false,
		keyClientDuration, "", []string{metricClientStreams, metricClientStream}, Experimental,
		"Such a stream has ended, with an error unless it ended in order."},
	{eventClientStreamRefused, atDebug, required(keyClientName, keyClientStreamKind, keyError), false, "", "", nil, Experimental,
		"The server offers no such stream, which it need not."},
	{eventClientMessageRefused, atDebug,
		slices.Concat(required(keyClientName, keyClientMessageKind, keyError), when(keyMethod)), false, "", "", nil, Experimental,
		"The server did not accept a message that has no answer: a notification, or the answer to a request of its own."},
	{eventClientFlight, atInfo,
		slices.Concat(required(keyClientName, keyClientFlightText, keyClientFlightEntries), when(keyClientFlightOmitted, keyClientSuppressed)),
		false, "", "", nil, Experimental,
		"A connection that was ready is lost, or the client gave up: what happened before, as far as no record like this has said it. Follows the transition, once a minute at most."},
	{eventClientSubscriptionLost, atWarn, slices.Concat(required(keyClientName, keyResourceURI), when(keyError)), false, "", "", nil, Experimental,
		"In a later session, or with other wishes, the server does not tell of a resource any more that the client is subscribed to."},
	{eventClientToolRejected, atWarn, slices.Concat(required(keyClientName, keyTool), when(keyError)), false, "", "", nil, Experimental,
		"A tool is left out of the list, because its schema breaks the rules for parameters that HTTP headers repeat."},
	{eventClientIconRejected, atDebug, slices.Concat(required(keyClientName, keyMethod), when(keyError)), false, "", "", nil, Experimental,
		"Icons are left out of what the server sent, because their sources are unsafe to load: how many, and what is wrong with the first one."},
	{eventClientUnchecked, atWarn, slices.Concat(required(keyClientName, keyTool), when(keyError)), false, "", "", nil, Experimental,
		"The output of a tool is not checked, because its schema has a regular expression that Go cannot compile."},

	{eventServerStart, atDebug, serverRequestFields, true, measuresWallClock, spanServerHandler,
		[]string{metricServerHandlers}, Stable, "The server begins to answer a request."},
	{eventServerStop, atDebugInfo,
		slices.Concat(serverRequestFields, required(keyServerDuration), when(keyStatusCode, keyServerResultType)), true,
		keyServerDuration, spanServerHandler, []string{metricServerDuration, metricServerHandlers}, Stable,
		"The server answered a request, or the request was at fault. Info if it took longer than the slow threshold."},
	{eventServerException, []slog.Level{slog.LevelDebug, slog.LevelWarn, slog.LevelError},
		slices.Concat(serverRequestFields, required(keyServerDuration, keyErrorType, keyServerErrorKind),
			when(keyStatusCode, keyError, keyServerSuppressed)), true,
		keyServerDuration, spanServerHandler, []string{metricServerDuration, metricServerHandlers}, Stable,
		"The server did not answer a request as asked. Debug if the client cancelled it or the tool reported the error, " +
			"Error for an internal error. Warnings are as rare as records of violations: beyond that, Debug."},
	{eventServerToolError, atInfo, slices.Concat(serverToolFields, required(keyServerDuration)), false,
		keyServerDuration, spanServerHandler, []string{metricServerDuration}, Experimental,
		"A tool reported an error in its result. Follows the exception."},
	{eventServerInputRequired, atDebug, serverRequestFields, false, "", spanServerHandler, nil, Experimental,
		"The server answered that it needs something of the client first. Follows the stop."},
	{eventServerAskStart, atDebug, serverAskFields, false, measuresWallClock, spanServerAsk, []string{metricServerAsks}, Experimental,
		"The server asks its client something: sampling, elicitation or roots."},
	{eventServerAskStop, atDebugInfo, slices.Concat(serverAskFields, required(keyServerDuration)), false,
		keyServerDuration, spanServerAsk, []string{metricClientDuration, metricServerAsks}, Experimental,
		"The client answered. Info if it took longer than the slow threshold, as people do."},
	{eventServerAskException, []slog.Level{slog.LevelDebug, slog.LevelWarn},
		slices.Concat(serverAskFields, required(keyServerDuration, keyErrorType, keyServerErrorKind), when(keyStatusCode, keyError)), false,
		keyServerDuration, spanServerAsk, []string{metricClientDuration, metricServerAsks}, Experimental,
		"The client did not answer, or with an error. Debug if the handler that asked does not wait any more."},
	{eventServerPanic, atError, required(keyServerName, keyMethod, keyPanicType, keyPanicMessage, keyPanicStack), false, "",
		spanServerHandler, []string{metricServerPanics}, Experimental, "A handler panicked."},
	{eventServerNotification, atDebug,
		slices.Concat(required(keyServerName, keyMethod), when(keyServerDuration, keyErrorType)), true,
		keyServerDuration, spanServerHandler, []string{metricServerNotifications, metricServerDuration}, Stable,
		"A notification was handled, which took the duration, or has no handler."},
	{eventServerNotificationSent, atDebug, required(keyServerName, keyMethod), false, "", spanServerNotification,
		[]string{metricServerNotifications, metricClientDuration}, Experimental, "A notification was sent."},
	{eventServerViolation, atWarn,
		slices.Concat(required(keyServerName, keyServerViolationReason, keyServerDirection),
			when(keyServerFrameSize, keyServerFrameLimit, keyServerFrameHash, keyServerSuppressed)), true,
		measuresFrame, "", []string{metricServerViolations}, Stable, "A frame broke the protocol. As rare as the client's."},
	{eventServerDropped, atInfoWarn,
		slices.Concat(required(keyServerName, keyServerDropReason), when(keyRequestID, keyServerDropAge, keyServerSuppressed)), false,
		keyServerDropAge, "", []string{metricServerDropped}, Experimental, "Nobody waited for a response."},
	{eventServerNotificationDropped, []slog.Level{slog.LevelDebug, slog.LevelWarn},
		slices.Concat(required(keyServerName, keyServerDropReason), when(keyMethod, keyServerSuppressed)), false, "", "",
		[]string{metricServerNotificationsDropped}, Experimental,
		"A notification was not sent. Debug if one like it was waiting, or if the client has opened no stream for it. As rare as records of violations."},
	{eventServerStreamOpened, atInfo, required(keyServerName, keyServerStreamKind), false, "", "",
		[]string{metricServerStreams}, Experimental, "A client has opened a stream that serves no single request."},
	{eventServerStreamClosed, atInfo, required(keyServerName, keyServerStreamKind, keyServerDuration), false,
		keyServerDuration, "", []string{metricServerStreams, metricServerStream}, Experimental, "Such a stream has ended."},
	{eventServerNoDeadlines, atWarn, required(keyServerName), false, "", "", nil, Experimental,
		"The http.ResponseWriter allows no deadlines, as behind middleware whose writer has no Unwrap method: a client that takes " +
			"nothing of a response is not given up. Once for each handler."},
	{eventServerLogLost, atWarn, required(keyServerName, keyServerSuppressed), false, "", "", nil, Experimental,
		"So many records were not written: the log handler took too long."},
	{eventServerTaskEnd, []slog.Level{slog.LevelInfo, slog.LevelError},
		slices.Concat(required(keyServerName, keyTool, keyServerTaskStatus, keyServerDuration), when(keyErrorType, keyStatusCode, keyError)), false,
		keyServerDuration, spanServerTask, []string{metricServerTask, metricServerTasks}, Experimental,
		"The work of a task is over. Error for an internal error."},
	{eventServerFlight, atInfo,
		slices.Concat(required(keyServerName, keyServerFlightText, keyServerFlightEntries), when(keyServerFlightOmitted, keyServerSuppressed)),
		false, "", "", nil, Experimental,
		"A connection to a client broke: what the server did before over this kind of network, as far as no record like this has said it. Once a minute at most."},
	{eventServerSessionEnd, atInfo,
		slices.Concat(required(keyServerName, keyServerDuration), when(keyMCPVersion, keyErrorType)), false,
		keyServerDuration, "", []string{metricServerSession, metricServerSessions}, Experimental, "A session is over."},
})

// identifiedEvents returns the events likewise.
func identifiedEvents(rows []Event) []Event {
	all := make([]Event, len(rows))
	for i, r := range rows {
		all[i] = Event{r.Name, r.Levels, identified(r.Fields), r.Core, r.Measurement, r.Span, r.Metrics, r.Stability, r.Brief}
	}
	return all
}

package schema

import (
	"log/slog"
	"slices"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
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
	clientRequestFields = slices.Concat(clientToolFields, when(names.KeyGenAIPromptName))
	clientToolFields    = slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName, names.KeyMCPClientCorrID),
		when(names.KeyGenAIToolName, names.KeyJSONRPCRequestID))
	clientHandlerFields = slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName),
		when(names.KeyJSONRPCRequestID))
	serverRequestFields = slices.Concat(serverToolFields, when(names.KeyGenAIPromptName))
	serverAskFields     = slices.Concat(required(names.KeyMCPServerName, names.KeyMCPMethodName),
		when(names.KeyJSONRPCRequestID))
	serverToolFields = slices.Concat(required(names.KeyMCPServerName, names.KeyMCPMethodName),
		when(names.KeyGenAIToolName, names.KeyJSONRPCRequestID))
)

const (
	measuresWallClock = "wall-clock time, which is the record's own"
	measuresFrame     = "size of the frame"
)

// What ends the descriptions of failures: how many records there are of them, and where the others are.
const (
	asRare      = "Five records for each method and error type at once, then one a second."
	orElseDebug = "Five warnings or errors for each method and error type at once, then one a second; others are Debug."
)

// allEvents is every event there is. Besides its fields each has event.name.
var allEvents = identifiedEvents([]Event{
	{names.EventMCPClientRequestStart, atDebug, clientRequestFields, true, measuresWallClock, spanClientRequest,
		[]string{names.MetricMCPClientActiveRequests}, Stable,
		"A request begins: it has its id, or ends without ever getting one."},
	{names.EventMCPClientRequestStop, atDebugInfo,
		slices.Concat(clientRequestFields, required(names.KeyMCPClientDuration),
			when(names.KeyRPCResponseStatusCode, names.KeyMCPClientResultType)), true,
		names.KeyMCPClientDuration, spanClientRequest,
		[]string{names.MetricMCPClientOperationDuration, names.MetricMCPClientActiveRequests}, Stable,
		"A request succeeded, or an old server refused the probe. Info if it took longer than the slow threshold."},
	{names.EventMCPClientRequestException, []slog.Level{slog.LevelDebug, slog.LevelWarn},
		slices.Concat(clientRequestFields, required(names.KeyMCPClientDuration, names.KeyErrorType, names.KeyExceptionType,
			names.KeyMCPClientErrorKind, names.KeyMCPClientSafeToRetry), when(names.KeyRPCResponseStatusCode,
			names.KeyExceptionMessage, names.KeyMCPClientSuppressed)), true,
		names.KeyMCPClientDuration, spanClientRequest,
		[]string{names.MetricMCPClientOperationDuration, names.MetricMCPClientActiveRequests}, Stable,
		"A request failed. Debug if the caller cancelled it, or if another record has the error: that of the tool or of " +
			"the attempt to connect. " + orElseDebug},
	{names.EventMCPClientRequestToolError, atInfo,
		slices.Concat(clientToolFields, required(names.KeyMCPClientDuration), when(names.KeyMCPClientSuppressed)), false,
		names.KeyMCPClientDuration, spanClientRequest, []string{names.MetricMCPClientOperationDuration}, Experimental,
		"A tool reported an error in its result. Follows the exception. " + asRare},
	{names.EventMCPClientRequestInputRequired, atDebug,
		slices.Concat(clientRequestFields, when(names.KeyMCPClientMRTRRound)), false, "",
		spanClientRequest, nil, Experimental,
		"A request succeeded in that the server asks for something before it answers: the next request of the call brings " +
			"it. Follows the stop."},
	{names.EventMCPClientRequestReissued, atInfo,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName, names.KeyMCPClientCorrID),
			when(names.KeyJSONRPCRequestID)), false, "",
		spanClientRequest, nil, Experimental,
		"A request repeats one that has failed: that of a subscription that was lost with its connection, or of a call whose options say Retry. Its span has a link to that of the one before. Follows the start. No other request is repeated by itself."},
	{names.EventMCPClientConnectionTransition, atInfoWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientConnectionFrom, names.KeyMCPClientConnectionTo,
			names.KeyMCPClientConnectionReason, names.KeyMCPClientConnectionAttemptNumber,
			names.KeyMCPClientConnectionEpoch, names.KeyMCPClientDuration), when(names.KeyExceptionMessage)), true,
		names.KeyMCPClientDuration, "", []string{names.MetricMCPClientConnectionTransitions,
			names.MetricMCPClientConnectionState}, Stable,
		"The connection moved; the duration is the time it spent in the state it left. Warn if it was ready and has " +
			"to back off, or was refused."},
	{names.EventMCPClientNotificationReceived, atDebug,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName),
			when(names.KeyMCPClientDuration, names.KeyErrorType)), true,
		names.KeyMCPClientDuration, spanClientHandler,
		[]string{names.MetricMCPClientNotificationMessages, names.MetricMCPServerOperationDuration}, Stable,
		"A notification was handled, which took the duration, or has no handler."},
	{names.EventMCPClientProtocolViolation, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientViolationReason, names.KeyMCPClientDirection),
			when(names.KeyMCPClientFrameSize, names.KeyMCPClientFrameLimit, names.KeyMCPClientFrameHeadHash,
				names.KeyMCPClientSuppressed)), true,
		measuresFrame, "", []string{names.MetricMCPClientProtocolViolations}, Stable,
		"A frame broke the protocol. Five records for each reason at once, then one a second; what was left out is " +
			"counted in the next record, or in a last one without a frame."},

	{names.EventMCPClientHandlerStart, atDebug, clientHandlerFields, false, measuresWallClock, spanClientHandler,
		[]string{names.MetricMCPClientActiveHandlers}, Experimental, "The client begins to answer a request of the server."},
	{names.EventMCPClientHandlerStop, atDebugInfo,
		slices.Concat(clientHandlerFields, required(names.KeyMCPClientDuration), when(names.KeyRPCResponseStatusCode)), false,
		names.KeyMCPClientDuration, spanClientHandler,
		[]string{names.MetricMCPServerOperationDuration, names.MetricMCPClientActiveHandlers}, Experimental,
		"The client answered a request of the server, or the server's request was at fault. Info if it took longer than " +
			"the slow threshold."},
	{names.EventMCPClientHandlerException, []slog.Level{slog.LevelDebug, slog.LevelWarn, slog.LevelError},
		slices.Concat(clientHandlerFields, required(names.KeyMCPClientDuration, names.KeyErrorType, names.KeyExceptionType,
			names.KeyMCPClientErrorKind),
			when(names.KeyRPCResponseStatusCode, names.KeyExceptionMessage, names.KeyMCPClientSuppressed)), false,
		names.KeyMCPClientDuration, spanClientHandler,
		[]string{names.MetricMCPServerOperationDuration, names.MetricMCPClientActiveHandlers}, Experimental,
		"The client did not answer a request of the server. Debug if the server cancelled it, Error for an internal error. " +
			orElseDebug},
	{names.EventMCPClientHandlerPanic, atError,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName, names.KeyExceptionType,
			names.KeyExceptionMessage, names.KeyExceptionStacktrace), when(names.KeyMCPClientSuppressed)), false, "",
		spanClientHandler, []string{names.MetricMCPClientHandlerPanics}, Experimental,
		"A handler panicked. " + asRare},
	{names.EventMCPClientNotificationSent, atDebug, required(names.KeyMCPClientName, names.KeyMCPMethodName), false, "",
		spanClientNotification,
		[]string{names.MetricMCPClientNotificationMessages, names.MetricMCPClientOperationDuration}, Experimental,
		"A notification was sent."},
	{names.EventMCPClientNotificationDropped, []slog.Level{slog.LevelDebug, slog.LevelWarn},
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientDropReason),
			when(names.KeyMCPMethodName, names.KeyMCPClientSuppressed)), false, "", "",
		[]string{names.MetricMCPClientNotificationDrops}, Experimental,
		"A notification did not reach its handlers. Debug if one like it did. As rare as records of violations."},
	{names.EventMCPClientResponseDropped, atInfoWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientDropReason),
			when(names.KeyJSONRPCRequestID, names.KeyMCPClientDropAge, names.KeyMCPClientSuppressed)), false,
		names.KeyMCPClientDropAge, "", []string{names.MetricMCPClientResponseDrops}, Experimental,
		"A response came for which no call waited any more; the record has the trace of the call that did. Warn if no call " +
			"ever had its id. As rare as records of violations."},
	{names.EventMCPClientSessionEnd, atInfo,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientDuration),
			when(names.KeyMCPProtocolVersion, names.KeyErrorType)), false,
		names.KeyMCPClientDuration, "", []string{names.MetricMCPClientSessionDuration}, Experimental, "A session is over."},
	{names.EventMCPClientConnectionAttempt, atInfoWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientConnectionAttemptNumber,
			names.KeyMCPClientConnectionAttemptKind, names.KeyMCPClientDuration),
			when(names.KeyErrorType, names.KeyExceptionMessage, names.KeyMCPClientServerName, names.KeyMCPClientServerVersion)),
		false,
		names.KeyMCPClientDuration, spanClientAttempt, []string{names.MetricMCPClientConnectionAttemptDuration}, Experimental,
		"An attempt to connect ended. Warn if it failed, unless it ended on the probe: then another one begins at once."},
	{names.EventMCPClientConnectionBackoff, atInfo,
		required(names.KeyMCPClientName, names.KeyMCPClientConnectionBackoffDelay, names.KeyMCPClientConnectionAttemptNumber),
		false, names.KeyMCPClientConnectionBackoffDelay, "", []string{names.MetricMCPClientConnectionBackoff}, Experimental,
		"The client waits before it tries to connect again, after the attempt with this number."},
	{names.EventMCPClientSendRetry, atDebug,
		slices.Concat(clientRequestFields, required(names.KeyMCPClientRetryReason, names.KeyMCPClientSendRetries)), false, "",
		spanClientRequest, []string{names.MetricMCPClientTransportSendRetries}, Experimental,
		"A message could not be sent and will be tried again."},
	{names.EventMCPClientTombstoneAdded, atDebug, required(names.KeyMCPClientName, names.KeyMCPClientTombstoneCount),
		false, names.KeyMCPClientTombstoneCount, "",
		[]string{names.MetricMCPClientTombstoneKept}, Experimental, "Calls ended without an answer."},
	{names.EventMCPClientTombstoneExpired, atDebug, required(names.KeyMCPClientName, names.KeyMCPClientTombstoneCount),
		false, names.KeyMCPClientTombstoneCount, "",
		[]string{names.MetricMCPClientTombstoneKept}, Experimental, "Answers to these calls would not be known any more."},
	{names.EventMCPClientProcessExit, atInfoWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyProcessPID, names.KeyProcessExitCode),
			when(names.KeyMCPClientProcessSignal)), false, "", "", nil, Experimental,
		"The server's process ended. Info if it exited with 0."},
	{names.EventMCPClientProcessStderr, atDebug, required(names.KeyMCPClientName, names.KeyMCPClientProcessStderrLine),
		false, "", "", nil, Experimental,
		"The server's process wrote a line to its standard error."},
	{names.EventMCPClientFaultInjected, atInfo,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientFaultKind),
			when(names.KeyMCPMethodName, names.KeyGenAIToolName)), false, "", spanClientRequest, nil, Experimental,
		"A plan of faults has broken something on purpose: a message, with the request's method and tool, or an attempt to " +
			"connect: see package chaos."},
	{names.EventMCPClientConnectionCloseFailed, atWarn,
		slices.Concat(required(names.KeyMCPClientName), when(names.KeyExceptionMessage)), false, "", "", nil, Experimental,
		"Closing a connection left something behind, such as a process that the kernel does not let go of."},
	{names.EventMCPClientLogLost, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientSuppressed),
			when(names.KeyMCPMethodName, names.KeyErrorType)), false, "", "", nil, Experimental,
		"So many records were not written, or transitions not told of: the log handler, or the user's function, took too " +
			"long. With a method: so many failures of that method had no record when the client was closed."},
	{names.EventMCPClientStreamOpened, atInfo, required(names.KeyMCPClientName, names.KeyMCPClientStreamKind), false, "",
		"",
		[]string{names.MetricMCPClientStreamActive}, Experimental, "A stream is open that serves no single request."},
	{names.EventMCPClientStreamClosed, atInfo,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientStreamKind, names.KeyMCPClientDuration),
			when(names.KeyErrorType, names.KeyExceptionMessage)), false,
		names.KeyMCPClientDuration, "", []string{names.MetricMCPClientStreamActive, names.MetricMCPClientStreamDuration},
		Experimental, "Such a stream has ended, with an error unless it ended in order."},
	{names.EventMCPClientStreamRefused, atDebug,
		required(names.KeyMCPClientName, names.KeyMCPClientStreamKind, names.KeyExceptionMessage), false, "", "", nil,
		Experimental,
		"The server offers no such stream, which it need not."},
	{names.EventMCPClientMessageRefused, atDebug,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientMessageKind, names.KeyExceptionMessage),
			when(names.KeyMCPMethodName)), false, "", "", nil, Experimental,
		"The server did not accept a message that has no answer: a notification, or the answer to a request of its own."},
	{names.EventMCPClientConnectionFlightRecord, atInfo,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientFlightRecordText,
			names.KeyMCPClientFlightRecordEntries), when(names.KeyMCPClientFlightRecordOmitted, names.KeyMCPClientSuppressed)),
		false, "", "", nil, Experimental,
		"A connection that was ready is lost, or the client gave up: what happened before, as far as no record like this " +
			"has said it. Follows the transition, once a minute at most."},
	{names.EventMCPClientSubscriptionLost, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPResourceURI),
			when(names.KeyExceptionMessage, names.KeyMCPClientSuppressed)), false, "", "", nil, Experimental,
		"In a later session, or with other wishes, the server does not tell of a resource any more that the client is " +
			"subscribed to. " + asRare},
	{names.EventMCPClientChangeGap, atInfo,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientGapCause), when(names.KeyMCPClientSuppressed)),
		false, "", "", []string{names.MetricMCPClientChangeGap}, Experimental,
		"The client may have missed changes of lists or resources. As rare as records of violations, of each cause."},
	{names.EventMCPClientToolRejected, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyGenAIToolName),
			when(names.KeyExceptionMessage, names.KeyMCPClientSuppressed)), false, "", "", nil, Experimental,
		"A tool is left out of the list, because its schema breaks the rules for parameters that HTTP headers repeat. " +
			asRare},
	{names.EventMCPClientIconRejected, atDebug,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName), when(names.KeyExceptionMessage)), false, "",
		"", nil,
		Experimental,
		"Icons are left out of what the server sent, because their sources are unsafe to load: how many, and what is " +
			"wrong with the first one."},
	{names.EventMCPClientToolOutputUnchecked, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyGenAIToolName),
			when(names.KeyExceptionMessage, names.KeyMCPClientSuppressed)), false, "", "", nil, Experimental,
		"The output of a tool is not checked, because its schema has a regular expression that Go cannot compile. " +
			asRare},
	{names.EventMCPClientToolLoop, atWarn,
		slices.Concat(clientToolFields, required(names.KeyMCPClientLoopKind, names.KeyMCPClientLoopCalls),
			when(names.KeyMCPClientSuppressed)), false, names.KeyMCPClientLoopCalls, spanClientRequest,
		[]string{names.MetricMCPClientToolLoops}, Experimental,
		"A call of a tool has brought nothing new, as so many before it. As rare as records of violations, for each kind " +
			"of loop."},
	{names.EventMCPClientToolChanged, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientToolChangeKind),
			when(names.KeyGenAIToolName, names.KeyMCPClientToolChangeParts, names.KeyExceptionMessage,
				names.KeyMCPClientSuppressed)),
		false, "", "",
		[]string{names.MetricMCPClientToolChanges}, Experimental,
		"A tool is in a list otherwise than in the list before, or than in the baseline, for clients with " +
			"mcpclient.UseDriftDetection. An error says why the change is refused. As rare as records of violations, of each " +
			"kind; a last one may be without a tool."},

	{names.EventMCPServerRequestStart, atDebug, serverRequestFields, true, measuresWallClock, spanServerHandler,
		[]string{names.MetricMCPServerActiveRequests}, Stable, "The server begins to answer a request."},
	{names.EventMCPServerRequestStop, atDebugInfo,
		slices.Concat(serverRequestFields, required(names.KeyMCPServerDuration),
			when(names.KeyRPCResponseStatusCode, names.KeyMCPServerResultType)), true,
		names.KeyMCPServerDuration, spanServerHandler,
		[]string{names.MetricMCPServerOperationDuration, names.MetricMCPServerActiveRequests}, Stable,
		"The server answered a request, or the request was at fault. Info if it took longer than the slow threshold."},
	{names.EventMCPServerRequestException, []slog.Level{slog.LevelDebug, slog.LevelWarn, slog.LevelError},
		slices.Concat(serverRequestFields, required(names.KeyMCPServerDuration, names.KeyErrorType, names.KeyExceptionType,
			names.KeyMCPServerErrorKind),
			when(names.KeyRPCResponseStatusCode, names.KeyExceptionMessage, names.KeyMCPServerSuppressed)), true,
		names.KeyMCPServerDuration, spanServerHandler,
		[]string{names.MetricMCPServerOperationDuration, names.MetricMCPServerActiveRequests}, Stable,
		"The server did not answer a request as asked. Debug if the client cancelled it, or if the tool's error or a " +
			"handler's panic has a record of its own; Error for an internal error. " + orElseDebug},
	{names.EventMCPServerRequestToolError, atInfo,
		slices.Concat(serverToolFields, required(names.KeyMCPServerDuration), when(names.KeyMCPServerSuppressed)), false,
		names.KeyMCPServerDuration, spanServerHandler, []string{names.MetricMCPServerOperationDuration}, Experimental,
		"A tool reported an error in its result. Follows the exception. " + asRare},
	{names.EventMCPServerRequestInputRequired, atDebug, serverRequestFields, false, "", spanServerHandler, nil,
		Experimental, "The server answered that it needs something of the client first. Follows the stop."},
	{names.EventMCPServerAskStart, atDebug, serverAskFields, false, measuresWallClock, spanServerAsk,
		[]string{names.MetricMCPServerActiveAsks}, Experimental,
		"The server asks its client something: sampling, elicitation or roots."},
	{names.EventMCPServerAskStop, atDebugInfo, slices.Concat(serverAskFields, required(names.KeyMCPServerDuration)), false,
		names.KeyMCPServerDuration, spanServerAsk,
		[]string{names.MetricMCPClientOperationDuration, names.MetricMCPServerActiveAsks}, Experimental,
		"The client answered. Info if it took longer than the slow threshold, as people do."},
	{names.EventMCPServerAskException, []slog.Level{slog.LevelDebug, slog.LevelWarn},
		slices.Concat(serverAskFields, required(names.KeyMCPServerDuration, names.KeyErrorType, names.KeyExceptionType,
			names.KeyMCPServerErrorKind),
			when(names.KeyRPCResponseStatusCode, names.KeyExceptionMessage, names.KeyMCPServerSuppressed)), false,
		names.KeyMCPServerDuration, spanServerAsk,
		[]string{names.MetricMCPClientOperationDuration, names.MetricMCPServerActiveAsks}, Experimental,
		"The client did not answer, or with an error. Debug if the handler that asked does not wait any more. " +
			orElseDebug},
	{names.EventMCPServerHandlerPanic, atError,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPMethodName, names.KeyExceptionType,
			names.KeyExceptionMessage, names.KeyExceptionStacktrace), when(names.KeyMCPServerSuppressed)), false, "",
		spanServerHandler, []string{names.MetricMCPServerHandlerPanics}, Experimental,
		"A handler panicked. " + asRare},
	{names.EventMCPServerNotificationReceived, atDebug,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPMethodName),
			when(names.KeyMCPServerDuration, names.KeyErrorType)), true,
		names.KeyMCPServerDuration, spanServerHandler,
		[]string{names.MetricMCPServerNotificationMessages, names.MetricMCPServerOperationDuration}, Stable,
		"A notification was handled, which took the duration, or has no handler."},
	{names.EventMCPServerNotificationSent, atDebug, required(names.KeyMCPServerName, names.KeyMCPMethodName), false, "",
		spanServerNotification,
		[]string{names.MetricMCPServerNotificationMessages, names.MetricMCPClientOperationDuration}, Experimental,
		"A notification was sent."},
	{names.EventMCPServerProtocolViolation, atWarn,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerViolationReason, names.KeyMCPServerDirection),
			when(names.KeyMCPServerFrameSize, names.KeyMCPServerFrameLimit, names.KeyMCPServerFrameHeadHash,
				names.KeyMCPServerSuppressed)), true,
		measuresFrame, "", []string{names.MetricMCPServerProtocolViolations}, Stable,
		"A frame broke the protocol. As rare as the client's."},
	{names.EventMCPServerResponseDropped, atInfoWarn,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerDropReason),
			when(names.KeyJSONRPCRequestID, names.KeyMCPServerDropAge, names.KeyMCPServerSuppressed)), false,
		names.KeyMCPServerDropAge, "", []string{names.MetricMCPServerResponseDrops}, Experimental,
		"A response came for which no call waited."},
	{names.EventMCPServerNotificationDropped, []slog.Level{slog.LevelDebug, slog.LevelWarn},
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerDropReason),
			when(names.KeyMCPMethodName, names.KeyMCPServerSuppressed)), false, "", "",
		[]string{names.MetricMCPServerNotificationDrops}, Experimental,
		"A notification was not sent. Debug if one like it was waiting, or if the client has opened no stream for it. As " +
			"rare as records of violations."},
	{names.EventMCPServerStreamOpened, atInfo, required(names.KeyMCPServerName, names.KeyMCPServerStreamKind), false, "",
		"",
		[]string{names.MetricMCPServerStreamActive}, Experimental,
		"A client has opened a stream that serves no single request."},
	{names.EventMCPServerStreamClosed, atInfo,
		required(names.KeyMCPServerName, names.KeyMCPServerStreamKind, names.KeyMCPServerDuration), false,
		names.KeyMCPServerDuration, "", []string{names.MetricMCPServerStreamActive, names.MetricMCPServerStreamDuration},
		Experimental, "Such a stream has ended."},
	{names.EventMCPServerHttpNoDeadlines, atWarn, required(names.KeyMCPServerName), false, "", "", nil, Experimental,
		"The http.ResponseWriter allows no deadlines, as behind middleware whose writer has no Unwrap method: a client " +
			"that takes " +
			"nothing of a response is not given up. Once for each handler."},
	{names.EventMCPServerTraceLinked, atInfo, required(names.KeyMCPServerName, names.KeyMCPServerTraceAdvice), false, "",
		spanServerHandler, nil, Experimental,
		"A client over HTTP without a principal has sent a trace context for the first time. The server's span has a " +
			"link to the client's, in a trace of its own. Once for each telemetry.Telemetry."},
	{names.EventMCPServerLogLost, atWarn,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerSuppressed),
			when(names.KeyMCPMethodName, names.KeyErrorType)), false, "", "", nil, Experimental,
		"So many records were not written: the log handler took too long. With a method: so many failures of that method " +
			"had no record when the server was stopped."},
	{names.EventMCPServerTaskEnd, []slog.Level{slog.LevelInfo, slog.LevelError},
		slices.Concat(required(names.KeyMCPServerName, names.KeyGenAIToolName, names.KeyMCPServerTaskStatus,
			names.KeyMCPServerDuration), when(names.KeyErrorType, names.KeyRPCResponseStatusCode, names.KeyExceptionMessage,
			names.KeyMCPServerSuppressed)), false,
		names.KeyMCPServerDuration, spanServerTask,
		[]string{names.MetricMCPServerTaskDuration, names.MetricMCPServerTaskActive}, Experimental,
		"The work of a task is over. Error for an internal error, unless a panic has a record of its own. Of failures: as " +
			"rare as the exceptions of requests."},
	{names.EventMCPServerPolicyDecided, []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn},
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerPolicyDecision),
			when(names.KeyMCPMethodName, names.KeyGenAIToolName, names.KeyMCPServerPolicyRedactions,
				names.KeyMCPServerSuppressed)), false, "", spanServerHandler,
		[]string{names.MetricMCPServerPolicyDecisions}, Experimental,
		"The policy of a proxy has not passed on a message as it was. Info for what was redacted, Debug for tools that are " +
			"left out of a list. As rare as records of violations, of each decision; a last one may be without a method."},
	{names.EventMCPServerConnectionFlightRecord, atInfo,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerFlightRecordText,
			names.KeyMCPServerFlightRecordEntries), when(names.KeyMCPServerFlightRecordOmitted, names.KeyMCPServerSuppressed)),
		false, "", "", nil, Experimental,
		"A connection to a client broke: what the server did before over this kind of network, as far as no record like " +
			"this has said it. Once a minute at most."},
	{names.EventMCPServerRequestRefused, atInfoWarn,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerRefusalReason),
			when(names.KeyHttpResponseStatusCode, names.KeyExceptionMessage, names.KeyClientAddress, names.KeyClientPort,
				names.KeyMCPServerSuppressed)), false, "", "",
		[]string{names.MetricMCPServerRequestRefused}, Experimental,
		"The server refused a request before it became one that a handler sees. Info where that is how " +
			"clients find out what the server speaks and demands: methods, headers, revisions, sessions, tokens. As " +
			"rare as records of violations, of each reason; a last one may be without a client."},
	{names.EventMCPServerSessionEnd, atInfo,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerDuration),
			when(names.KeyMCPProtocolVersion, names.KeyErrorType)), false,
		names.KeyMCPServerDuration, "", []string{names.MetricMCPServerSessionDuration, names.MetricMCPServerSessionActive},
		Experimental, "A session is over."},
})

// identifiedEvents returns the events likewise.
func identifiedEvents(rows []Event) []Event {
	all := make([]Event, len(rows))
	for i, r := range rows {
		all[i] = Event{r.Name, r.Levels, identified(r.Fields), r.Core, r.Measurement, r.Span, r.Metrics, r.Stability, r.Brief}
	}
	return all
}

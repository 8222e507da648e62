package schema

import (
	"log/slog"
	"slices"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Levels of events: Debug for one event per message, Info for the life of a connection, Warn for degraded work or a
// misbehaving peer, Error for a defect of this side.
var (
	atDebug     = []slog.Level{slog.LevelDebug}
	atInfo      = []slog.Level{slog.LevelInfo}
	atWarn      = []slog.Level{slog.LevelWarn}
	atError     = []slog.Level{slog.LevelError}
	atDebugInfo = []slog.Level{slog.LevelDebug, slog.LevelInfo}
	atInfoWarn  = []slog.Level{slog.LevelInfo, slog.LevelWarn}
)

// Attributes that identify a request, on every event of its life.
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

// Last sentences of the descriptions of failures: the limit of their records, and the level of records beyond the
// limit.
const (
	asRare      = "Limit for each method and error type: five records at once, then one a second."
	orElseDebug = "Limit for each method and error type: five warnings or errors at once, then one a second; others are " +
		"Debug."
)

// allEvents lists every event. In addition to its fields, each event has event.name.
var allEvents = identifiedEvents([]Event{
	{names.EventMCPClientRequestStart, atDebug, clientRequestFields, true, measuresWallClock, spanClientRequest,
		[]string{names.MetricMCPClientActiveRequests}, Stable,
		"A request starts. The record follows as soon as the request has an id, or when the request ends without an id."},
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
		"A request failed. Debug if the caller cancelled it, or if another record contains the error: the record " +
			"of the tool's error, or of the attempt to connect. " + orElseDebug},
	{names.EventMCPClientRequestToolError, atInfo,
		slices.Concat(clientToolFields, required(names.KeyMCPClientDuration), when(names.KeyMCPClientSuppressed)), false,
		names.KeyMCPClientDuration, spanClientRequest, []string{names.MetricMCPClientOperationDuration}, Experimental,
		"A tool reported an error in its result. The record follows the exception. " + asRare},
	{names.EventMCPClientRequestInputRequired, atDebug,
		slices.Concat(clientRequestFields, when(names.KeyMCPClientMRTRRound)), false, "",
		spanClientRequest, nil, Experimental,
		"The server asks for input before it answers the call. The next request of the call brings the input. The " +
			"record follows the stop."},
	{names.EventMCPClientRequestReissued, atInfo,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName, names.KeyMCPClientCorrID),
			when(names.KeyJSONRPCRequestID)), false, "",
		spanClientRequest, nil, Experimental,
		"A request repeats a failed request: a subscription that was lost with its connection, or a call whose options set " +
			"Retry. Its span has a link to the span of the failed request. The record follows the start. No other request is " +
			"repeated automatically."},
	{names.EventMCPClientConnectionTransition, atInfoWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientConnectionFrom, names.KeyMCPClientConnectionTo,
			names.KeyMCPClientConnectionReason, names.KeyMCPClientConnectionAttemptNumber,
			names.KeyMCPClientConnectionEpoch, names.KeyMCPClientDuration), when(names.KeyExceptionMessage)), true,
		names.KeyMCPClientDuration, "", []string{names.MetricMCPClientConnectionTransitions,
			names.MetricMCPClientConnectionState}, Stable,
		"The connection changed its state. The duration is the time in the previous state. Warn if a ready " +
			"connection was lost, or if the connection was refused."},
	{names.EventMCPClientNotificationReceived, atDebug,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName),
			when(names.KeyMCPClientDuration, names.KeyErrorType)), true,
		names.KeyMCPClientDuration, spanClientHandler,
		[]string{names.MetricMCPClientNotificationMessages, names.MetricMCPServerOperationDuration}, Stable,
		"A notification was handled within the duration, or has no handler."},
	{names.EventMCPClientProtocolViolation, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientViolationReason, names.KeyMCPClientDirection),
			when(names.KeyMCPClientFrameSize, names.KeyMCPClientFrameLimit, names.KeyMCPClientFrameHeadHash,
				names.KeyMCPClientSuppressed)), true,
		measuresFrame, "", []string{names.MetricMCPClientProtocolViolations}, Stable,
		"A frame violated the protocol. Limit for each reason: five records at once, then one a second. The next record " +
			"contains the number of suppressed records. When the client ends, a last record without a frame may contain this " +
			"number."},

	{names.EventMCPClientHandlerStart, atDebug, clientHandlerFields, false, measuresWallClock, spanClientHandler,
		[]string{names.MetricMCPClientActiveHandlers}, Experimental,
		"The client starts to answer a request of the server."},
	{names.EventMCPClientHandlerStop, atDebugInfo,
		slices.Concat(clientHandlerFields, required(names.KeyMCPClientDuration), when(names.KeyRPCResponseStatusCode)), false,
		names.KeyMCPClientDuration, spanClientHandler,
		[]string{names.MetricMCPServerOperationDuration, names.MetricMCPClientActiveHandlers}, Experimental,
		"The client answered a request of the server, or rejected it as faulty. Info if it took longer than the " +
			"slow threshold."},
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
		"A notification did not reach its handlers. Debug if an equal notification reached them. Limited like records of " +
			"violations."},
	{names.EventMCPClientResponseDropped, atInfoWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientDropReason),
			when(names.KeyJSONRPCRequestID, names.KeyMCPClientDropAge, names.KeyMCPClientSuppressed)), false,
		names.KeyMCPClientDropAge, "", []string{names.MetricMCPClientResponseDrops}, Experimental,
		"A response arrived after its call had ended; the record has the trace of the call. Warn if no call ever " +
			"had its id. Limited like records of violations."},
	{names.EventMCPClientSessionEnd, atInfo,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientDuration),
			when(names.KeyMCPProtocolVersion, names.KeyErrorType)), false,
		names.KeyMCPClientDuration, "", []string{names.MetricMCPClientSessionDuration}, Experimental,
		"A session ended."},
	{names.EventMCPClientConnectionAttempt, atInfoWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientConnectionAttemptNumber,
			names.KeyMCPClientConnectionAttemptKind, names.KeyMCPClientDuration),
			when(names.KeyErrorType, names.KeyExceptionMessage, names.KeyMCPClientServerName, names.KeyMCPClientServerVersion)),
		false,
		names.KeyMCPClientDuration, spanClientAttempt, []string{names.MetricMCPClientConnectionAttemptDuration}, Experimental,
		"An attempt to connect ended. Warn if it failed, except during the probe. After the probe, the next attempt " +
			"starts immediately."},
	{names.EventMCPClientConnectionBackoff, atInfo,
		required(names.KeyMCPClientName, names.KeyMCPClientConnectionBackoffDelay, names.KeyMCPClientConnectionAttemptNumber),
		false, names.KeyMCPClientConnectionBackoffDelay, "", []string{names.MetricMCPClientConnectionBackoff}, Experimental,
		"The client waits before it tries to connect again. The attempt number is the number of the previous attempt."},
	{names.EventMCPClientSendRetry, atDebug,
		slices.Concat(clientRequestFields, required(names.KeyMCPClientRetryReason, names.KeyMCPClientSendRetries)), false, "",
		spanClientRequest, []string{names.MetricMCPClientTransportSendRetries}, Experimental,
		"A message could not be sent and will be retried."},
	{names.EventMCPClientTombstoneAdded, atDebug, required(names.KeyMCPClientName, names.KeyMCPClientTombstoneCount),
		false, names.KeyMCPClientTombstoneCount, "",
		[]string{names.MetricMCPClientTombstoneKept}, Experimental, "Calls ended without an answer."},
	{names.EventMCPClientTombstoneExpired, atDebug, required(names.KeyMCPClientName, names.KeyMCPClientTombstoneCount),
		false, names.KeyMCPClientTombstoneCount, "",
		[]string{names.MetricMCPClientTombstoneKept}, Experimental,
		"Late answers to these calls can no longer be recognized."},
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
		"A fault plan disturbed an attempt to connect or a message on purpose: see package chaos. For a message, the " +
			"record has the method and the tool of the request."},
	{names.EventMCPClientConnectionCloseFailed, atWarn,
		slices.Concat(required(names.KeyMCPClientName), when(names.KeyExceptionMessage)), false, "", "", nil, Experimental,
		"Closing a connection left something open, such as a process that the kernel does not end."},
	{names.EventMCPClientListCacheFailed, atWarn,
		slices.Concat(required(names.KeyMCPClientName), when(names.KeyExceptionMessage)), false, "", "", nil, Experimental,
		"The cached lists of a server that starts on demand cannot be used, read or written. The file is ignored; the " +
			"server starts to list its tools."},
	{names.EventMCPClientLogLost, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientSuppressed),
			when(names.KeyMCPMethodName, names.KeyErrorType)), false, "", "", nil, Experimental,
		"Records were not written, or transitions were not reported, because the log handler or the user's function took " +
			"too long. The record contains their number. If the record has a method, the number counts the failures of this " +
			"method that had no record when the client was closed."},
	{names.EventMCPClientStreamOpened, atInfo, required(names.KeyMCPClientName, names.KeyMCPClientStreamKind), false, "",
		"",
		[]string{names.MetricMCPClientStreamActive}, Experimental,
		"A stream that does not belong to a single request was opened."},
	{names.EventMCPClientStreamClosed, atInfo,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientStreamKind, names.KeyMCPClientDuration),
			when(names.KeyErrorType, names.KeyExceptionMessage)), false,
		names.KeyMCPClientDuration, "", []string{names.MetricMCPClientStreamActive, names.MetricMCPClientStreamDuration},
		Experimental, "A stream that does not belong to a single request ended. The record has an error unless the end was " +
			"normal."},
	{names.EventMCPClientStreamRefused, atDebug,
		required(names.KeyMCPClientName, names.KeyMCPClientStreamKind, names.KeyExceptionMessage), false, "", "", nil,
		Experimental,
		"The server does not offer a stream for its own messages, which is optional."},
	{names.EventMCPClientMessageRefused, atDebug,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientMessageKind, names.KeyExceptionMessage),
			when(names.KeyMCPMethodName)), false, "", "", nil, Experimental,
		"The server rejected a message that has no answer: a notification, or the answer to one of its own " +
			"requests."},
	{names.EventMCPClientConnectionFlightRecord, atInfo,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientFlightRecordText,
			names.KeyMCPClientFlightRecordEntries), when(names.KeyMCPClientFlightRecordOmitted, names.KeyMCPClientSuppressed)),
		false, "", "", nil, Experimental,
		"A ready connection was lost, or the client gave up. The record contains the latest events that no earlier record " +
			"of this kind contains. The record follows the record of the transition, at most once a minute."},
	{names.EventMCPClientSubscriptionLost, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPResourceURI),
			when(names.KeyExceptionMessage, names.KeyMCPClientSuppressed)), false, "", "", nil, Experimental,
		"In a later session, or after a change of subscriptions, the server no longer reports updates of a " +
			"subscribed resource. " + asRare},
	{names.EventMCPClientChangeGap, atInfo,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientGapCause), when(names.KeyMCPClientSuppressed)),
		false, "", "", []string{names.MetricMCPClientChangeGap}, Experimental,
		"The client may have missed changes of lists or resources. Limited like records of violations, for each " +
			"cause."},
	{names.EventMCPClientToolRejected, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyGenAIToolName),
			when(names.KeyExceptionMessage, names.KeyMCPClientSuppressed)), false, "", "", nil, Experimental,
		"The client omits a tool from the list, because its schema breaks the rules for parameters that HTTP " +
			"headers repeat. " + asRare},
	{names.EventMCPClientIconRejected, atDebug,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName), when(names.KeyExceptionMessage)), false, "",
		"", nil,
		Experimental,
		"The client omits icons of the server, because their sources are unsafe to load. The record contains their " +
			"number, and the problem of the first icon."},
	{names.EventMCPClientToolOutputUnchecked, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyGenAIToolName),
			when(names.KeyExceptionMessage, names.KeyMCPClientSuppressed)), false, "", "", nil, Experimental,
		"The client does not validate the output of a tool, because its schema has a regular expression that Go " +
			"cannot compile. " + asRare},
	{names.EventMCPClientToolLoop, atWarn,
		slices.Concat(clientToolFields, required(names.KeyMCPClientLoopKind, names.KeyMCPClientLoopCalls),
			when(names.KeyMCPClientSuppressed)), false, names.KeyMCPClientLoopCalls, spanClientRequest,
		[]string{names.MetricMCPClientToolLoops}, Experimental,
		"A tool call returned nothing new, like several calls before it. Limited like records of violations, for each kind " +
			"of loop."},
	{names.EventMCPClientToolChanged, atWarn,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientToolChangeKind),
			when(names.KeyGenAIToolName, names.KeyMCPClientToolChangeParts, names.KeyExceptionMessage,
				names.KeyMCPClientSuppressed)),
		false, "", "",
		[]string{names.MetricMCPClientToolChanges}, Experimental,
		"A tool differs from the previous list, or from the baseline, for clients with mcpclient.UseDriftDetection. If the " +
			"record has an error, the error is the reason for rejecting the change. Limited like records of violations, for " +
			"each kind; a last record may have no tool."},
	{names.EventMCPClientAuditCall, []slog.Level{slog.LevelInfo, slog.LevelError},
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName, names.KeyMCPClientAuditOutcome,
			names.KeyMCPClientAuditKeyID), when(names.KeyGenAIToolName, names.KeyJSONRPCRequestID,
			names.KeyMCPClientAuditArgumentsHash, names.KeyMCPClientCorrID, names.KeyGenAIConversationID, names.KeyGenAIAgentName, names.KeyUserHash,
			names.KeyErrorType, names.KeyMCPClientResultType, names.KeyMCPClientAuditSequence, names.KeyMCPClientAuditHash,
			names.KeyExceptionMessage)), false, "", spanClientRequest, []string{names.MetricMCPClientAuditLosses}, Experimental,
		"A tools/call ended, and is audited: see telemetry.WithAudit. Error if the audit file lacks the record; the record " +
			"then has no sequence and no hash. The records have no limit."},

	{names.EventMCPServerRequestStart, atDebug, serverRequestFields, true, measuresWallClock, spanServerHandler,
		[]string{names.MetricMCPServerActiveRequests}, Stable, "The server starts to answer a request."},
	{names.EventMCPServerRequestStop, atDebugInfo,
		slices.Concat(serverRequestFields, required(names.KeyMCPServerDuration),
			when(names.KeyRPCResponseStatusCode, names.KeyMCPServerResultType)), true,
		names.KeyMCPServerDuration, spanServerHandler,
		[]string{names.MetricMCPServerOperationDuration, names.MetricMCPServerActiveRequests}, Stable,
		"The server answered a request, or rejected it as faulty. Info if it took longer than the slow threshold."},
	{names.EventMCPServerRequestException, []slog.Level{slog.LevelDebug, slog.LevelWarn, slog.LevelError},
		slices.Concat(serverRequestFields, required(names.KeyMCPServerDuration, names.KeyErrorType, names.KeyExceptionType,
			names.KeyMCPServerErrorKind),
			when(names.KeyRPCResponseStatusCode, names.KeyExceptionMessage, names.KeyMCPServerSuppressed)), true,
		names.KeyMCPServerDuration, spanServerHandler,
		[]string{names.MetricMCPServerOperationDuration, names.MetricMCPServerActiveRequests}, Stable,
		"The server failed to answer a request. Debug if the client cancelled it, or if the tool's error or a " +
			"handler's panic has its own record; Error for an internal error. " + orElseDebug},
	{names.EventMCPServerRequestToolError, atInfo,
		slices.Concat(serverToolFields, required(names.KeyMCPServerDuration), when(names.KeyMCPServerSuppressed)), false,
		names.KeyMCPServerDuration, spanServerHandler, []string{names.MetricMCPServerOperationDuration}, Experimental,
		"A tool reported an error in its result. The record follows the exception. " + asRare},
	{names.EventMCPServerRequestInputRequired, atDebug, serverRequestFields, false, "", spanServerHandler, nil,
		Experimental, "The server answered that it needs input from the client first. The record follows the stop."},
	{names.EventMCPServerAskStart, atDebug, serverAskFields, false, measuresWallClock, spanServerAsk,
		[]string{names.MetricMCPServerActiveAsks}, Experimental,
		"The server sends its client a request: sampling, elicitation or roots."},
	{names.EventMCPServerAskStop, atDebugInfo, slices.Concat(serverAskFields, required(names.KeyMCPServerDuration)), false,
		names.KeyMCPServerDuration, spanServerAsk,
		[]string{names.MetricMCPClientOperationDuration, names.MetricMCPServerActiveAsks}, Experimental,
		"The client answered a request of the server. Info if it took longer than the slow threshold, as answers of " +
			"people do."},
	{names.EventMCPServerAskException, []slog.Level{slog.LevelDebug, slog.LevelWarn},
		slices.Concat(serverAskFields, required(names.KeyMCPServerDuration, names.KeyErrorType, names.KeyExceptionType,
			names.KeyMCPServerErrorKind),
			when(names.KeyRPCResponseStatusCode, names.KeyExceptionMessage, names.KeyMCPServerSuppressed)), false,
		names.KeyMCPServerDuration, spanServerAsk,
		[]string{names.MetricMCPClientOperationDuration, names.MetricMCPServerActiveAsks}, Experimental,
		"The client did not answer, or answered with an error. Debug if the handler no longer waits. " +
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
		"A notification was handled within the duration, or has no handler."},
	{names.EventMCPServerNotificationSent, atDebug, required(names.KeyMCPServerName, names.KeyMCPMethodName), false, "",
		spanServerNotification,
		[]string{names.MetricMCPServerNotificationMessages, names.MetricMCPClientOperationDuration}, Experimental,
		"A notification was sent."},
	{names.EventMCPServerProtocolViolation, atWarn,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerViolationReason, names.KeyMCPServerDirection),
			when(names.KeyMCPServerFrameSize, names.KeyMCPServerFrameLimit, names.KeyMCPServerFrameHeadHash,
				names.KeyMCPServerSuppressed)), true,
		measuresFrame, "", []string{names.MetricMCPServerProtocolViolations}, Stable,
		"A frame violated the protocol. Limited like the client's records."},
	{names.EventMCPServerResponseDropped, atInfoWarn,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerDropReason),
			when(names.KeyJSONRPCRequestID, names.KeyMCPServerDropAge, names.KeyMCPServerSuppressed)), false,
		names.KeyMCPServerDropAge, "", []string{names.MetricMCPServerResponseDrops}, Experimental,
		"A response arrived for which no request waits."},
	{names.EventMCPServerNotificationDropped, []slog.Level{slog.LevelDebug, slog.LevelWarn},
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerDropReason),
			when(names.KeyMCPMethodName, names.KeyMCPServerSuppressed)), false, "", "",
		[]string{names.MetricMCPServerNotificationDrops}, Experimental,
		"A notification was not sent. Debug if an equal notification was waiting, or if the client has no open " +
			"stream for it. Limited like records of violations."},
	{names.EventMCPServerStreamOpened, atInfo, required(names.KeyMCPServerName, names.KeyMCPServerStreamKind), false, "",
		"",
		[]string{names.MetricMCPServerStreamActive}, Experimental,
		"A client opened a stream that does not belong to a single request."},
	{names.EventMCPServerStreamClosed, atInfo,
		required(names.KeyMCPServerName, names.KeyMCPServerStreamKind, names.KeyMCPServerDuration), false,
		names.KeyMCPServerDuration, "", []string{names.MetricMCPServerStreamActive, names.MetricMCPServerStreamDuration},
		Experimental, "A stream that does not belong to a single request ended."},
	{names.EventMCPServerHttpNoDeadlines, atWarn, required(names.KeyMCPServerName), false, "", "", nil, Experimental,
		"The http.ResponseWriter does not support deadlines, for example because the writer of a middleware has no " +
			"Unwrap method. So the server cannot disconnect a client that stops reading. Once for each handler."},
	{names.EventMCPServerTraceLinked, atInfo, required(names.KeyMCPServerName, names.KeyMCPServerTraceAdvice), false, "",
		spanServerHandler, nil, Experimental,
		"A client over HTTP without a principal sent a trace context. The server's span starts a new trace and " +
			"has a link to the client's span. Once for each telemetry.Telemetry."},
	{names.EventMCPServerLogLost, atWarn,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerSuppressed),
			when(names.KeyMCPMethodName, names.KeyErrorType)), false, "", "", nil, Experimental,
		"Records were not written, because the log handler took too long. The record contains their number. If the record " +
			"has a method, the number counts the failures of this method that had no record when the server was stopped."},
	{names.EventMCPServerTaskEnd, []slog.Level{slog.LevelInfo, slog.LevelError},
		slices.Concat(required(names.KeyMCPServerName, names.KeyGenAIToolName, names.KeyMCPServerTaskStatus,
			names.KeyMCPServerDuration), when(names.KeyErrorType, names.KeyRPCResponseStatusCode, names.KeyExceptionMessage,
			names.KeyMCPServerSuppressed)), false,
		names.KeyMCPServerDuration, spanServerTask,
		[]string{names.MetricMCPServerTaskDuration, names.MetricMCPServerTaskActive}, Experimental,
		"The work of a task ended. Error for an internal error, unless a panic has its own record. Failures are " +
			"limited like the exceptions of requests."},
	{names.EventMCPServerPolicyDecided, []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn},
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerPolicyDecision),
			when(names.KeyMCPMethodName, names.KeyGenAIToolName, names.KeyMCPServerPolicyRedactions,
				names.KeyMCPServerSuppressed)), false, "", spanServerHandler,
		[]string{names.MetricMCPServerPolicyDecisions}, Experimental,
		"The policy of a proxy changed or blocked a message. Info for redactions, Debug for tools omitted from a " +
			"list. Limited like records of violations, for each decision; a last record may have no method."},
	{names.EventMCPServerConnectionFlightRecord, atInfo,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerFlightRecordText,
			names.KeyMCPServerFlightRecordEntries), when(names.KeyMCPServerFlightRecordOmitted, names.KeyMCPServerSuppressed)),
		false, "", "", nil, Experimental,
		"A connection to a client failed. The record contains the server's latest events over this kind of network " +
			"that no earlier record of this kind contains. At most once a minute."},
	{names.EventMCPServerRequestRefused, atInfoWarn,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerRefusalReason),
			when(names.KeyHttpResponseStatusCode, names.KeyExceptionMessage, names.KeyClientAddress, names.KeyClientPort,
				names.KeyMCPServerSuppressed)), false, "", "",
		[]string{names.MetricMCPServerRequestRefused}, Experimental,
		"The server refused a request before it reached a handler. Info for refusals by which clients learn the " +
			"server's requirements: methods, headers, revisions, sessions, tokens. Limited like records of " +
			"violations, for each reason; a last record may have no client."},
	{names.EventMCPServerSessionEnd, atInfo,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerDuration),
			when(names.KeyMCPProtocolVersion, names.KeyErrorType)), false,
		names.KeyMCPServerDuration, "", []string{names.MetricMCPServerSessionDuration, names.MetricMCPServerSessionActive},
		Experimental, "A session ended."},
	{names.EventMCPServerAuditCall, []slog.Level{slog.LevelInfo, slog.LevelError},
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPMethodName, names.KeyMCPServerAuditOutcome,
			names.KeyMCPServerAuditKeyID), when(names.KeyGenAIToolName, names.KeyJSONRPCRequestID,
			names.KeyMCPServerAuditArgumentsHash, names.KeyMCPServerAuditPrincipal, names.KeyMCPServerPolicyDecision, names.KeyGenAIConversationID, names.KeyGenAIAgentName, names.KeyUserHash,
			names.KeyErrorType, names.KeyMCPServerResultType, names.KeyMCPServerAuditSequence, names.KeyMCPServerAuditHash,
			names.KeyExceptionMessage)), false, "", spanServerHandler, []string{names.MetricMCPServerAuditLosses}, Experimental,
		"A tools/call ended, and is audited: see telemetry.WithAudit. Error if the audit file lacks the record; the record " +
			"then has no sequence and no hash. The records have no limit."},
})

// identifiedEvents adds the group and the instance to every event that has the name.
func identifiedEvents(rows []Event) []Event {
	all := make([]Event, len(rows))
	for i, r := range rows {
		all[i] = Event{r.Name, r.Levels, identified(r.Fields), r.Core, r.Measurement, r.Span, r.Metrics, r.Stability, r.Brief}
	}
	return all
}

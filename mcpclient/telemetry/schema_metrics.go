package telemetry

import "slices"

// Bucket boundaries. Those of the conventions are theirs.
var (
	conventionSeconds = []float64{.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300}
	attemptSeconds    = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	backoffSeconds    = []float64{.05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 120}
	streamSeconds     = []float64{1, 5, 30, 60, 300, 900, 3600, 14400, 43200, 86400}
	shortSeconds      = []float64{1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 1e-2, 1e-1}
	queueSeconds      = append(slices.Clip(shortSeconds), .5, 1, 5)
	sizeBytes         = []float64{
		1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26,
	}
)

// Attributes of the metrics of the conventions.
var (
	connectionAttrs = []string{keyMCPVersion, keyTransport, keyProtocol, keyProtocolVersion}
	operationAttrs  = append([]string{
		keyTool, keyPrompt, keyOperation, keyErrorType, keyStatusCode, keyClientName, keyServerName,
	}, connectionAttrs...)
	sessionAttrs = when(connectionAttrs...)
)

// metrics is every metric there is. The instruments are made from it.
var metrics = counted([]metricRow{
	{metricClientDuration, Histogram, "s", conventionSeconds,
		slices.Concat(required(keyMethod), when(operationAttrs...), when(keyAddress, keyPort)), Convention,
		"Duration of a request or notification as its sender sees it, from sending to the answer."},
	{metricServerDuration, Histogram, "s", conventionSeconds,
		slices.Concat(required(keyMethod), when(operationAttrs...)), Convention,
		"Duration of a request or notification as its receiver sees it, from its arrival to the answer."},
	{metricClientSession, Histogram, "s", conventionSeconds,
		slices.Concat(required(keyClientName), whenOnly(keyErrorType, sessionErrors...), sessionAttrs, when(keyAddress, keyPort)), Convention,
		"Duration of a session as the client sees it. Sessions may outlast the buckets by far: a View with an exponential histogram serves them better."},
	{metricServerSession, Histogram, "s", conventionSeconds,
		slices.Concat(required(keyServerName), whenOnly(keyErrorType, ErrorConnectionLost), sessionAttrs), Convention,
		"Duration of a session as the server sees it."},

	{metricClientActive, UpDownCounter, "{request}", nil,
		slices.Concat(required(keyClientName, keyMethod), when(keyTransport)), Stable,
		"Requests that wait for a connection or for their answer."},
	{metricClientHandlers, UpDownCounter, "{request}", nil,
		slices.Concat(required(keyClientName, keyMethod), when(keyTransport)), Experimental,
		"Requests of the server that the client is answering."},
	{metricClientPanics, Counter, "{panic}", nil, required(keyClientName, keyMethod), Experimental,
		"Panics of handlers."},
	{metricClientNotifications, Counter, "{notification}", nil, required(keyClientName, keyMethod, keyClientDirection), Stable,
		"Notifications sent, and notifications received that were handled or had no handler."},
	{metricClientNotificationsDropped, Counter, "{notification}", nil,
		slices.Concat(required(keyClientName, keyMethod), only(keyClientDropReason, DropQueueFull, DropCoalesced, DropNotReady, DropUnsubscribed)), Experimental,
		"Notifications received that did not reach their handlers."},
	{metricClientViolations, Counter, "{violation}", nil,
		slices.Concat(required(keyClientName, keyClientViolationReason), only(keyClientDirection, directions[Received]), when(keyTransport)), Stable,
		"Frames that broke the protocol."},
	{metricClientDropped, Counter, "{response}", nil, slices.Concat(required(keyClientName),
		only(keyClientDropReason, DropLateTimeout, DropLateCancelled, DropLateLost, DropDuplicate, DropUnknownID)), Experimental,
		"Responses that nobody waited for."},
	{metricClientMessageSize, Histogram, "By", sizeBytes,
		slices.Concat(required(keyClientName, keyClientDirection, keyClientMessageKind), when(keyTransport)), Experimental,
		"Sizes of frames."},
	{metricClientDecode, Histogram, "s", shortSeconds,
		slices.Concat(required(keyClientName), only(keyClientMessageKind, messageKinds[KindResponse]), when(keyErrorType)), Experimental,
		"Time to decode a result."},
	{metricClientQueueWait, Histogram, "s", queueSeconds, required(keyClientName), Experimental,
		"Time a message waited before it was written."},
	{metricClientQueueLength, ObservableGauge, "{message}", nil, required(keyClientName), Experimental,
		"Messages that wait to be written."},
	{metricClientRetries, Counter, "{retry}", nil,
		slices.Concat(required(keyClientName, keyClientRetryReason), when(keyTransport)), Experimental,
		"Further tries to send a message."},
	{metricClientTombstones, UpDownCounter, "{tombstone}", nil, required(keyClientName), Experimental,
		"Ids of calls that ended without an answer, kept to know a late one by."},
	{metricClientTransitions, Counter, "{transition}", nil,
		slices.Concat(required(keyClientName, keyClientFrom, keyClientTo, keyClientTransitionReason), when(keyTransport)), Stable,
		"Moves of the connection from state to state."},
	{metricClientState, ObservableUpDownCounter, "{connection}", nil, required(keyClientName, keyClientState), Stable,
		"Clients in each state: 0 or 1 where each has a name of its own."},
	{metricClientAttempt, Histogram, "s", attemptSeconds,
		slices.Concat(required(keyClientName, keyClientAttemptKind), when(keyTransport, keyErrorType)), Experimental,
		"Duration of an attempt to connect, negotiation included."},
	{metricClientBackoff, Histogram, "s", backoffSeconds, required(keyClientName), Experimental,
		"Delay before an attempt to connect."},
	{metricClientStreams, UpDownCounter, "{stream}", nil, required(keyClientName, keyClientStreamKind), Experimental,
		"Streams that are open and serve no single request."},
	{metricClientStream, Histogram, "s", streamSeconds,
		slices.Concat(required(keyClientName, keyClientStreamKind), when(keyErrorType)), Experimental,
		"Time a stream was open that served no single request."},
	{metricClientCache, Counter, "{lookup}", nil, required(keyClientName, keyMethod, keyClientCacheOutcome), Experimental,
		"Results that were looked for in the client's cache. A hit is no request: nothing is sent, and no other metric counts it."},

	{metricServerHandlers, UpDownCounter, "{request}", nil,
		slices.Concat(required(keyServerName, keyMethod), when(keyTransport)), Stable,
		"Requests that the server is answering."},
	{metricServerPanics, Counter, "{panic}", nil, required(keyServerName, keyMethod), Experimental,
		"Panics of handlers."},
	{metricServerNotifications, Counter, "{notification}", nil, required(keyServerName, keyMethod, keyServerDirection), Stable,
		"Notifications sent and received."},
	{metricServerViolations, Counter, "{violation}", nil,
		slices.Concat(required(keyServerName), only(keyServerViolationReason, serverViolations...),
			only(keyServerDirection, directions[Received]), when(keyTransport)), Stable,
		"Frames that broke the protocol."},
	{metricServerDropped, Counter, "{response}", nil, slices.Concat(required(keyServerName),
		only(keyServerDropReason, DropLateTimeout, DropLateCancelled, DropDuplicate, DropUnknownID, DropUnexpected)), Experimental,
		"Responses that nobody waited for."},
	{metricServerNotificationsDropped, Counter, "{notification}", nil,
		slices.Concat(required(keyServerName, keyMethod), only(keyServerDropReason, DropQueueFull, DropCoalesced, DropNoStream, DropRateLimited)), Experimental,
		"Notifications that were not sent: the client took none, or one like it was waiting."},
	{metricServerAsks, UpDownCounter, "{request}", nil,
		slices.Concat(required(keyServerName, keyMethod), when(keyTransport)), Experimental,
		"Requests to clients that wait for their answers."},
	{metricServerSessions, ObservableUpDownCounter, "{session}", nil, slices.Concat(required(keyServerName), when(keyTransport)), Experimental,
		"Sessions that are open in this process. Versions of the protocol from 2026-07-28 on have none."},
	{metricServerStreams, UpDownCounter, "{stream}", nil, required(keyServerName, keyServerStreamKind), Experimental,
		"Streams that are open and serve no single request."},
	{metricServerStream, Histogram, "s", streamSeconds, required(keyServerName, keyServerStreamKind), Experimental,
		"Time a stream was open that served no single request."},
	{metricServerMessageSize, Histogram, "By", sizeBytes,
		slices.Concat(required(keyServerName, keyServerDirection, keyServerMessageKind), when(keyTransport)), Experimental,
		"Sizes of frames."},
	{metricServerDecode, Histogram, "s", shortSeconds,
		slices.Concat(required(keyServerName), only(keyServerMessageKind, messageKinds[KindRequest], messageKinds[KindResponse]), when(keyErrorType)), Experimental,
		"Time to decode the params of a request, without the arguments of a tool, or the client's answer to a request of the server."},
	{metricServerTasks, UpDownCounter, "{task}", nil, required(keyServerName, keyTool), Experimental,
		"Tasks that run, those that wait for input included."},
	{metricServerTask, Histogram, "s", streamSeconds,
		slices.Concat(required(keyServerName, keyTool, keyServerTaskStatus), when(keyErrorType)), Experimental,
		"Time from the creation of a task to its outcome."},
	{metricServerQueueWait, Histogram, "s", queueSeconds, required(keyServerName), Experimental,
		"Time a message waited before it was written. HTTP has no queue."},
	{metricServerQueueLength, ObservableGauge, "{message}", nil, required(keyServerName), Experimental,
		"Messages that wait to be written, over all connections. HTTP has no queue."},
})

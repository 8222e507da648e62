package schema

import (
	"slices"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/internal/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Bucket boundaries. Those of the conventions are theirs.
var (
	conventionSeconds = []float64{.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300}
	toolSeconds       = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
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
	connectionAttrs = []string{names.KeyMCPProtocolVersion, names.KeyNetworkTransport, names.KeyNetworkProtocolName,
		names.KeyNetworkProtocolVersion}
	operationAttrs = append([]string{
		names.KeyGenAIAgentName,
		names.KeyGenAIToolName, names.KeyGenAIPromptName, names.KeyGenAIOperationName, names.KeyErrorType,
		names.KeyRPCResponseStatusCode, names.KeyMCPClientName, names.KeyMCPServerName,
	}, connectionAttrs...)
	sessionAttrs = when(connectionAttrs...)
)

// metrics is every metric there is. The instruments are made from it.
var metrics = counted([]metricRow{
	{names.MetricMCPClientOperationDuration, Histogram, "s", conventionSeconds,
		slices.Concat(required(names.KeyMCPMethodName), when(operationAttrs...),
			when(names.KeyServerAddress, names.KeyServerPort)), Convention,
		"Duration of a request or notification as its sender sees it, from sending to the answer."},
	{names.MetricMCPServerOperationDuration, Histogram, "s", conventionSeconds,
		slices.Concat(required(names.KeyMCPMethodName), when(operationAttrs...)), Convention,
		"Duration of a request or notification as its receiver sees it, from its arrival to the answer."},
	{names.MetricGenAIExecuteToolDuration, Histogram, "s", toolSeconds,
		slices.Concat(required(names.KeyMCPClientName, names.KeyGenAIOperationName, names.KeyGenAIToolName,
			names.KeyGenAIToolType), when(names.KeyErrorType)), Convention,
		"Duration of a tool call, for dashboards of the GenAI conventions: see telemetry.WithExecuteToolDuration."},
	{names.MetricMCPClientSessionDuration, Histogram, "s", conventionSeconds,
		slices.Concat(required(names.KeyMCPClientName), whenOnly(names.KeyErrorType, words.SessionErrors...), sessionAttrs,
			when(names.KeyServerAddress, names.KeyServerPort)), Convention,
		"Duration of a session as the client sees it. Sessions may outlast the buckets by far: a View with an exponential " +
			"histogram serves them better."},
	{names.MetricMCPServerSessionDuration, Histogram, "s", conventionSeconds,
		slices.Concat(required(names.KeyMCPServerName), whenOnly(names.KeyErrorType, names.ErrorConnectionLost),
			sessionAttrs), Convention,
		"Duration of a session as the server sees it."},

	{names.MetricMCPClientActiveRequests, UpDownCounter, "{request}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName), when(names.KeyNetworkTransport)), Stable,
		"Requests that wait for a connection or for their answer."},
	{names.MetricMCPClientActiveHandlers, UpDownCounter, "{request}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName), when(names.KeyNetworkTransport)),
		Experimental, "Requests of the server that the client is answering."},
	{names.MetricMCPClientHandlerPanics, Counter, "{panic}", nil, required(names.KeyMCPClientName, names.KeyMCPMethodName),
		Experimental, "Panics of handlers."},
	{names.MetricMCPClientNotifications, Counter, "{notification}", nil,
		required(names.KeyMCPClientName, names.KeyMCPMethodName, names.KeyMCPClientDirection), Stable,
		"Notifications sent, and notifications received that were handled or had no handler."},
	{names.MetricMCPClientNotificationsDropped, Counter, "{notification}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName),
			only(names.KeyMCPClientDropReason, names.DropQueueFull, names.DropCoalesced, names.DropNotReady,
				names.DropUnsubscribed)), Experimental,
		"Notifications received that did not reach their handlers."},
	{names.MetricMCPClientProtocolViolations, Counter, "{violation}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientViolationReason),
			only(names.KeyMCPClientDirection, words.Received), when(names.KeyNetworkTransport)), Stable,
		"Frames that broke the protocol."},
	{names.MetricMCPClientResponsesDropped, Counter, "{response}", nil, slices.Concat(required(names.KeyMCPClientName),
		only(names.KeyMCPClientDropReason, names.DropLateTimeout, names.DropLateCancelled, names.DropLateLost,
			names.DropDuplicate, names.DropUnknownID)), Experimental,
		"Responses for which no call waited."},
	{names.MetricMCPClientMessageSize, Histogram, "By", sizeBytes,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientDirection, names.KeyMCPClientMessageKind),
			when(names.KeyNetworkTransport)), Experimental,
		"Sizes of frames."},
	{names.MetricMCPClientMessageDecodeDuration, Histogram, "s", shortSeconds,
		slices.Concat(required(names.KeyMCPClientName), only(names.KeyMCPClientMessageKind, words.Response),
			when(names.KeyErrorType)), Experimental,
		"Time to decode a result."},
	{names.MetricMCPClientSendQueueWait, Histogram, "s", queueSeconds, required(names.KeyMCPClientName), Experimental,
		"Time a message waited before it was written."},
	{names.MetricMCPClientSendQueueLength, ObservableGauge, "{message}", nil, required(names.KeyMCPClientName),
		Experimental, "Messages that wait to be written."},
	{names.MetricMCPClientTransportSendRetries, Counter, "{retry}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientRetryReason), when(names.KeyNetworkTransport)),
		Experimental, "Further tries to send a message."},
	{names.MetricMCPClientTombstones, UpDownCounter, "{tombstone}", nil, required(names.KeyMCPClientName), Experimental,
		"Ids of calls that ended without an answer, kept to know a late one by."},
	{names.MetricMCPClientConnectionTransitions, Counter, "{transition}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientConnectionFrom, names.KeyMCPClientConnectionTo,
			names.KeyMCPClientConnectionReason), when(names.KeyNetworkTransport)), Stable,
		"Moves of the connection from state to state."},
	{names.MetricMCPClientConnectionState, ObservableUpDownCounter, "{connection}", nil,
		required(names.KeyMCPClientName, names.KeyMCPClientConnectionState), Stable,
		"Clients in each state: 0 or 1 where each has a name of its own."},
	{names.MetricMCPClientServerInfo, ObservableUpDownCounter, "{connection}", nil,
		slices.Concat(required(names.KeyMCPClientName), when(names.KeyMCPClientServerName, names.KeyMCPClientServerVersion,
			names.KeyMCPProtocolVersion)), Experimental,
		"Clients that are ready, by what their servers call themselves and the version that was agreed on."},
	{names.MetricMCPClientConnectionAttemptDuration, Histogram, "s", attemptSeconds,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientConnectionAttemptKind),
			when(names.KeyNetworkTransport, names.KeyErrorType)), Experimental,
		"Duration of an attempt to connect, negotiation included."},
	{names.MetricMCPClientConnectionBackoff, Histogram, "s", backoffSeconds, required(names.KeyMCPClientName),
		Experimental, "Delay before an attempt to connect."},
	{names.MetricMCPClientStreamsActive, UpDownCounter, "{stream}", nil,
		required(names.KeyMCPClientName, names.KeyMCPClientStreamKind), Experimental,
		"Streams that are open and serve no single request."},
	{names.MetricMCPClientStreamDuration, Histogram, "s", streamSeconds,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientStreamKind), when(names.KeyErrorType)), Experimental,
		"Time a stream was open that served no single request."},
	{names.MetricMCPClientCacheLookups, Counter, "{lookup}", nil,
		required(names.KeyMCPClientName, names.KeyMCPMethodName, names.KeyMCPClientCacheOutcome), Experimental,
		"Results that were looked for in the client's cache. A hit is no request: nothing is sent, and no other metric " +
			"counts it."},
	{names.MetricMCPClientToolsListSize, ObservableGauge, "By", nil, required(names.KeyMCPClientName), Experimental,
		"Sizes of all tools that the server listed last, together: name, description and inputSchema, as compact JSON. Of " +
			"clients of one name, the largest."},
	{names.MetricMCPClientToolsListEstimatedTokens, ObservableGauge, "{token}", nil, required(names.KeyMCPClientName),
		Experimental, "The same in tokens of o200k_base, estimated: see package mcp/contextcost."},
	{names.MetricMCPClientToolDefinitionSize, ObservableGauge, "By", nil,
		required(names.KeyMCPClientName, names.KeyGenAIToolName, names.KeyMCPClientToolDefinitionPart), Experimental,
		"Sizes of the definition of a tool that the server listed last, as compact JSON: see telemetry.WithContextCost."},
	{names.MetricMCPClientToolDefinitionEstimatedTokens, ObservableGauge, "{token}", nil,
		required(names.KeyMCPClientName, names.KeyGenAIToolName, names.KeyMCPClientToolDefinitionPart), Experimental,
		"The same in tokens of o200k_base, estimated: see package mcp/contextcost."},
	{names.MetricMCPClientToolChanges, Counter, "{change}", nil,
		required(names.KeyMCPClientName, names.KeyMCPClientToolChangeKind), Experimental,
		"Tools that a list has otherwise than the list before, or than the baseline: see mcpclient.UseDriftDetection."},
	{names.MetricMCPClientToolResultSize, Histogram, "By", sizeBytes,
		required(names.KeyMCPClientName, names.KeyGenAIToolName), Experimental,
		"Sizes of the results of tools, errors that tools report among them, as JSON: see telemetry.WithContextCost. Not " +
			"those of calls that became tasks."},
	{names.MetricMCPClientToolLoops, Counter, "{call}", nil,
		required(names.KeyMCPClientName, names.KeyGenAIToolName, names.KeyMCPClientLoopKind), Experimental,
		"Calls of tools that have brought nothing new so often that they are a loop, each from then on: see " +
			"mcpclient.UseLoopDetection. Calls that were not sent for that reason are not among them."},

	{names.MetricMCPServerActiveRequests, UpDownCounter, "{request}", nil,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPMethodName), when(names.KeyNetworkTransport)), Stable,
		"Requests that the server is answering."},
	{names.MetricMCPServerHandlerPanics, Counter, "{panic}", nil, required(names.KeyMCPServerName, names.KeyMCPMethodName),
		Experimental, "Panics of handlers."},
	{names.MetricMCPServerNotifications, Counter, "{notification}", nil,
		required(names.KeyMCPServerName, names.KeyMCPMethodName, names.KeyMCPServerDirection), Stable,
		"Notifications sent and received."},
	{names.MetricMCPServerProtocolViolations, Counter, "{violation}", nil,
		slices.Concat(required(names.KeyMCPServerName), only(names.KeyMCPServerViolationReason, words.ServerViolations...),
			only(names.KeyMCPServerDirection, words.Received), when(names.KeyNetworkTransport)), Stable,
		"Frames that broke the protocol."},
	{names.MetricMCPServerResponsesDropped, Counter, "{response}", nil, slices.Concat(required(names.KeyMCPServerName),
		only(names.KeyMCPServerDropReason, names.DropLateTimeout, names.DropLateCancelled, names.DropDuplicate,
			names.DropUnknownID, names.DropUnexpected)), Experimental,
		"Responses for which no call waited."},
	{names.MetricMCPServerNotificationsDropped, Counter, "{notification}", nil,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPMethodName),
			only(names.KeyMCPServerDropReason, names.DropQueueFull, names.DropCoalesced, names.DropNoStream,
				names.DropRateLimited)), Experimental,
		"Notifications that were not sent: the client took none, or one like it was waiting."},
	{names.MetricMCPServerActiveAsks, UpDownCounter, "{request}", nil,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPMethodName), when(names.KeyNetworkTransport)),
		Experimental, "Requests to clients that wait for their answers."},
	{names.MetricMCPServerSessionsActive, ObservableUpDownCounter, "{session}", nil,
		slices.Concat(required(names.KeyMCPServerName), when(names.KeyNetworkTransport)), Experimental,
		"Sessions that are open in this process. Versions of the protocol from 2026-07-28 on have none."},
	{names.MetricMCPServerStreamsActive, UpDownCounter, "{stream}", nil,
		required(names.KeyMCPServerName, names.KeyMCPServerStreamKind), Experimental,
		"Streams that are open and serve no single request."},
	{names.MetricMCPServerStreamDuration, Histogram, "s", streamSeconds,
		required(names.KeyMCPServerName, names.KeyMCPServerStreamKind), Experimental,
		"Time a stream was open that served no single request."},
	{names.MetricMCPServerMessageSize, Histogram, "By", sizeBytes,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerDirection, names.KeyMCPServerMessageKind),
			when(names.KeyNetworkTransport)), Experimental,
		"Sizes of frames."},
	{names.MetricMCPServerMessageDecodeDuration, Histogram, "s", shortSeconds,
		slices.Concat(required(names.KeyMCPServerName), only(names.KeyMCPServerMessageKind, words.Request, words.Response),
			when(names.KeyErrorType)), Experimental,
		"Time to decode the params of a request, without the arguments of a tool, or the client's answer to a request of " +
			"the server."},
	{names.MetricMCPServerTasksActive, UpDownCounter, "{task}", nil,
		required(names.KeyMCPServerName, names.KeyGenAIToolName), Experimental,
		"Tasks that run, those that wait for input included."},
	{names.MetricMCPServerTaskDuration, Histogram, "s", streamSeconds,
		slices.Concat(required(names.KeyMCPServerName, names.KeyGenAIToolName, names.KeyMCPServerTaskStatus),
			when(names.KeyErrorType)), Experimental,
		"Time from the creation of a task to its outcome."},
	{names.MetricMCPServerPolicyDecisions, Counter, "{decision}", nil,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerPolicyDecision), when(names.KeyGenAIToolName)),
		Experimental,
		"Messages that the policy of a proxy has not passed on as they were, by what it did; with the tool, if they are " +
			"about one: see mcpproxy.Policy."},
	{names.MetricMCPServerSendQueueWait, Histogram, "s", queueSeconds, required(names.KeyMCPServerName), Experimental,
		"Time a message waited before it was written. HTTP has no queue."},
	{names.MetricMCPServerClientRequests, ObservableCounter, "{request}", nil,
		slices.Concat(required(names.KeyMCPServerName), when(names.KeyMCPServerClientName, names.KeyMCPServerClientVersion)),
		Experimental, "Requests received, by what clients call themselves."},
	{names.MetricMCPServerSendQueueLength, ObservableGauge, "{message}", nil, required(names.KeyMCPServerName),
		Experimental, "Messages that wait to be written, over all connections. HTTP has no queue."},
})

package schema

import (
	"slices"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Bucket boundaries. The semantic conventions define some of them.
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

// Attributes of the metrics of the semantic conventions.
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

// metrics lists every metric. The instruments are built from this list.
var metrics = counted([]metricRow{
	{names.MetricMCPClientOperationDuration, Histogram, "s", conventionSeconds,
		slices.Concat(required(names.KeyMCPMethodName), when(operationAttrs...),
			when(names.KeyServerAddress, names.KeyServerPort)), Convention,
		"Duration of a request or notification from the sender's view, from sending to the answer."},
	{names.MetricMCPServerOperationDuration, Histogram, "s", conventionSeconds,
		slices.Concat(required(names.KeyMCPMethodName), when(operationAttrs...)), Convention,
		"Duration of a request or notification from the receiver's view, from its arrival to the answer."},
	{names.MetricGenAIExecuteToolDuration, Histogram, "s", toolSeconds,
		slices.Concat(required(names.KeyMCPClientName, names.KeyGenAIOperationName, names.KeyGenAIToolName,
			names.KeyGenAIToolType), when(names.KeyErrorType)), Convention,
		"Duration of a tool call, for dashboards of the GenAI conventions: see telemetry.WithExecuteToolDuration."},
	{names.MetricMCPClientSessionDuration, Histogram, "s", conventionSeconds,
		slices.Concat(required(names.KeyMCPClientName), whenOnly(names.KeyErrorType, words.SessionErrors...), sessionAttrs,
			when(names.KeyServerAddress, names.KeyServerPort)), Convention,
		"Duration of a session from the client's view. Sessions may be much longer than the largest bucket: a " +
			"View with an exponential histogram suits them better."},
	{names.MetricMCPServerSessionDuration, Histogram, "s", conventionSeconds,
		slices.Concat(required(names.KeyMCPServerName), whenOnly(names.KeyErrorType, names.ErrorConnectionLost),
			sessionAttrs), Convention,
		"Duration of a session from the server's view."},

	{names.MetricMCPClientStartTime, ObservableGauge, "s", nil, []Use{}, Experimental,
		"Time at which this process created its first client or server and started to count, in seconds since 1970. " +
			"With it, queries distinguish a counter that has just started from an older counter that Prometheus scrapes for " +
			"the first time."},
	{names.MetricMCPClientActiveRequests, UpDownCounter, "{request}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName), when(names.KeyNetworkTransport)), Stable,
		"Requests that wait for a connection or for their answer."},
	{names.MetricMCPClientActiveHandlers, UpDownCounter, "{request}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName), when(names.KeyNetworkTransport)),
		Experimental, "Requests of the server that the client is answering."},
	{names.MetricMCPClientHandlerPanics, Counter, "{panic}", nil, required(names.KeyMCPClientName, names.KeyMCPMethodName),
		Experimental, "Panics of handlers."},
	{names.MetricMCPClientNotificationMessages, Counter, "{notification}", nil,
		required(names.KeyMCPClientName, names.KeyMCPMethodName, names.KeyMCPClientDirection), Stable,
		"Notifications sent and received. Dropped notifications are not included."},
	{names.MetricMCPClientNotificationDrops, Counter, "{notification}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPMethodName),
			only(names.KeyMCPClientDropReason, names.DropQueueFull, names.DropCoalesced, names.DropNotReady,
				names.DropUnsubscribed)), Experimental,
		"Received notifications that did not reach their handlers."},
	{names.MetricMCPClientProtocolViolations, Counter, "{violation}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientViolationReason),
			only(names.KeyMCPClientDirection, words.Received), when(names.KeyNetworkTransport)), Stable,
		"Frames that violated the protocol."},
	{names.MetricMCPClientResponseDrops, Counter, "{response}", nil, slices.Concat(required(names.KeyMCPClientName),
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
		"Time for which a message waited before it was written."},
	{names.MetricMCPClientSendQueueLength, ObservableGauge, "{message}", nil, required(names.KeyMCPClientName),
		Experimental, "Messages that wait to be written."},
	{names.MetricProcessMemoryUsage, ObservableUpDownCounter, "By", nil, required(names.KeyMCPClientName), Convention,
		"Resident memory of a stdio server: of its process, the processes that it has started, and its process group. " +
			"Only on Linux, as all metrics of processes. Memory that processes share counts for each of them."},
	{names.MetricProcessCpuTime, ObservableCounter, "s", nil, required(names.KeyMCPClientName, names.KeyCpuMode),
		Convention, "CPU time of a stdio server's processes, over all its starts. The time between the last " +
			"collection and the end of a process is missing."},
	{names.MetricProcessUptime, ObservableGauge, "s", nil, required(names.KeyMCPClientName), Convention,
		"Time since the start of a stdio server's process. For several clients with the same name, the time since the " +
			"latest start. The restarts are the transitions with the reason transport_up."},
	{names.MetricMCPClientProcessActive, ObservableUpDownCounter, "{process}", nil, required(names.KeyMCPClientName),
		Experimental, "Processes of a stdio server: its process, the processes that it has started, and its process " +
			"group."},
	{names.MetricMCPClientTransportSendRetries, Counter, "{retry}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientRetryReason), when(names.KeyNetworkTransport)),
		Experimental, "Retries of sending a message."},
	{names.MetricMCPClientTombstoneKept, UpDownCounter, "{tombstone}", nil, required(names.KeyMCPClientName),
		Experimental,
		"Ids of calls that ended without an answer, kept to recognize late answers."},
	{names.MetricMCPClientConnectionTransitions, Counter, "{transition}", nil,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientConnectionFrom, names.KeyMCPClientConnectionTo,
			names.KeyMCPClientConnectionReason), when(names.KeyNetworkTransport)), Stable,
		"Transitions of the connection between states."},
	{names.MetricMCPClientConnectionState, ObservableUpDownCounter, "{connection}", nil,
		required(names.KeyMCPClientName, names.KeyMCPClientConnectionState), Stable,
		"Clients in each state: 0 or 1 if each client has its own name."},
	{names.MetricMCPClientServerInfo, ObservableUpDownCounter, "{connection}", nil,
		slices.Concat(required(names.KeyMCPClientName), when(names.KeyMCPClientServerName, names.KeyMCPClientServerVersion,
			names.KeyMCPProtocolVersion)), Experimental,
		"Ready clients, by the name and version of their servers and the negotiated protocol version."},
	{names.MetricMCPClientConnectionAttemptDuration, Histogram, "s", attemptSeconds,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientConnectionAttemptKind),
			when(names.KeyNetworkTransport, names.KeyErrorType)), Experimental,
		"Duration of an attempt to connect, including the negotiation."},
	{names.MetricMCPClientConnectionBackoff, Histogram, "s", backoffSeconds, required(names.KeyMCPClientName),
		Experimental, "Delay before an attempt to connect."},
	{names.MetricMCPClientStreamActive, UpDownCounter, "{stream}", nil,
		required(names.KeyMCPClientName, names.KeyMCPClientStreamKind), Experimental,
		"Open streams that do not belong to a single request."},
	{names.MetricMCPClientStreamDuration, Histogram, "s", streamSeconds,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientStreamKind), when(names.KeyErrorType)), Experimental,
		"Lifetime of a stream that does not belong to a single request."},
	{names.MetricMCPClientCacheLookups, Counter, "{lookup}", nil,
		required(names.KeyMCPClientName, names.KeyMCPMethodName, names.KeyMCPClientCacheOutcome), Experimental,
		"Lookups of results in the client's cache. A hit sends no request, and no other metric counts it."},
	{names.MetricMCPClientToolListSize, ObservableGauge, "By", nil, required(names.KeyMCPClientName), Experimental,
		"Total size of the tools in the server's latest list: name, description and inputSchema, as compact JSON." +
			" For several clients with the same name, the largest list."},
	{names.MetricMCPClientToolListTokenEstimate, ObservableGauge, "{token}", nil, required(names.KeyMCPClientName),
		Experimental,
		"Total size of the tools in the server's latest list, in estimated tokens of o200k_base: see package " +
			"mcp/contextcost."},
	{names.MetricMCPClientToolDefinitionSize, ObservableGauge, "By", nil,
		required(names.KeyMCPClientName, names.KeyGenAIToolName, names.KeyMCPClientToolDefinitionPart), Experimental,
		"Size of a tool's definition in the server's latest list, as compact JSON: see telemetry.WithContextCost."},
	{names.MetricMCPClientToolDefinitionTokenEstimate, ObservableGauge, "{token}", nil,
		required(names.KeyMCPClientName, names.KeyGenAIToolName, names.KeyMCPClientToolDefinitionPart), Experimental,
		"Size of a tool's definition in the server's latest list, in estimated tokens of o200k_base: see package " +
			"mcp/contextcost."},
	{names.MetricMCPClientToolChanges, Counter, "{change}", nil,
		required(names.KeyMCPClientName, names.KeyMCPClientToolChangeKind), Experimental,
		"Tools that differ from the previous list, or from the baseline: see mcpclient.UseDriftDetection."},
	{names.MetricMCPClientToolResultSize, Histogram, "By", sizeBytes,
		required(names.KeyMCPClientName, names.KeyGenAIToolName), Experimental,
		"Size of tool results, including errors that tools report, as JSON: see telemetry.WithContextCost. Calls " +
			"that became tasks are not included."},
	{names.MetricMCPClientToolLoops, Counter, "{call}", nil,
		required(names.KeyMCPClientName, names.KeyGenAIToolName, names.KeyMCPClientLoopKind), Experimental,
		"Tool calls in a loop of calls that return nothing new: see mcpclient.UseLoopDetection. Calls that were " +
			"not sent because of the loop are not included."},
	{names.MetricMCPClientChangeGap, Counter, "{gap}", nil,
		required(names.KeyMCPClientName, names.KeyMCPClientGapCause), Experimental,
		"Gaps in which the client may have missed changes of lists or resources. After a gap, the client clears " +
			"its caches and calls the handlers of changes."},
	{names.MetricMCPClientAuditLosses, Counter, "{record}", nil, required(names.KeyMCPClientName), Experimental,
		"Audit records of calls that could not be written to the audit file: see telemetry.WithAudit."},

	{names.MetricMCPServerStartTime, ObservableGauge, "s", nil, []Use{}, Experimental,
		"Time at which this process created its first client or server, in seconds since 1970; no counter is older. " +
			"Reported once the process has created a server."},
	{names.MetricMCPServerActiveRequests, UpDownCounter, "{request}", nil,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPMethodName), when(names.KeyNetworkTransport)), Stable,
		"Requests that the server is answering."},
	{names.MetricMCPServerHandlerPanics, Counter, "{panic}", nil, required(names.KeyMCPServerName, names.KeyMCPMethodName),
		Experimental, "Panics of handlers."},
	{names.MetricMCPServerNotificationMessages, Counter, "{notification}", nil,
		required(names.KeyMCPServerName, names.KeyMCPMethodName, names.KeyMCPServerDirection), Stable,
		"Notifications sent and received."},
	{names.MetricMCPServerProtocolViolations, Counter, "{violation}", nil,
		slices.Concat(required(names.KeyMCPServerName), only(names.KeyMCPServerViolationReason, words.ServerViolations...),
			only(names.KeyMCPServerDirection, words.Received), when(names.KeyNetworkTransport)), Stable,
		"Frames that violated the protocol."},
	{names.MetricMCPServerResponseDrops, Counter, "{response}", nil, slices.Concat(required(names.KeyMCPServerName),
		only(names.KeyMCPServerDropReason, names.DropLateTimeout, names.DropLateCancelled, names.DropDuplicate,
			names.DropUnknownID, names.DropUnexpected)), Experimental,
		"Responses for which no request waited."},
	{names.MetricMCPServerNotificationDrops, Counter, "{notification}", nil,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPMethodName),
			only(names.KeyMCPServerDropReason, names.DropQueueFull, names.DropCoalesced, names.DropNoStream,
				names.DropRateLimited)), Experimental,
		"Notifications that were not sent, for example because the client accepts no notifications or because an equal " +
			"notification was waiting."},
	{names.MetricMCPServerActiveAsks, UpDownCounter, "{request}", nil,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPMethodName), when(names.KeyNetworkTransport)),
		Experimental, "Requests to clients that are not answered yet."},
	{names.MetricMCPServerSessionActive, ObservableUpDownCounter, "{session}", nil,
		slices.Concat(required(names.KeyMCPServerName), when(names.KeyNetworkTransport)), Experimental,
		"Open sessions in this process. Protocol versions from 2026-07-28 have none."},
	{names.MetricMCPServerStreamActive, UpDownCounter, "{stream}", nil,
		required(names.KeyMCPServerName, names.KeyMCPServerStreamKind), Experimental,
		"Open streams that do not belong to a single request."},
	{names.MetricMCPServerStreamDuration, Histogram, "s", streamSeconds,
		required(names.KeyMCPServerName, names.KeyMCPServerStreamKind), Experimental,
		"Lifetime of a stream that does not belong to a single request."},
	{names.MetricMCPServerMessageSize, Histogram, "By", sizeBytes,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerDirection, names.KeyMCPServerMessageKind),
			when(names.KeyNetworkTransport)), Experimental,
		"Sizes of frames."},
	{names.MetricMCPServerMessageDecodeDuration, Histogram, "s", shortSeconds,
		slices.Concat(required(names.KeyMCPServerName), only(names.KeyMCPServerMessageKind, words.Request, words.Response),
			when(names.KeyErrorType)), Experimental,
		"Time to decode the params of a request, without the arguments of a tool, or the client's answer to a request of " +
			"the server."},
	{names.MetricMCPServerTaskActive, UpDownCounter, "{task}", nil,
		required(names.KeyMCPServerName, names.KeyGenAIToolName), Experimental,
		"Running tasks, including tasks that wait for input."},
	{names.MetricMCPServerTaskDuration, Histogram, "s", streamSeconds,
		slices.Concat(required(names.KeyMCPServerName, names.KeyGenAIToolName, names.KeyMCPServerTaskStatus),
			when(names.KeyErrorType)), Experimental,
		"Time from the creation of a task to its end."},
	{names.MetricMCPServerPolicyDecisions, Counter, "{decision}", nil,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerPolicyDecision), when(names.KeyGenAIToolName)),
		Experimental,
		"Messages that a proxy's policy changed or blocked, by decision, with the tool if the message names one: " +
			"see mcpproxy.Policy."},
	{names.MetricMCPServerSendQueueWait, Histogram, "s", queueSeconds, required(names.KeyMCPServerName), Experimental,
		"Time for which a message waited before it was written. HTTP has no queue."},
	{names.MetricMCPServerClientRequests, ObservableCounter, "{request}", nil,
		slices.Concat(required(names.KeyMCPServerName), when(names.KeyMCPServerClientName, names.KeyMCPServerClientVersion)),
		Experimental, "Requests received, by the name and version of the client."},
	{names.MetricMCPServerSendQueueLength, ObservableGauge, "{message}", nil, required(names.KeyMCPServerName),
		Experimental, "Messages that wait to be written, over all connections. HTTP has no queue."},
	{names.MetricMCPServerRequestRefused, Counter, "{request}", nil,
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerRefusalReason),
			when(names.KeyHttpResponseStatusCode, names.KeyNetworkTransport)), Experimental,
		"Requests that the server refused before they reached a handler, by reason. A refused MCP request also " +
			"has a span and a duration."},
	{names.MetricMCPServerCapacityUsage, ObservableGauge, "{item}", nil,
		required(names.KeyMCPServerName, names.KeyMCPServerCapacityKind), Experimental,
		"Used amount of a limited resource. Of several connections, sessions or handlers, the fullest counts."},
	{names.MetricMCPServerCapacityLimit, ObservableGauge, "{item}", nil,
		required(names.KeyMCPServerName, names.KeyMCPServerCapacityKind), Experimental,
		"Limit of a resource: the maximum of mcp_server.capacity.usage."},
	{names.MetricMCPServerMemoryUsage, ObservableGauge, "By", nil,
		required(names.KeyMCPServerName, names.KeyMCPServerMemoryKind), Experimental,
		"Used amount of limited memory. Of several connections, sessions or handlers, the fullest counts."},
	{names.MetricMCPServerMemoryLimit, ObservableGauge, "By", nil,
		required(names.KeyMCPServerName, names.KeyMCPServerMemoryKind), Experimental,
		"Limit of memory: the maximum of mcp_server.memory.usage."},
	{names.MetricMCPServerAuditLosses, Counter, "{record}", nil, required(names.KeyMCPServerName), Experimental,
		"Audit records of calls that could not be written to the audit file: see telemetry.WithAudit."},
})

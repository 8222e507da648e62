package telemetry

// Attribute keys, the same strings on spans, metrics and log records. The first group is from the semantic conventions.
// Those for MCP and GenAI are written out here because no current Go package has them (semconv v1.42.0 dropped them).
const (
	keyEventName = "event.name"

	keyMethod          = "mcp.method.name"
	keyMCPVersion      = "mcp.protocol.version"
	keySessionID       = "mcp.session.id"
	keyResourceURI     = "mcp.resource.uri"
	keyTool            = "gen_ai.tool.name"
	keyPrompt          = "gen_ai.prompt.name"
	keyOperation       = "gen_ai.operation.name"
	keyToolArguments   = "gen_ai.tool.call.arguments"
	keyToolResult      = "gen_ai.tool.call.result"
	keyPromptVariable  = "gen_ai.prompt.variable." // and the name of the variable
	keyRequestID       = "jsonrpc.request.id"
	keyErrorType       = "error.type"
	keyStatusCode      = "rpc.response.status_code"
	keyTransport       = "network.transport"
	keyProtocol        = "network.protocol.name"
	keyProtocolVersion = "network.protocol.version"
	keyAddress         = "server.address"
	keyPort            = "server.port"
	keyPID             = "process.pid"
	keyExitCode        = "process.exit.code"
	keyPanicType       = "exception.type"
	keyPanicMessage    = "exception.message"
	keyPanicStack      = "exception.stacktrace"

	keyError = "error"
)

// The keys of a client's own attributes.
const (
	keyClientName             = "mcp_client.name"
	keyClientInstance         = "mcp_client.instance.id"
	keyClientCorrID           = "mcp_client.corr_id"
	keyClientDuration         = "mcp_client.duration"
	keyClientErrorKind        = "mcp_client.error.kind"
	keyClientResultType       = "mcp_client.result.type"
	keyClientRequestSize      = "mcp_client.request.size"
	keyClientResponseSize     = "mcp_client.response.size"
	keyClientSendRetries      = "mcp_client.send.retries"
	keyClientRetryReason      = "mcp_client.retry.reason"
	keyClientDirection        = "mcp_client.direction"
	keyClientMessageKind      = "mcp_client.message.kind"
	keyClientViolationReason  = "mcp_client.violation.reason"
	keyClientFrameSize        = "mcp_client.frame.size"
	keyClientFrameLimit       = "mcp_client.frame.limit"
	keyClientFrameHash        = "mcp_client.frame.head_hash"
	keyClientSuppressed       = "mcp_client.suppressed"
	keyClientDropReason       = "mcp_client.drop.reason"
	keyClientDropAge          = "mcp_client.drop.age"
	keyClientTombstones       = "mcp_client.tombstone.count"
	keyClientState            = "mcp_client.connection.state"
	keyClientFrom             = "mcp_client.connection.from"
	keyClientTo               = "mcp_client.connection.to"
	keyClientTransitionReason = "mcp_client.connection.reason"
	keyClientEpoch            = "mcp_client.connection.epoch"
	keyClientAttempt          = "mcp_client.connection.attempt.number"
	keyClientAttemptKind      = "mcp_client.connection.attempt.kind"
	keyClientBackoffDelay     = "mcp_client.connection.backoff.delay"
	keyClientSignal           = "mcp_client.process.signal"
	keyClientStderrLine       = "mcp_client.process.stderr.line"
	keyClientAuthStep         = "mcp_client.auth.step"
	keyClientStreamKind       = "mcp_client.stream.kind"
	keyClientRound            = "mcp_client.mrtr.round"
	keyClientCacheOutcome     = "mcp_client.cache.outcome"
	keyClientFlightText       = "mcp_client.flight_record.text"
	keyClientFlightEntries    = "mcp_client.flight_record.entries"
	keyClientFlightOmitted    = "mcp_client.flight_record.omitted"
)

// The keys of a server's own attributes.
const (
	keyServerName            = "mcp_server.name"
	keyServerInstance        = "mcp_server.instance.id"
	keyServerDuration        = "mcp_server.duration"
	keyServerErrorKind       = "mcp_server.error.kind"
	keyServerResultType      = "mcp_server.result.type"
	keyServerRequestSize     = "mcp_server.request.size"
	keyServerResponseSize    = "mcp_server.response.size"
	keyServerDirection       = "mcp_server.direction"
	keyServerMessageKind     = "mcp_server.message.kind"
	keyServerViolationReason = "mcp_server.violation.reason"
	keyServerFrameSize       = "mcp_server.frame.size"
	keyServerFrameLimit      = "mcp_server.frame.limit"
	keyServerFrameHash       = "mcp_server.frame.head_hash"
	keyServerSuppressed      = "mcp_server.suppressed"
	keyServerDropReason      = "mcp_server.drop.reason"
	keyServerDropAge         = "mcp_server.drop.age"
	keyServerTaskStatus      = "mcp_server.task.status"
	keyServerFlightText      = "mcp_server.flight_record.text"
	keyServerFlightEntries   = "mcp_server.flight_record.entries"
	keyServerFlightOmitted   = "mcp_server.flight_record.omitted"
	keyServerStreamKind      = "mcp_server.stream.kind"
)

// keys are the attributes that a client and a server both have, each under its own prefix.
type keys struct {
	corrID, // empty for a server, whose requests have none
	name, instance, duration, errorKind, resultType, requestSize, responseSize, direction, messageKind,
	violationReason, frameSize, frameLimit, frameHash, suppressed, dropReason, dropAge, streamKind,
	flightText, flightEntries, flightOmitted string
}

var clientKeys = keys{
	corrID:          keyClientCorrID,
	name:            keyClientName,
	instance:        keyClientInstance,
	duration:        keyClientDuration,
	errorKind:       keyClientErrorKind,
	resultType:      keyClientResultType,
	requestSize:     keyClientRequestSize,
	responseSize:    keyClientResponseSize,
	direction:       keyClientDirection,
	messageKind:     keyClientMessageKind,
	violationReason: keyClientViolationReason,
	frameSize:       keyClientFrameSize,
	frameLimit:      keyClientFrameLimit,
	frameHash:       keyClientFrameHash,
	suppressed:      keyClientSuppressed,
	dropReason:      keyClientDropReason,
	dropAge:         keyClientDropAge,
	flightText:      keyClientFlightText,
	flightEntries:   keyClientFlightEntries,
	flightOmitted:   keyClientFlightOmitted,
	streamKind:      keyClientStreamKind,
}

var serverKeys = keys{
	name:            keyServerName,
	instance:        keyServerInstance,
	duration:        keyServerDuration,
	errorKind:       keyServerErrorKind,
	resultType:      keyServerResultType,
	requestSize:     keyServerRequestSize,
	responseSize:    keyServerResponseSize,
	direction:       keyServerDirection,
	messageKind:     keyServerMessageKind,
	violationReason: keyServerViolationReason,
	frameSize:       keyServerFrameSize,
	frameLimit:      keyServerFrameLimit,
	frameHash:       keyServerFrameHash,
	suppressed:      keyServerSuppressed,
	dropReason:      keyServerDropReason,
	dropAge:         keyServerDropAge,
	flightText:      keyServerFlightText,
	flightEntries:   keyServerFlightEntries,
	flightOmitted:   keyServerFlightOmitted,
	streamKind:      keyServerStreamKind,
}

package schema

import (
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// keyAnyVariable stands for all keys with this prefix.
const keyAnyVariable = names.KeyGenAIPromptVariable + "{name}"

// attributes lists every key. Keys without a prefix of ours come from the semantic conventions, except for
// event.name: slog records need it because slog has no field for an event name.
var attributes = limited([]attributeRow{
	{names.KeyEventName, String, "", nil, Limited, Stable, "Name of the log record's event."},

	{names.KeyMCPMethodName, String, "", words.Methods, Limited, Convention, "Method of the request or notification."},
	{names.KeyGenAIToolName, String, "", nil, Limited, Convention, "Name of the tool."},
	{names.KeyGenAIPromptName, String, "", nil, Limited, Convention, "Name of the prompt."},
	{names.KeyGenAIOperationName, String, "", []string{words.OperationExecuteTool}, Closed, Convention,
		"Operation in the terms of the GenAI conventions. Set on tool calls."},
	{names.KeyGenAIToolType, String, "", []string{words.ToolTypeExtension}, Closed, Convention,
		"Type of the tool. Set on tool calls of clients: the tool runs in an MCP server, not in a model or agent."},
	{names.KeyGenAIToolCallArguments, Any, "", nil, Unbounded, Convention,
		"Arguments of the tool call, as returned by the redactor of WithContentCapture: a map, up to 8 KiB. A " +
			"member named … marks omitted members. JSON as a string with WithContentAsText."},
	{names.KeyGenAIToolCallResult, Any, "", nil, Unbounded, Convention,
		"Result of the tool call, as returned by the redactor, in the same format as the arguments."},
	{keyAnyVariable, String, "", nil, Unbounded, Convention,
		"Argument of the prompt, its first 8 KiB; the key ends with the argument's name. At most 16 on a span."},
	{names.KeyErrorType, String, "", nil, Limited, Convention,
		"Cause of the failure: the JSON-RPC code if it is an error of this side, the HTTP status if only HTTP " +
			"answered, tool_error, a word of this module, or a Go type."},
	{names.KeyRPCResponseStatusCode, String, "", nil, Limited, Convention,
		"Code of the JSON-RPC error in the answer, even if it is not an error of this side."},
	{names.KeyJSONRPCRequestID, String, "", nil, Unbounded, Convention, "JSON-RPC id of the request."},
	{names.KeyMCPResourceURI, String, "", nil, Unbounded, Convention, "URI of the resource, up to 1,024 bytes."},
	{names.KeyMCPProtocolVersion, String, "", nil, Limited, Convention, "Negotiated version of the protocol."},
	{names.KeyMCPSessionID, String, "", nil, Unbounded, Convention,
		"Id of the session. Only some versions and transports have sessions with an id."},
	{names.KeyNetworkTransport, String, "", nil, Configured, Convention,
		"pipe for a child process, tcp or quic for a network; absent for a connection in memory."},
	{names.KeyNetworkProtocolName, String, "", nil, Configured, Convention, "Protocol under MCP, such as http."},
	{names.KeyNetworkProtocolVersion, String, "", nil, Limited, Convention,
		"Version of the protocol under MCP, as soon as it is known."},
	{names.KeyServerAddress, String, "", nil, Configured, Convention, "Name of the dialled server."},
	{names.KeyServerPort, Int, "", nil, Configured, Convention, "Port of the dialled server."},
	{names.KeyGenAIConversationID, String, "", nil, Unbounded, Convention,
		"Id of the conversation that the call belongs to: see telemetry.ContextWithConversation."},
	{names.KeyGenAIAgentName, String, "", nil, Limited, Convention,
		"Name of the agent that makes the call: see telemetry.ContextWithConversation. On metrics only with " +
			"telemetry.WithBaggageLabel."},
	{names.KeySessionID, String, "", nil, Unbounded, Convention,
		"Id of the user's session with the agent: see telemetry.ContextWithConversation."},
	{names.KeyUserHash, String, "", nil, Unbounded, Convention,
		"Hash of the user's id, 64 hexadecimal digits: see telemetry.ContextWithConversation."},
	{names.KeyClientAddress, String, "", nil, Unbounded, Convention,
		"Address of the sender of an HTTP request. Behind a proxy, the address of the proxy."},
	{names.KeyClientPort, Int, "", nil, Unbounded, Convention, "Port of the sender of an HTTP request."},
	{names.KeyHttpResponseStatusCode, Int, "", nil, Limited, Convention,
		"Status of the HTTP response that refused a request."},
	{names.KeyProcessPID, Int, "", nil, Unbounded, Convention, "Id of the server's process."},
	{names.KeyProcessExitCode, Int, "", nil, Unbounded, Convention,
		"Exit code of the server's process; -1 if a signal ended it."},
	{names.KeyCpuMode, String, "", words.CPUModes, Closed, Convention,
		"Mode of the CPU: user for the program's own work, system for the work of the kernel for the program."},
	{names.KeyExceptionType, String, "", nil, Unbounded, Convention,
		"Type of the error: the result of its ErrorType method, else its Go type, else error.type. After a panic," +
			" the Go type of the value."},
	{names.KeyExceptionMessage, String, "", nil, Unbounded, Convention,
		"Text of the error, or of a panic's value, up to 256 bytes. On log records only."},
	{names.KeyExceptionStacktrace, String, "", nil, Unbounded, Convention,
		"Stack of the goroutine in which a handler panicked, up to 16 KiB."},

	{names.KeyMCPClientName, String, "", nil, Configured, Stable,
		"Configured name of the client. It names the server to which the client connects."},
	{names.KeyMCPClientGroup, String, "", nil, Configured, Experimental,
		"Configured group of the client, if any. Metrics distinguish 32 groups in a process. If the limit of " +
			"client names is reached, the name becomes _OTHER, and the group identifies the clients. The group of clients " +
			"without a group is then _OTHER, too."},
	{names.KeyMCPClientInstanceID, String, "", nil, Unbounded, Stable,
		"Id that distinguishes clients with the same name: configured, or 16 random hexadecimal digits. On spans and " +
			"log records only."},
	{names.KeyMCPClientCorrID, String, "", nil, Unbounded, Stable,
		"Id of one logical call, the same for all its retries and rounds: 32 hexadecimal digits."},
	{names.KeyMCPClientDuration, Double, "s", nil, Unbounded, Stable, "Duration of the event's operation."},
	{names.KeyMCPClientErrorKind, String, "", words.ErrorKinds, Closed, Stable, "Kind of the error."},
	{names.KeyMCPClientSafeToRetry, Bool, "", nil, Unbounded, Stable,
		"Whether the failed request certainly had no effect on the server, so that a retry is safe. False means " +
			"unknown."},
	{names.KeyMCPClientResultType, String, "", nil, Unbounded, Experimental, "Type of the result, if it is not complete."},
	{names.KeyMCPClientRequestSize, Int, "By", nil, Unbounded, Experimental, "Size of the request's frame."},
	{names.KeyMCPClientResponseSize, Int, "By", nil, Unbounded, Experimental, "Size of the answer's frame."},
	{names.KeyMCPClientSendRetries, Int, "", nil, Unbounded, Experimental, "Number of retries of sending."},
	{names.KeyMCPClientRetryReason, String, "", words.RetryReasons, Closed, Experimental,
		"Reason for a retry of sending."},
	{names.KeyMCPClientDirection, String, "", words.Directions, Closed, Stable,
		"Direction of the message, from the client's view."},
	{names.KeyMCPClientMessageKind, String, "", words.MessageKinds, Closed, Experimental, "Kind of the JSON-RPC message."},
	{names.KeyMCPClientViolationReason, String, "", words.ViolationReasons, Closed, Stable,
		"Rule of the protocol that a frame broke."},
	{names.KeyMCPClientFrameSize, Int, "By", nil, Unbounded, Stable, "Size of the frame, as far as it was read."},
	{names.KeyMCPClientFrameLimit, Int, "By", nil, Unbounded, Stable, "Limit that the frame exceeded."},
	{names.KeyMCPClientFrameHeadHash, String, "", nil, Unbounded, Experimental,
		"Hash of the first 64 bytes of the frame, 8 hexadecimal digits. It identifies frames with equal " +
			"beginnings and reveals no content."},
	{names.KeyMCPClientSuppressed, Int, "", nil, Unbounded, Experimental,
		"Number of suppressed records of this kind since the last written record."},
	{names.KeyMCPClientDropReason, String, "", words.DropReasons, Closed, Experimental, "Reason for dropping a message."},
	{names.KeyMCPClientDropAge, Double, "s", nil, Unbounded, Experimental,
		"Time between the end of the call and its late response."},
	{names.KeyMCPClientTombstoneCount, Int, "", nil, Unbounded, Experimental,
		"Number of tombstones that were added or expired."},
	{names.KeyMCPClientConnectionState, String, "", textsOf(connstate.States()), Closed, Stable,
		"State of the connection."},
	{names.KeyMCPClientServerName, String, "", nil, Limited, Experimental,
		"Name that the server sent in the negotiation, up to 128 bytes. Metrics distinguish up to 256 " +
			"servers in a process, by name and version."},
	{names.KeyMCPClientServerVersion, String, "", nil, Limited, Experimental,
		"Version that the server sent in the negotiation, up to 128 bytes."},
	{names.KeyMCPClientConnectionFrom, String, "", textsOf(connstate.States()), Closed, Stable,
		"State before the transition."},
	{names.KeyMCPClientConnectionTo, String, "", textsOf(connstate.States()), Closed, Stable,
		"State after the transition."},
	{names.KeyMCPClientConnectionReason, String, "", textsOf(connstate.Reasons()), Closed, Stable,
		"Reason for the transition."},
	{names.KeyMCPClientConnectionEpoch, Int, "", nil, Unbounded, Stable,
		"Number of the connection in the life of the client, from 1."},
	{names.KeyMCPClientConnectionAttemptNumber, Int, "", nil, Unbounded, Stable,
		"Number of the attempt since the connection was last ready, from 1; 0 when a ready connection is lost."},
	{names.KeyMCPClientConnectionAttemptKind, String, "", words.AttemptKinds, Closed, Experimental,
		"Whether the client has been ready before."},
	{names.KeyMCPClientConnectionBackoffDelay, Double, "s", nil, Unbounded, Experimental, "Time until the next attempt."},
	{names.KeyMCPClientProcessSignal, String, "", nil, Unbounded, Experimental, "Signal that ended the server's process."},
	{names.KeyMCPClientProcessStderrLine, String, "", nil, Unbounded, Experimental,
		"Line of the server's standard error, up to 64 KiB."},
	{names.KeyMCPClientFaultKind, String, "", words.FaultKinds, Closed, Experimental,
		"Fault that a fault plan injected into the message: see package chaos. The last fault, if there were several."},
	{names.KeyMCPClientMRTRRound, Int, "", nil, Unbounded, Experimental,
		"Number of the round in a call, from 1. In each round, a request brings input that the server asked for."},
	{names.KeyMCPClientStreamKind, String, "", words.StreamKinds, Closed, Experimental,
		"Purpose of a stream that outlives requests: messages of the server, all messages from the server, or " +
			"subscriptions."},
	{names.KeyMCPClientCacheOutcome, String, "", words.CacheOutcomes, Closed, Experimental,
		"Whether the cache had the result."},
	{names.KeyMCPClientToolDefinitionPart, String, "", words.DefinitionParts, Closed, Experimental,
		"Part of a tool's definition: its name and description, or its inputSchema."},
	{names.KeyMCPClientLoopKind, String, "", words.LoopKinds, Closed, Experimental,
		"Kind of loop in tool calls that return nothing new: see mcpclient.UseLoopDetection."},
	{names.KeyMCPClientGapCause, String, "", words.GapCauses, Closed, Experimental,
		"Reason why the client may have missed changes."},
	{names.KeyMCPClientLoopCalls, Int, "", nil, Unbounded, Experimental,
		"Number of calls in the loop, including this one if it was made."},
	{names.KeyMCPClientToolChangeKind, String, "", words.ToolChanges, Closed, Experimental,
		"Kind of change of a tool since the previous list, or since the baseline."},
	{names.KeyMCPClientToolChangeParts, String, "", nil, Unbounded, Experimental,
		"Changed parts of the definition, separated by commas: title, description, input_schema, output_schema, " +
			"annotations."},
	{names.KeyMCPClientAuthStep, String, "", words.AuthSteps, Closed, Experimental, "Step of an authorization."},

	{names.KeyMCPClientFlightRecordText, String, "", nil, Unbounded, Experimental,
		"Entries of the flight recorder, oldest first, one per line: sizes, names, ids, and times relative to the " +
			"record. Up to 16 KiB."},
	{names.KeyMCPClientFlightRecordEntries, Int, "", nil, Unbounded, Experimental,
		"Number of entries in the text."},
	{names.KeyMCPClientFlightRecordOmitted, Int, "", nil, Unbounded, Experimental,
		"Number of older entries that exceed the limit of the text."},

	{names.KeyMCPServerName, String, "", nil, Configured, Stable, "Configured name of the server."},
	{names.KeyMCPServerInstanceID, String, "", nil, Unbounded, Stable,
		"Id that distinguishes servers with the same name: configured, or 16 random hexadecimal digits. On spans and " +
			"log records only."},
	{names.KeyMCPServerClientName, String, "", nil, Limited, Experimental,
		"Name that the client sent in the handshake or in each request, up to 128 bytes. Metrics distinguish up " +
			"to 256 clients of each server, by name and version."},
	{names.KeyMCPServerClientVersion, String, "", nil, Limited, Experimental,
		"Version that the client sent with its name, up to 128 bytes."},
	{names.KeyMCPServerDuration, Double, "s", nil, Unbounded, Stable, "Duration of the event's operation."},
	{names.KeyMCPServerErrorKind, String, "", words.ErrorKinds, Closed, Stable, "Kind of the error."},
	{names.KeyMCPServerResultType, String, "", nil, Unbounded, Experimental, "Type of the result, if it is not complete."},
	{names.KeyMCPServerRequestSize, Int, "By", nil, Unbounded, Experimental, "Size of the request's frame."},
	{names.KeyMCPServerResponseSize, Int, "By", nil, Unbounded, Experimental, "Size of the answer's frame."},
	{names.KeyMCPServerDirection, String, "", words.Directions, Closed, Stable,
		"Direction of the message, from the server's view."},
	{names.KeyMCPServerMessageKind, String, "", words.MessageKinds, Closed, Experimental, "Kind of the JSON-RPC message."},
	{names.KeyMCPServerViolationReason, String, "", words.ViolationReasons, Closed, Stable,
		"Rule of the protocol that a frame broke."},
	{names.KeyMCPServerFrameSize, Int, "By", nil, Unbounded, Stable, "Size of the frame, as far as it was read."},
	{names.KeyMCPServerFrameLimit, Int, "By", nil, Unbounded, Stable, "Limit that the frame exceeded."},
	{names.KeyMCPServerFrameHeadHash, String, "", nil, Unbounded, Experimental,
		"Hash of the first 64 bytes of the frame, 8 hexadecimal digits. It identifies frames with equal " +
			"beginnings and reveals no content."},
	{names.KeyMCPServerSuppressed, Int, "", nil, Unbounded, Experimental,
		"Number of suppressed records of this kind since the last written record."},
	{names.KeyMCPServerDropReason, String, "", words.DropReasons, Closed, Experimental, "Reason for dropping a message."},
	{names.KeyMCPServerTaskStatus, String, "", words.TaskStatuses, Closed, Experimental, "Final status of a task."},
	{names.KeyMCPServerPolicyDecision, String, "", words.PolicyDecisions, Closed, Experimental,
		"Decision of a proxy's policy about a message: see mcpproxy.Policy. The last decision, if there were several."},
	{names.KeyMCPServerPolicyRedactions, Int, "", nil, Unbounded, Experimental,
		"Number of texts that were replaced in the message."},
	{names.KeyMCPServerRefusalReason, String, "", words.Refusals, Closed, Experimental,
		"Reason for refusing a request before it reached a handler."},
	{names.KeyMCPServerCapacityKind, String, "", words.Capacities, Closed, Experimental,
		"Kind of resource that the server limits."},
	{names.KeyMCPServerMemoryKind, String, "", words.Memories, Closed, Experimental,
		"Kind of memory that the server limits."},
	{names.KeyMCPServerStreamKind, String, "", words.StreamKinds, Closed, Experimental,
		"Purpose of a stream that outlives requests: messages of the server, all messages from the server, or " +
			"subscriptions."},
	{names.KeyMCPServerTraceAdvice, String, "", nil, Unbounded, Experimental,
		"How to join client and server spans into one trace."},
	{names.KeyMCPServerDropAge, Double, "s", nil, Unbounded, Experimental,
		"Time between the end of the request and its late response."},
	{names.KeyMCPServerFlightRecordText, String, "", nil, Unbounded, Experimental,
		"Entries of the flight recorder, oldest first, one per line: sizes, names, ids, and times relative to the " +
			"record. Up to 16 KiB."},
	{names.KeyMCPServerFlightRecordEntries, Int, "", nil, Unbounded, Experimental,
		"Number of entries in the text."},
	{names.KeyMCPServerFlightRecordOmitted, Int, "", nil, Unbounded, Experimental,
		"Number of older entries that exceed the limit of the text."},
})

func textsOf[T interface{ String() string }](all []T) []string {
	texts := make([]string, 0, len(all))
	for _, v := range all {
		if text := v.String(); text != names.Other {
			texts = append(texts, text)
		}
	}
	return texts
}

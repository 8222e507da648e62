package schema

import (
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/internal/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// keyAnyVariable stands for all the keys that begin so.
const keyAnyVariable = names.KeyGenAIPromptVariable + "{name}"

// attributes is every key there is. Those without a prefix of ours are from the semantic conventions, but for the two
// that slog records have by habit.
var attributes = limited([]attributeRow{
	{names.KeyEventName, String, "", nil, Limited, Stable, "Name of the event that a log record is."},
	{names.KeyError, String, "", nil, Unbounded, Stable, "Text of the error, up to 256 bytes. On log records only."},

	{names.KeyMCPMethodName, String, "", words.Methods, Limited, Convention, "Method of the request or notification."},
	{names.KeyGenAIToolName, String, "", nil, Limited, Convention, "Name of the tool."},
	{names.KeyGenAIPromptName, String, "", nil, Limited, Convention, "Name of the prompt."},
	{names.KeyGenAIOperationName, String, "", []string{words.OperationExecuteTool}, Closed, Convention,
		"Set on tool calls, as on those of other GenAI instrumentation."},
	{names.KeyGenAIToolType, String, "", []string{words.ToolTypeExtension}, Closed, Convention,
		"Set on tool calls of clients: an MCP server runs the tool, and no model or agent does."},
	{names.KeyGenAIToolCallArguments, Any, "", nil, Unbounded, Convention,
		"Arguments of the tool call: a map, what the redactor of WithContentCapture keeps of it, up to 8 KiB. A member " +
			"named … says that more was left out. JSON as a string with WithContentAsText."},
	{names.KeyGenAIToolCallResult, Any, "", nil, Unbounded, Convention, "Result of the tool call, likewise."},
	{keyAnyVariable, String, "", nil, Unbounded, Convention,
		"Argument of the prompt, its first 8 KiB; the key ends with its name. At most 16."},
	{names.KeyErrorType, String, "", nil, Limited, Convention,
		"How the operation failed: the JSON-RPC code if that is an error of this side, the HTTP status if only HTTP " +
			"answered, tool_error, a word of this module, or a Go type."},
	{names.KeyRPCResponseStatusCode, String, "", nil, Limited, Convention,
		"Code of the JSON-RPC error that is the answer, whether or not it is an error of this side."},
	{names.KeyJSONRPCRequestID, String, "", nil, Unbounded, Convention, "JSON-RPC id of the request."},
	{names.KeyMCPResourceURI, String, "", nil, Unbounded, Convention, "URI of the resource, up to 1,024 bytes."},
	{names.KeyMCPProtocolVersion, String, "", nil, Limited, Convention, "Negotiated version of the protocol."},
	{names.KeyMCPSessionID, String, "", nil, Unbounded, Convention,
		"Id of the session, with versions and transports that have one."},
	{names.KeyNetworkTransport, String, "", nil, Configured, Convention,
		"pipe for a child process, tcp or quic for a network; absent in memory."},
	{names.KeyNetworkProtocolName, String, "", nil, Configured, Convention, "Protocol under MCP, such as http."},
	{names.KeyNetworkProtocolVersion, String, "", nil, Limited, Convention,
		"Version of the protocol under MCP, as soon as it is known."},
	{names.KeyServerAddress, String, "", nil, Configured, Convention, "Name of the server that was dialled."},
	{names.KeyServerPort, Int, "", nil, Configured, Convention, "Port of the server that was dialled."},
	{names.KeyGenAIConversationID, String, "", nil, Unbounded, Convention,
		"Id of the conversation that the call belongs to: see telemetry.ContextWithConversation."},
	{names.KeyGenAIAgentName, String, "", nil, Limited, Convention,
		"Name of the agent that makes the call, likewise. On metrics only with telemetry.WithBaggageLabel."},
	{names.KeySessionID, String, "", nil, Unbounded, Convention, "Id of the session of the agent's user, likewise."},
	{names.KeyUserHash, String, "", nil, Unbounded, Convention,
		"Hash of the user's id, likewise: 64 hexadecimal digits."},
	{names.KeyClientAddress, String, "", nil, Unbounded, Convention,
		"Address that a request over HTTP came from; of a proxy, if there is one."},
	{names.KeyClientPort, Int, "", nil, Unbounded, Convention, "Port that a request over HTTP came from."},
	{names.KeyProcessPID, Int, "", nil, Unbounded, Convention, "Id of the server's process."},
	{names.KeyProcessExitCode, Int, "", nil, Unbounded, Convention,
		"Exit code of the server's process; -1 if a signal ended it."},
	{names.KeyExceptionType, String, "", nil, Unbounded, Convention, "Go type of the value a handler panicked with."},
	{names.KeyExceptionMessage, String, "", nil, Unbounded, Convention, "Text of that value, up to 256 bytes."},
	{names.KeyExceptionStacktrace, String, "", nil, Unbounded, Convention,
		"Stack of the handler's goroutine, up to 16 KiB."},

	{names.KeyMCPClientName, String, "", nil, Configured, Stable,
		"Configured name of the client: which server it talks to."},
	{names.KeyMCPClientGroup, String, "", nil, Configured, Experimental,
		"Group that the client is configured to be in, if there is one. On metrics 32 groups of a process are told " +
			"apart; and where there are more names of clients than places, their name is _OTHER and the group, _OTHER " +
			"for none, stands for them."},
	{names.KeyMCPClientInstanceID, String, "", nil, Unbounded, Stable,
		"Tells clients of one name apart: configured, or 16 random hexadecimal digits. On spans and log records only."},
	{names.KeyMCPClientCorrID, String, "", nil, Unbounded, Stable,
		"Names one logical call, over retries and rounds: 32 hexadecimal digits."},
	{names.KeyMCPClientDuration, Double, "s", nil, Unbounded, Stable, "The event's measurement of time."},
	{names.KeyMCPClientErrorKind, String, "", words.ErrorKinds, Closed, Stable, "Kind of the error."},
	{names.KeyMCPClientResultType, String, "", nil, Unbounded, Experimental, "Type of the result, if it is not complete."},
	{names.KeyMCPClientRequestSize, Int, "By", nil, Unbounded, Experimental, "Size of the request's frame."},
	{names.KeyMCPClientResponseSize, Int, "By", nil, Unbounded, Experimental, "Size of the answer's frame."},
	{names.KeyMCPClientSendRetries, Int, "", nil, Unbounded, Experimental, "How often sending was tried again."},
	{names.KeyMCPClientRetryReason, String, "", words.RetryReasons, Closed, Experimental, "Why sending was tried again."},
	{names.KeyMCPClientDirection, String, "", words.Directions, Closed, Stable,
		"Which way the message went, seen from the client."},
	{names.KeyMCPClientMessageKind, String, "", words.MessageKinds, Closed, Experimental, "Kind of the JSON-RPC message."},
	{names.KeyMCPClientViolationReason, String, "", words.ViolationReasons, Closed, Stable,
		"Rule of the protocol that a frame broke."},
	{names.KeyMCPClientFrameSize, Int, "By", nil, Unbounded, Stable, "Size of the frame, as far as it was read."},
	{names.KeyMCPClientFrameLimit, Int, "By", nil, Unbounded, Stable, "Limit that the frame exceeded."},
	{names.KeyMCPClientFrameHeadHash, String, "", nil, Unbounded, Experimental,
		"Hash of the first 64 bytes of the frame, 8 hexadecimal digits: it tells whether frames begin alike, and nothing " +
			"of what is in them."},
	{names.KeyMCPClientSuppressed, Int, "", nil, Unbounded, Experimental,
		"How many records like this one were not written before it."},
	{names.KeyMCPClientDropReason, String, "", words.DropReasons, Closed, Experimental, "Why a message was dropped."},
	{names.KeyMCPClientDropAge, Double, "s", nil, Unbounded, Experimental,
		"Time since the call ended that the response answers."},
	{names.KeyMCPClientTombstoneCount, Int, "", nil, Unbounded, Experimental,
		"How many tombstones were added or expired."},
	{names.KeyMCPClientConnectionState, String, "", textsOf(connstate.States()), Closed, Stable,
		"State of the connection."},
	{names.KeyMCPClientServerName, String, "", nil, Limited, Experimental,
		"Name that the server gives itself in the negotiation, up to 128 bytes. Metrics tell 256 of a process apart, by " +
			"name and version."},
	{names.KeyMCPClientServerVersion, String, "", nil, Limited, Experimental,
		"Version of it that the server gives itself, up to 128 bytes."},
	{names.KeyMCPClientConnectionFrom, String, "", textsOf(connstate.States()), Closed, Stable,
		"State the connection left."},
	{names.KeyMCPClientConnectionTo, String, "", textsOf(connstate.States()), Closed, Stable,
		"State the connection entered."},
	{names.KeyMCPClientConnectionReason, String, "", textsOf(connstate.Reasons()), Closed, Stable,
		"Why the connection moved."},
	{names.KeyMCPClientConnectionEpoch, Int, "", nil, Unbounded, Stable,
		"Numbers the connections over the life of the client, from 1."},
	{names.KeyMCPClientConnectionAttemptNumber, Int, "", nil, Unbounded, Stable,
		"Numbers the attempts to connect since the connection was last ready, from 1; 0 when a ready connection is lost."},
	{names.KeyMCPClientConnectionAttemptKind, String, "", words.AttemptKinds, Closed, Experimental,
		"Whether the client was ready before."},
	{names.KeyMCPClientConnectionBackoffDelay, Double, "s", nil, Unbounded, Experimental, "Time until the next attempt."},
	{names.KeyMCPClientProcessSignal, String, "", nil, Unbounded, Experimental, "Signal that ended the server's process."},
	{names.KeyMCPClientProcessStderrLine, String, "", nil, Unbounded, Experimental,
		"Line of the server's standard error, up to 64 KiB."},
	{names.KeyMCPClientFaultKind, String, "", words.FaultKinds, Closed, Experimental,
		"What a plan of faults has done to the message: see package chaos. Of several things, the last."},
	{names.KeyMCPClientMRTRRound, Int, "", nil, Unbounded, Experimental,
		"Numbers the requests of a call that bring the server what it asked for, from 1."},
	{names.KeyMCPClientStreamKind, String, "", words.StreamKinds, Closed, Experimental,
		"What a stream that outlives requests is for: messages of the server, everything it sends, subscriptions."},
	{names.KeyMCPClientCacheOutcome, String, "", words.CacheOutcomes, Closed, Experimental,
		"Whether the cache had the result."},
	{names.KeyMCPClientToolDefinitionPart, String, "", words.DefinitionParts, Closed, Experimental,
		"What of a tool's definition it is: its name and description, or its inputSchema."},
	{names.KeyMCPClientLoopKind, String, "", words.LoopKinds, Closed, Experimental,
		"How calls of tools bring nothing new: see mcpclient.UseLoopDetection."},
	{names.KeyMCPClientLoopCalls, Int, "", nil, Unbounded, Experimental,
		"How many calls belong to the loop, this one among them, if it was made."},
	{names.KeyMCPClientToolChangeKind, String, "", words.ToolChanges, Closed, Experimental,
		"What has become of a tool since the list before, or since the baseline."},
	{names.KeyMCPClientToolChangeParts, String, "", nil, Unbounded, Experimental,
		"Which parts of a definition have changed, with commas between them: title, description, input_schema, " +
			"output_schema, annotations."},
	{names.KeyMCPClientAuthStep, String, "", words.AuthSteps, Closed, Experimental, "What an authorization is doing."},

	{names.KeyMCPClientFlightRecordText, String, "", nil, Unbounded, Experimental,
		"Entries of the flight recorder, the oldest first, a line for each with its time relative to the record's: sizes, " +
			"names and ids, up to 16 KiB."},
	{names.KeyMCPClientFlightRecordEntries, Int, "", nil, Unbounded, Experimental, "How many those are."},
	{names.KeyMCPClientFlightRecordOmitted, Int, "", nil, Unbounded, Experimental,
		"How many older ones there was no room for."},

	{names.KeyMCPServerName, String, "", nil, Configured, Stable, "Configured name of the server."},
	{names.KeyMCPServerInstanceID, String, "", nil, Unbounded, Stable,
		"Tells servers of one name apart: configured, or 16 random hexadecimal digits. On spans and log records only."},
	{names.KeyMCPServerClientName, String, "", nil, Limited, Experimental,
		"Name that the client gives itself, in the handshake or in each request, up to 128 bytes. Metrics tell 256 of a " +
			"server apart, by name and version."},
	{names.KeyMCPServerClientVersion, String, "", nil, Limited, Experimental,
		"Version of it that the client gives itself, up to 128 bytes."},
	{names.KeyMCPServerDuration, Double, "s", nil, Unbounded, Stable, "The event's measurement of time."},
	{names.KeyMCPServerErrorKind, String, "", words.ErrorKinds, Closed, Stable, "Kind of the error."},
	{names.KeyMCPServerResultType, String, "", nil, Unbounded, Experimental, "Type of the result, if it is not complete."},
	{names.KeyMCPServerRequestSize, Int, "By", nil, Unbounded, Experimental, "Size of the request's frame."},
	{names.KeyMCPServerResponseSize, Int, "By", nil, Unbounded, Experimental, "Size of the answer's frame."},
	{names.KeyMCPServerDirection, String, "", words.Directions, Closed, Stable,
		"Which way the message went, seen from the server."},
	{names.KeyMCPServerMessageKind, String, "", words.MessageKinds, Closed, Experimental, "Kind of the JSON-RPC message."},
	{names.KeyMCPServerViolationReason, String, "", words.ViolationReasons, Closed, Stable,
		"Rule of the protocol that a frame broke."},
	{names.KeyMCPServerFrameSize, Int, "By", nil, Unbounded, Stable, "Size of the frame, as far as it was read."},
	{names.KeyMCPServerFrameLimit, Int, "By", nil, Unbounded, Stable, "Limit that the frame exceeded."},
	{names.KeyMCPServerFrameHeadHash, String, "", nil, Unbounded, Experimental,
		"Hash of the first 64 bytes of the frame, 8 hexadecimal digits: it tells whether frames begin alike, and nothing " +
			"of what is in them."},
	{names.KeyMCPServerSuppressed, Int, "", nil, Unbounded, Experimental,
		"How many records like this one were not written before it."},
	{names.KeyMCPServerDropReason, String, "", words.DropReasons, Closed, Experimental, "Why a message was dropped."},
	{names.KeyMCPServerTaskStatus, String, "", words.TaskStatuses, Closed, Experimental, "Final status of a task."},
	{names.KeyMCPServerPolicyDecision, String, "", words.PolicyDecisions, Closed, Experimental,
		"What the policy of a proxy did with a message: see mcpproxy.Policy. Of several things, the last."},
	{names.KeyMCPServerPolicyRedactions, Int, "", nil, Unbounded, Experimental, "How much of the message was replaced."},
	{names.KeyMCPServerStreamKind, String, "", words.StreamKinds, Closed, Experimental,
		"What a stream that outlives requests is for: messages of the server, everything it sends, subscriptions."},
	{names.KeyMCPServerDropAge, Double, "s", nil, Unbounded, Experimental,
		"Time since the request ended that the response answers."},
	{names.KeyMCPServerFlightRecordText, String, "", nil, Unbounded, Experimental,
		"Entries of the flight recorder, the oldest first, a line for each with its time relative to the record's: sizes, " +
			"names and ids, up to 16 KiB."},
	{names.KeyMCPServerFlightRecordEntries, Int, "", nil, Unbounded, Experimental, "How many those are."},
	{names.KeyMCPServerFlightRecordOmitted, Int, "", nil, Unbounded, Experimental,
		"How many older ones there was no room for."},
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

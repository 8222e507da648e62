package telemetry

import "github.com/mcpotel/mcpotel/mcpclient/connstate"

// keyAnyVariable stands for all the keys that begin so.
const keyAnyVariable = keyPromptVariable + "{name}"

// attributes is every key there is. Those without a prefix of ours are from the semantic conventions, but for the two
// that slog records have by habit.
var attributes = limited([]attributeRow{
	{keyEventName, String, "", nil, Limited, Stable, "Name of the event that a log record is."},
	{keyError, String, "", nil, Unbounded, Stable, "Text of the error, up to 256 bytes. On log records only."},

	{keyMethod, String, "", methods, Limited, Convention, "Method of the request or notification."},
	{keyTool, String, "", nil, Limited, Convention, "Name of the tool."},
	{keyPrompt, String, "", nil, Limited, Convention, "Name of the prompt."},
	{keyOperation, String, "", []string{operationExecuteTool}, Closed, Convention, "Set on tool calls, as on those of other GenAI instrumentation."},
	{keyToolArguments, String, "", nil, Unbounded, Convention, "Arguments of the tool call: JSON, what the redactor of WithContentCapture keeps of it, up to 8 KiB."},
	{keyToolResult, String, "", nil, Unbounded, Convention, "Result of the tool call, likewise."},
	{keyAnyVariable, String, "", nil, Unbounded, Convention, "Argument of the prompt, likewise; the key ends with its name. At most 16."},
	{keyErrorType, String, "", nil, Limited, Convention, "How the operation failed: the JSON-RPC code if that is an error of this side, the HTTP status if only HTTP answered, tool_error, a word of this module, or a Go type."},
	{keyStatusCode, String, "", nil, Limited, Convention, "Code of the JSON-RPC error that is the answer, whether or not it is an error of this side."},
	{keyRequestID, String, "", nil, Unbounded, Convention, "JSON-RPC id of the request."},
	{keyResourceURI, String, "", nil, Unbounded, Convention, "URI of the resource, up to 1,024 bytes."},
	{keyMCPVersion, String, "", nil, Limited, Convention, "Negotiated version of the protocol."},
	{keySessionID, String, "", nil, Unbounded, Convention, "Id of the session, with versions and transports that have one."},
	{keyTransport, String, "", nil, Configured, Convention, "pipe for a child process, tcp or quic for a network; absent in memory."},
	{keyProtocol, String, "", nil, Configured, Convention, "Protocol under MCP, such as http."},
	{keyProtocolVersion, String, "", nil, Limited, Convention, "Version of the protocol under MCP, as soon as it is known."},
	{keyAddress, String, "", nil, Configured, Convention, "Name of the server that was dialled."},
	{keyPort, Int, "", nil, Configured, Convention, "Port of the server that was dialled."},
	{keyPID, Int, "", nil, Unbounded, Convention, "Id of the server's process."},
	{keyExitCode, Int, "", nil, Unbounded, Convention, "Exit code of the server's process; -1 if a signal ended it."},
	{keyPanicType, String, "", nil, Unbounded, Convention, "Go type of the value a handler panicked with."},
	{keyPanicMessage, String, "", nil, Unbounded, Convention, "Text of that value, up to 256 bytes."},
	{keyPanicStack, String, "", nil, Unbounded, Convention, "Stack of the handler's goroutine, up to 16 KiB."},

	{keyClientName, String, "", nil, Configured, Stable, "Configured name of the client: which server it talks to."},
	{keyClientInstance, String, "", nil, Unbounded, Stable, "Tells clients of one name apart: configured, or 16 random hexadecimal digits. On spans and log records only."},
	{keyClientCorrID, String, "", nil, Unbounded, Stable, "Names one logical call, over retries and rounds: 32 hexadecimal digits."},
	{keyClientDuration, Double, "s", nil, Unbounded, Stable, "The event's measurement of time."},
	{keyClientErrorKind, String, "", errorKinds, Closed, Stable, "Kind of the error."},
	{keyClientResultType, String, "", nil, Unbounded, Experimental, "Type of the result, if it is not complete."},
	{keyClientRequestSize, Int, "By", nil, Unbounded, Experimental, "Size of the request's frame."},
	{keyClientResponseSize, Int, "By", nil, Unbounded, Experimental, "Size of the answer's frame."},
	{keyClientSendRetries, Int, "", nil, Unbounded, Experimental, "How often sending was tried again."},
	{keyClientRetryReason, String, "", retryReasons, Closed, Experimental, "Why sending was tried again."},
	{keyClientDirection, String, "", directions, Closed, Stable, "Which way the message went, seen from the client."},
	{keyClientMessageKind, String, "", messageKinds, Closed, Experimental, "Kind of the JSON-RPC message."},
	{keyClientViolationReason, String, "", violationReasons, Closed, Stable, "Rule of the protocol that a frame broke."},
	{keyClientFrameSize, Int, "By", nil, Unbounded, Stable, "Size of the frame, as far as it was read."},
	{keyClientFrameLimit, Int, "By", nil, Unbounded, Stable, "Limit that the frame exceeded."},
	{keyClientFrameHash, String, "", nil, Unbounded, Experimental, "Hash of the first 64 bytes of the frame, 8 hexadecimal digits: it tells whether frames begin alike, and nothing of what is in them."},
	{keyClientSuppressed, Int, "", nil, Unbounded, Experimental, "How many records like this one were not written before it."},
	{keyClientDropReason, String, "", dropReasons, Closed, Experimental, "Why a message went to nobody."},
	{keyClientDropAge, Double, "s", nil, Unbounded, Experimental, "Time since the call ended that the response answers."},
	{keyClientTombstones, Int, "", nil, Unbounded, Experimental, "How many tombstones were added or expired."},
	{keyClientState, String, "", words(connstate.States()), Closed, Stable, "State of the connection."},
	{keyClientFrom, String, "", words(connstate.States()), Closed, Stable, "State the connection left."},
	{keyClientTo, String, "", words(connstate.States()), Closed, Stable, "State the connection entered."},
	{keyClientTransitionReason, String, "", words(connstate.Reasons()), Closed, Stable, "Why the connection moved."},
	{keyClientEpoch, Int, "", nil, Unbounded, Stable, "Numbers the connections over the life of the client, from 1."},
	{keyClientAttempt, Int, "", nil, Unbounded, Stable, "Numbers the attempts to connect since the connection was last ready, from 1; 0 when a ready connection is lost."},
	{keyClientAttemptKind, String, "", attemptKinds, Closed, Experimental, "Whether the client was ready before."},
	{keyClientBackoffDelay, Double, "s", nil, Unbounded, Experimental, "Time until the next attempt."},
	{keyClientSignal, String, "", nil, Unbounded, Experimental, "Signal that ended the server's process."},
	{keyClientStderrLine, String, "", nil, Unbounded, Experimental, "Line of the server's standard error, up to 64 KiB."},
	{keyClientRound, Int, "", nil, Unbounded, Experimental, "Numbers the requests of a call that bring the server what it asked for, from 1."},
	{keyClientStreamKind, String, "", streamKinds, Closed, Experimental, "What a stream that outlives requests is for: messages of the server, everything it sends, subscriptions."},
	{keyClientCacheOutcome, String, "", cacheOutcomes, Closed, Experimental, "Whether the cache had the result."},
	{keyClientAuthStep, String, "", authSteps, Closed, Experimental, "What an authorization is doing."},

	{keyClientFlightText, String, "", nil, Unbounded, Experimental, "Entries of the flight recorder, the oldest first, a line for each with its time relative to the record's: sizes, names and ids, up to 16 KiB."},
	{keyClientFlightEntries, Int, "", nil, Unbounded, Experimental, "How many those are."},
	{keyClientFlightOmitted, Int, "", nil, Unbounded, Experimental, "How many older ones there was no room for."},

	{keyServerName, String, "", nil, Configured, Stable, "Configured name of the server."},
	{keyServerInstance, String, "", nil, Unbounded, Stable, "Tells servers of one name apart: configured, or 16 random hexadecimal digits. On spans and log records only."},
	{keyServerDuration, Double, "s", nil, Unbounded, Stable, "The event's measurement of time."},
	{keyServerErrorKind, String, "", errorKinds, Closed, Stable, "Kind of the error."},
	{keyServerResultType, String, "", nil, Unbounded, Experimental, "Type of the result, if it is not complete."},
	{keyServerRequestSize, Int, "By", nil, Unbounded, Experimental, "Size of the request's frame."},
	{keyServerResponseSize, Int, "By", nil, Unbounded, Experimental, "Size of the answer's frame."},
	{keyServerDirection, String, "", directions, Closed, Stable, "Which way the message went, seen from the server."},
	{keyServerMessageKind, String, "", messageKinds, Closed, Experimental, "Kind of the JSON-RPC message."},
	{keyServerViolationReason, String, "", violationReasons, Closed, Stable, "Rule of the protocol that a frame broke."},
	{keyServerFrameSize, Int, "By", nil, Unbounded, Stable, "Size of the frame, as far as it was read."},
	{keyServerFrameLimit, Int, "By", nil, Unbounded, Stable, "Limit that the frame exceeded."},
	{keyServerFrameHash, String, "", nil, Unbounded, Experimental, "Hash of the first 64 bytes of the frame, 8 hexadecimal digits: it tells whether frames begin alike, and nothing of what is in them."},
	{keyServerSuppressed, Int, "", nil, Unbounded, Experimental, "How many records like this one were not written before it."},
	{keyServerDropReason, String, "", dropReasons, Closed, Experimental, "Why a message went to nobody."},
	{keyServerTaskStatus, String, "", taskStatuses, Closed, Experimental, "Final status of a task."},
	{keyServerStreamKind, String, "", streamKinds, Closed, Experimental, "What a stream that outlives requests is for: messages of the server, everything it sends, subscriptions."},
	{keyServerDropAge, Double, "s", nil, Unbounded, Experimental, "Time since the request ended that the response answers."},
	{keyServerFlightText, String, "", nil, Unbounded, Experimental, "Entries of the flight recorder, the oldest first, a line for each with its time relative to the record's: sizes, names and ids, up to 16 KiB."},
	{keyServerFlightEntries, Int, "", nil, Unbounded, Experimental, "How many those are."},
	{keyServerFlightOmitted, Int, "", nil, Unbounded, Experimental, "How many older ones there was no room for."},
})

func words[T interface{ String() string }](all []T) []string {
	texts := make([]string, 0, len(all))
	for _, v := range all {
		if text := v.String(); text != other {
			texts = append(texts, text)
		}
	}
	return texts
}

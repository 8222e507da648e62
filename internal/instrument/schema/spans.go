package schema

import (
	"slices"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Statuses of ended spans. Success leaves the status unset, as in the conventions.
const (
	statusUnset = "Unset"
	statusError = "Error"
)

// Ids of the rows of spans. Emitted spans do not contain them.
const (
	spanClientRequest      = "mcp_client.request"
	spanClientHandler      = "mcp_client.handler"
	spanClientNotification = "mcp_client.notification"
	spanClientAttempt      = "mcp_client.connection.attempt"
	spanClientAuth         = "mcp_client.auth.step"
	spanServerHandler      = "mcp_server.request"
	spanServerAsk          = "mcp_server.ask"
	spanServerNotification = "mcp_server.notification"
	spanServerTask         = "mcp_server.task.work"
	spanServerChange       = "mcp_server.change"
)

// nameForm is the form of the names of message spans: the method, and the target if there is one. The URI of a resource
// is included only with [telemetry.WithResourceURIInSpanName]. A name may contain _OTHER where the attributes contain
// the real name.
const nameForm = "{mcp.method.name} {gen_ai.tool.name|gen_ai.prompt.name|mcp.resource.uri}"

var spans = identifiedSpans([]Span{
	{spanClientRequest, nameForm, ClientSpan,
		slices.Concat(required(names.KeyMCPMethodName),
			when(names.KeyGenAIToolName, names.KeyGenAIPromptName, names.KeyGenAIOperationName, names.KeyGenAIToolType,
				names.KeyNetworkTransport)),
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientCorrID), when(
			names.KeyGenAIToolCallArguments, names.KeyGenAIToolCallResult, keyAnyVariable,
			names.KeyJSONRPCRequestID, names.KeyErrorType, names.KeyRPCResponseStatusCode, names.KeyMCPClientSafeToRetry,
			names.KeyMCPResourceURI, names.KeyMCPClientResultType, names.KeyMCPClientRequestSize,
			names.KeyMCPClientResponseSize, names.KeyMCPClientSendRetries, names.KeyMCPClientMRTRRound,
			names.KeyMCPClientLoopKind, names.KeyMCPClientLoopCalls, names.KeyMCPClientFaultKind, names.KeyMCPSessionID,
			names.KeyServerAddress,
			names.KeyServerPort, names.KeyMCPProtocolVersion, names.KeyNetworkProtocolName,
			names.KeyNetworkProtocolVersion)),
		[]string{"the request that this one repeats or continues"}, []string{statusUnset, statusError}, Convention,
		"A request of the client, from the call to its outcome. The wait for a connection is part of the span, but not of " +
			"the duration metric."},
	{spanClientNotification, nameForm, ClientSpan,
		slices.Concat(required(names.KeyMCPMethodName), when(names.KeyNetworkTransport)),
		slices.Concat(required(names.KeyMCPClientName), when(
			names.KeyErrorType, names.KeyMCPClientRequestSize, names.KeyMCPSessionID, names.KeyServerAddress,
			names.KeyServerPort, names.KeyMCPProtocolVersion, names.KeyNetworkProtocolName,
			names.KeyNetworkProtocolVersion)),
		nil, []string{statusUnset, statusError}, Convention,
		"A notification of the client. Progress, message and cancelled notifications have no span, except for a " +
			"cancellation of a call with an exported span."},
	{spanClientHandler, nameForm, ServerSpan,
		slices.Concat(required(names.KeyMCPMethodName), when(names.KeyNetworkTransport)),
		slices.Concat(required(names.KeyMCPClientName), when(
			names.KeyJSONRPCRequestID, names.KeyErrorType, names.KeyRPCResponseStatusCode, names.KeyMCPResourceURI,
			names.KeyMCPClientRequestSize,
			names.KeyMCPClientResponseSize, names.KeyMCPSessionID, names.KeyMCPProtocolVersion, names.KeyNetworkProtocolName,
			names.KeyNetworkProtocolVersion)),
		nil, []string{statusUnset, statusError}, Convention,
		"A request or notification of the server that the client handles. Notifications have spans by the same " +
			"rules as notifications of the client."},
	{spanClientAttempt, names.SpanMCPClientConnect, InternalSpan,
		slices.Concat(required(names.KeyMCPClientName, names.KeyMCPClientConnectionAttemptNumber,
			names.KeyMCPClientConnectionAttemptKind), when(names.KeyNetworkTransport)),
		when(names.KeyErrorType, names.KeyMCPClientServerName, names.KeyMCPClientServerVersion),
		[]string{"the preceding attempt"}, []string{statusUnset, statusError}, Experimental,
		"An attempt to connect. The requests of the negotiation are its children. The first attempt is a child of " +
			"the caller's span. Each later attempt starts its own trace."},
	{spanClientAuth, names.SpanMCPClientAuth + " {" + names.KeyMCPClientAuthStep + "}", InternalSpan,
		required(names.KeyMCPClientAuthStep), when(names.KeyErrorType),
		nil, []string{statusUnset, statusError}, Experimental,
		"A step of an authorization, within the span of the request that needs it. It records only the type of an " +
			"error."},
	{spanServerHandler, nameForm, ServerSpan,
		slices.Concat(required(names.KeyMCPMethodName),
			when(names.KeyGenAIToolName, names.KeyGenAIPromptName, names.KeyGenAIOperationName, names.KeyNetworkTransport)),
		slices.Concat(required(names.KeyMCPServerName), when(
			names.KeyGenAIToolCallArguments, names.KeyGenAIToolCallResult, keyAnyVariable,
			names.KeyJSONRPCRequestID, names.KeyErrorType, names.KeyRPCResponseStatusCode, names.KeyMCPResourceURI,
			names.KeyMCPServerResultType, names.KeyMCPServerRequestSize,
			names.KeyMCPServerResponseSize, names.KeyMCPSessionID, names.KeyMCPProtocolVersion, names.KeyNetworkProtocolName,
			names.KeyNetworkProtocolVersion, names.KeyClientAddress, names.KeyClientPort, names.KeyMCPServerClientName,
			names.KeyMCPServerClientVersion, names.KeyMCPServerPolicyDecision, names.KeyMCPServerPolicyRedactions)),
		[]string{"the ambient span of the handler, if the sender named another parent",
			"the span that the sender named, if the sender is not trusted"},
		[]string{statusUnset, statusError}, Convention,
		"A request or notification of a client that the server handles. Notifications have spans by the same rules " +
			"as notifications of a client."},
	{spanServerAsk, nameForm, ClientSpan,
		slices.Concat(required(names.KeyMCPMethodName), when(names.KeyNetworkTransport)),
		slices.Concat(required(names.KeyMCPServerName), when(
			names.KeyJSONRPCRequestID, names.KeyErrorType, names.KeyRPCResponseStatusCode, names.KeyMCPServerRequestSize,
			names.KeyMCPServerResponseSize, names.KeyMCPSessionID, names.KeyMCPProtocolVersion,
			names.KeyNetworkProtocolName, names.KeyNetworkProtocolVersion)),
		nil, []string{statusUnset, statusError}, Convention,
		"A request of the server to a client of a revision before 2026-07-28, below the span of the handler that needs the " +
			"answer. Clients of later revisions get the request in the result, which has mcp_server.result.type " +
			"input_required."},
	{spanServerTask, names.SpanMCPServerTask + " {" + names.KeyGenAIToolName + "}", InternalSpan,
		required(names.KeyGenAIToolName),
		slices.Concat(required(names.KeyMCPServerName, names.KeyMCPServerTaskStatus),
			when(names.KeyErrorType, names.KeyRPCResponseStatusCode)),
		nil, []string{statusUnset, statusError}, Experimental,
		"The work of a task, from its creation to its end, below the span of the request that created it. The " +
			"request does not wait for the task."},
	{spanServerChange, names.SpanMCPServerChange + " {" + names.KeyMCPMethodName + "}", InternalSpan,
		slices.Concat(required(names.KeyMCPMethodName, names.KeyMCPServerName), when(names.KeyMCPResourceURI)), nil,
		nil, []string{statusUnset}, Experimental,
		"A change of a list or resource that the server announces to all interested clients. The notifications to" +
			" the clients are its children, even if they are sent later. Without interested clients there is no span."},
	{spanServerNotification, nameForm, ClientSpan,
		slices.Concat(required(names.KeyMCPMethodName), when(names.KeyNetworkTransport)),
		slices.Concat(required(names.KeyMCPServerName), when(
			names.KeyErrorType, names.KeyMCPResourceURI, names.KeyMCPServerRequestSize, names.KeyMCPSessionID,
			names.KeyMCPProtocolVersion, names.KeyNetworkProtocolName, names.KeyNetworkProtocolVersion)),
		nil, []string{statusUnset, statusError}, Convention,
		"A notification of the server. Progress and message notifications have no span."},
})

// identifiedSpans adds the group and the instance to every span that has the name.
func identifiedSpans(rows []Span) []Span {
	all := make([]Span, len(rows))
	for i, r := range rows {
		all[i] = Span{r.ID, r.NameForm, r.Kind, identified(r.AtStart), identified(r.AtEnd), r.Links, r.Statuses, r.Stability,
			r.Brief}
	}
	return all
}

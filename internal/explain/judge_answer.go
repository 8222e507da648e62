package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// codes explains the error codes that the specifications of JSON-RPC and MCP define. (specification 2026-07-28,
// basic, "Error Codes"; 2025-11-25, client/sampling and server/resources)
var codes = map[string]meaning{
	"-32700": {"request_unreadable", "The server reports that the request is not JSON (-32700).",
		"check whether a proxy between client and server changes messages; otherwise it is a bug in the client or the " +
			"server"},
	"-32600": {"invalid_request", "The server reports that the request is invalid (-32600).",
		"check the server's requirements for this method; it may speak another revision than the negotiated one"},
	"-32601": {"unknown_method", "The server does not have this method, or has not declared the capability (-32601).",
		"list the server's capabilities, and use only methods that they include"},
	"-32602": {"invalid_params", "The server rejects the parameters (-32602): an argument is missing or has the wrong " +
		"type, or no tool, prompt or resource has this name.",
		"list the tools again, and compare name and arguments with the tool's inputSchema"},
	"-32603": {"server_failed", "The server reports an internal error (-32603).",
		"search the server's log for the trace id; the request itself may be correct"},
	"-32002": {"unknown_resource", "The server does not have this resource (-32002).",
		"list the resources and templates again, and use a URI from these lists"},
	"-32020": {"headers_contradict", "HTTP headers contradict the body of the request, or are missing (-32020).",
		"find the proxy or gateway that changes or removes headers with the prefix Mcp-"},
	"-32021": {"capability_missing", "The tool needs a client capability that the client has not declared (-32021).",
		"give the client a handler for the capability (sampling, elicitation or roots), or use another tool"},
	"-32022": {"version_unsupported", "The server does not support the revision of the request (-32022).",
		"let the client negotiate the revision, or pin it to a revision that the server supports"},
	"-32042": {"url_needed", "The user has to visit a URL before the server can answer (-32042).",
		"open the URL in the error's data, and call again afterwards"},
	"-1": {"user_rejected", "A user has rejected the request (-1).", "ask the user before you repeat the request"},
}

// code explains an answer that is an error.
func code(v *view) *Cause {
	s := v.subject
	if !strings.HasPrefix(s.reason, "-") {
		return nil
	}
	m, defined := codes[s.reason]
	if !defined {
		m = meaning{"server_error", "The server answered with a server-defined error, " + name(s.reason) + ".",
			"look up the code in the server's documentation; the error text is below if spans are available"}
	}
	evidence := []string{s.ended()}
	if v.far != nil {
		evidence = append(evidence, v.far.ended())
	}
	if c := worded(v, evidence); c != nil {
		return c
	}
	return m.cause(Certain, evidence...)
}

// worded distinguishes causes with the same code by the text of the error. A server can choose any code as well as any
// text, so a server that lies in the text gains nothing.
func worded(v *view, evidence []string) *Cause {
	s, text := v.subject, strings.ToLower(v.subject.message)
	switch {
	case s.reason == "-32602" && (strings.HasPrefix(text, "unknown tool") || strings.HasPrefix(text, "tool not found")):
		return meaning{"unknown_tool", "The server does not have the tool " + name(s.target) + " (-32602).",
			"list the server's tools again: the name is misspelt, or the tool was removed"}.cause(Certain,
			evidence...)
	case s.reason == "-32602" && v.far != nil && v.far.target == names.Other && s.target != names.Other:
		return meaning{"unknown_tool", "The server does not know the name " + name(s.target) + " (-32602).",
			"list the server's tools again: the name is misspelt, or the tool was removed"}.cause(Likely,
			evidence...)
	case s.reason == "-32603" && strings.HasPrefix(text, "too many requests"):
		return meaning{"server_busy", "The server rejected the request because its queue is full (-32603).",
			"make fewer concurrent calls, and retry later; mcpserver limits them with Options.Limits"}.
			cause(Certain, evidence...)
	}
	return nil
}

// toolError explains a result with isError.
func toolError(v *view) *Cause {
	s := v.subject
	if s.reason != names.ErrorToolError {
		return nil
	}
	m := meaning{"tool_error", "The tool " + name(s.target) + " itself reported an error. " +
		"Connection, protocol and server worked.",
		"read the text of the call's result: the tool describes the problem there, often a wrong argument. " +
			"Telemetry has the text only with content capture"}
	evidence := []string{s.ended()}
	if v.far != nil {
		evidence = append(evidence, v.far.ended())
	}
	return m.cause(Certain, evidence...)
}

// toolTimedOut explains a tool that the server ended after its Options.RequestTimeout. The server answers such a call
// with an error.
func toolTimedOut(v *view) *Cause {
	s, far := v.subject, v.far
	if !s.failed || far == nil || far.peer == nil || far.peer.RequestTimeout == 0 || far.took < far.peer.RequestTimeout ||
		s.reason != names.ErrorToolError && s.reason != "-32603" {
		return nil
	}
	return meaning{"server_timeout", fmt.Sprintf("The server ended the call after its own limit of %v for a request.",
		far.peer.RequestTimeout),
		"raise mcpserver.Options.RequestTimeout, make the tool do less, or make it a task"}.cause(Likely, far.ended(),
		s.ended())
}

// panicked explains an error for which the server's flight recorder has a panic.
func panicked(v *view) *Cause {
	s, far := v.subject, v.far
	if s.reason != "-32603" || far == nil || far.peer == nil {
		return nil
	}
	end := far.end()
	for i := range far.peer.Recent {
		e := &far.peer.Recent[i]
		if e.Kind == kindPanic && e.Method == far.method && !e.Time.Before(far.start) && !e.Time.After(end.Add(shortly)) {
			return meaning{"handler_panicked", "The handler of " + s.name() + " panicked in the server.",
				"read the stack in the server's log, in the record mcp_server.handler.panic; the server keeps running"}.
				cause(Certain, s.ended(), "the server recorded: panic in a handler of "+name(e.Method))
		}
	}
	return nil
}

// statuses explains HTTP statuses that replace an answer of the server.
var statuses = map[string]meaning{
	"401": {"unauthorized", "The server requires authorization (HTTP 401).",
		"give the client credentials: HTTP.Authorizer, a header, or mcpotel with --authorize; a token may have expired"},
	"403": {"forbidden", "The server denies access to this client (HTTP 403).",
		"check the permissions of the credentials, and the server's allowed hosts and origins"},
	"404": {"no_endpoint", "There is no MCP endpoint at this URL, or the server does not know the session (HTTP 404).",
		"check the path of the URL: it often ends in /mcp"},
	"405": {"no_endpoint", "This URL does not accept POST (HTTP 405), as an MCP endpoint does.",
		"check the path of the URL: it often ends in /mcp"},
	"408": {"http_timeout", "The server, or a proxy before it, timed out while it read the request (HTTP 408).",
		"check the network between client and server: the request arrived too slowly"},
	"413": {"request_too_large", "The request is larger than the server, or a proxy before it, accepts (HTTP 413).",
		"send less, or raise the limit of the proxy or the server"},
	"429": {"rate_limited", "The client exceeded the server's rate limit (HTTP 429).", "wait, and make fewer calls"},
	"500": {"http_server_failed", "The HTTP server reports an internal error (HTTP 500).", "read the server's log"},
	"502": {"bad_gateway", "A proxy before the server got no usable answer from it (HTTP 502).",
		"check that the server behind the proxy runs, and read the proxy's log"},
	"503": {"unavailable", "The server accepts no requests at the moment (HTTP 503).",
		"wait, and retry; check whether the server is restarting or overloaded"},
	"504": {"gateway_timeout", "A proxy before the server timed out waiting for its answer (HTTP 504).",
		"the server is slower than the proxy allows: raise the proxy's timeout, or make the tool a task"},
}

// statusOf returns the meaning of an HTTP status. It returns false if word is not a status.
func statusOf(word string) (meaning, bool) {
	if len(word) != 3 || word[0] < '3' || word[0] > '5' {
		return meaning{}, false
	}
	m, known := statuses[word]
	switch {
	case known:
	case word[0] == '3':
		m = meaning{"redirected", "The server redirects the client (HTTP " + word + "); the client does not follow " +
			"redirects.",
			"use the target URL of the redirect; if it is a login page, the server requires authorization"}
	default:
		m = meaning{"http_refused", "The client got HTTP status " + word + " instead of an MCP answer.",
			"check the proxy, gateway or login page before the server"}
	}
	return m, true
}

// status explains a request that got an HTTP status instead of an answer.
func status(v *view) *Cause {
	if m, ok := statusOf(v.subject.reason); ok && v.subject.failed {
		return m.cause(Certain, v.subject.ended())
	}
	return nil
}

// decided explains a decision of a proxy's policy.
func decided(v *view) *Cause {
	for _, o := range v.all {
		m, known := map[string]meaning{
			names.PolicyDenied: {"policy_denied", "The policy of a proxy does not allow the tool " + name(o.target) + ".",
				"do not call it; the proxy's operator decides (deny and allow of mcpotel proxy)"},
			names.PolicyLimited: {"policy_limited", "The policy of a proxy limited the number of tool calls.",
				"wait, and make fewer calls; the proxy's operator decides (its rate and concurrency)"},
			names.PolicyTimedOut: {"policy_timed_out", "The policy of a proxy ended the call, because it took too long.",
				"request less in one call; the proxy's operator decides (its timeouts)"},
		}[o.attribute(names.KeyMCPServerPolicyDecision)]
		if known {
			return m.cause(v.atMost(Certain, o), "the span of "+o.name()+" has "+names.KeyMCPServerPolicyDecision+"="+
				o.attribute(names.KeyMCPServerPolicyDecision))
		}
	}
	return nil
}

// inputMissing explains a call that ended after the server had requested input.
func inputMissing(v *view) *Cause {
	s := v.subject
	if !s.wantsInput() {
		return nil
	}
	for _, o := range v.all {
		if o.side == clientSide && o.kind == kindHandler && o.failed && !o.start.Before(s.start) {
			return meaning{"client_handler_failed", "The server requested " + name(o.method) +
				" from the client, and the client's handler failed. That ended the call.",
				"fix the client's handler of " + name(o.method) + ": the error is in the client's log"}.
				cause(Certain, s.ended(), o.ended())
		}
	}
	if s.round > 0 {
		return meaning{"asked_too_often", fmt.Sprintf("The server requested input %d times, and the client gave up.",
			s.round+1), "find out why the tool keeps requesting input, or allow more rounds with Options.Limits.InputRounds"}.
			cause(Likely, s.ended(), fmt.Sprintf("the client supplied input %d times", s.round))
	}
	return meaning{"input_not_given", "The server needs input from the client first, and did not get it.",
		"check which input the server requests: the client may have no handler for it, or its input was " +
			"invalid"}.cause(Likely, s.ended())
}

// turnedAway explains a request that a full queue or a busy server rejected.
func turnedAway(v *view) *Cause {
	s := v.subject
	if s.reason != names.ErrorTransportBusy {
		return nil
	}
	text := fmt.Sprintf("The server, or the pipe to it, was full. The client tried %d times.", s.retries+1)
	c := v.client()
	if s.attribute(names.KeyNetworkProtocolName) == "http" || c != nil && c.Client.Protocol == "http" {
		text = fmt.Sprintf("The server, or a proxy before it, rejected the request %d times: it has too many requests "+
			"(HTTP 429 or 503).", s.retries+1)
	}
	return meaning{"turned_away", text, "make fewer concurrent calls, and wait before the next. If no other call is in " +
		"flight, the server does not read its input, or other clients use it"}.cause(Certain, s.ended())
}

// retried reports that the request was sent more than once.
func retried(v *view) *Cause {
	s := v.subject
	if s.retries == 0 || s.reason == names.ErrorTransportBusy {
		return nil
	}
	return meaning{"retried", fmt.Sprintf("The request was rejected at first and retried %d times.",
		s.retries), "if this happens often, make fewer concurrent calls"}.cause(Certain, s.ended(),
		fmt.Sprintf("the client sent it %d times",
			s.retries+1))
}

// taskFailed explains a call that became a task.
func taskFailed(v *view) *Cause {
	for i := range v.Peers {
		for j := range v.Peers[i].Recent {
			e := &v.Peers[i].Recent[j]
			if e.Kind == kindTask && e.TraceID == v.TraceID && (e.Reason == "failed" || e.Reason == "cancelled") {
				return meaning{"task_" + e.Reason, "The call became a task, which ended as " + e.Reason + ".",
					"get the task's result; the server's log has the reason in the record mcp_server.task.end"}.
					cause(Certain, "the "+v.Peers[i].Side()+" recorded: task "+e.Reason+" of "+name(cmp.Or(e.Target, e.Method)))
			}
		}
	}
	return nil
}

// lostNotices reports notifications that were dropped during the call.
func lostNotices(v *view) *Cause {
	e := v.entry(func(e *telemetry.FlightEntry) bool { return e.Kind == kindLost && e.Reason == names.DropQueueFull })
	if e == nil {
		return nil
	}
	return meaning{"notifications_lost", "Notifications of the server were dropped during the call: their handlers " +
		"were too slow.",
		"make the handlers faster, or raise Options.Limits.Notifications"}.cause(Certain, v.record(e))
}

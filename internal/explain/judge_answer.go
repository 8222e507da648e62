package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// codes are the errors that the specifications of JSON-RPC and MCP define. (specification 2026-07-28, basic, "Error
// Codes"; 2025-11-25, client/sampling and server/resources)
var codes = map[string]meaning{
	"-32700": {"request_unreadable", "The server says that the request is not JSON (-32700).",
		"look at what stands between client and server, and whether it changes messages; then it is a mistake of one of " +
			"the two"},
	"-32600": {"invalid_request", "The server says that what it got is no valid request (-32600).",
		"look for what the server expects of this method in this revision; it may speak another one than was agreed on"},
	"-32601": {"unknown_method", "The server does not have this method, or has not declared the capability (-32601).",
		"ask the server for its capabilities, and use what it offers"},
	"-32602": {"invalid_params", "The server refuses the parameters (-32602): an argument is missing or of the " +
		"wrong type, or there is no tool, prompt or resource of this name.",
		"list the tools again, and compare name and arguments with the tool's inputSchema"},
	"-32603": {"server_failed", "The server failed inside (-32603).",
		"look into the server's log, by the id of the trace; the request itself may have been right"},
	"-32002": {"unknown_resource", "The server does not have this resource (-32002).",
		"list the resources and templates again, and use a URI of those"},
	"-32020": {"headers_contradict", "HTTP headers contradict the body of the request, or are missing (-32020).",
		"look for a proxy or gateway that changes or removes headers with the prefix Mcp-"},
	"-32021": {"capability_missing", "The tool needs something of the client that the client has not declared (-32021).",
		"give the client a handler for it (sampling, elicitation or roots), or use another tool"},
	"-32022": {"version_unsupported", "The server does not speak the revision of the request (-32022).",
		"let the client negotiate, or pin it to a revision that the server speaks"},
	"-32042": {"url_needed", "The user has to do something at a URL before the server can answer (-32042).",
		"open the URL that the error has in its data, and call again when that is done"},
	"-1": {"user_rejected", "A user has rejected what was asked (-1).", "ask the user, and do not repeat the request " +
		"without that"},
}

// code judges an answer that is an error.
func code(v *view) *Cause {
	s := v.subject
	if !strings.HasPrefix(s.reason, "-") {
		return nil
	}
	m, defined := codes[s.reason]
	if !defined {
		m = meaning{"server_error", "The server answered with an error of its own, " + name(s.reason) + ".",
			"the server's documentation says what this code means; its words are below, if the spans are there"}
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

// worded tells apart what has one code, by what the error says. A server chooses its error as freely as its words, so
// it can gain nothing by them.
func worded(v *view, evidence []string) *Cause {
	s, text := v.subject, strings.ToLower(v.subject.message)
	switch {
	case s.reason == "-32602" && (strings.HasPrefix(text, "unknown tool") || strings.HasPrefix(text, "tool not found")):
		return meaning{"unknown_tool", "The server does not have the tool " + name(s.target) + " (-32602).",
			"list the tools of the server again: the name is misspelt, or the tool has been taken away"}.cause(Certain,
			evidence...)
	case s.reason == "-32602" && v.far != nil && v.far.target == names.Other && s.target != names.Other:
		return meaning{"unknown_tool", "The server does not know the name " + name(s.target) + " (-32602).",
			"list the tools of the server again: the name is misspelt, or the tool has been taken away"}.cause(Likely,
			evidence...)
	case s.reason == "-32603" && strings.HasPrefix(text, "too many requests"):
		return meaning{"server_busy", "The server has more requests than it handles and lets wait (-32603).",
			"make fewer calls at once, and call again later; on our servers Options.MaxConcurrent and MaxQueued say how many"}.
			cause(Certain, evidence...)
	}
	return nil
}

// toolError judges a result that says that the tool could not do it.
func toolError(v *view) *Cause {
	s := v.subject
	if s.reason != names.ErrorToolError {
		return nil
	}
	m := meaning{"tool_error", "The tool " + name(s.target) + " itself reports that it could not do what it was asked. " +
		"Connection, protocol and server worked.",
		"read the text of the result that the call had: the tool says there what is wrong, often with an argument. " +
			"Telemetry has it only with content capture"}
	evidence := []string{s.ended()}
	if v.far != nil {
		evidence = append(evidence, v.far.ended())
	}
	return m.cause(Certain, evidence...)
}

// toolTimedOut judges a tool whose server ended it: it reports an error when the time of the server's options is over.
func toolTimedOut(v *view) *Cause {
	s, far := v.subject, v.far
	if !s.failed || far == nil || far.peer == nil || far.peer.RequestTimeout == 0 || far.took < far.peer.RequestTimeout ||
		s.reason != names.ErrorToolError && s.reason != "-32603" {
		return nil
	}
	return meaning{"server_timeout", fmt.Sprintf("The server ended the call itself: it allows a request %v.",
		far.peer.RequestTimeout),
		"raise mcpserver.Options.RequestTimeout, or have the tool do less, or make it a task"}.cause(Likely, far.ended(),
		s.ended())
}

// panicked judges an error behind which the server's flight recorder has a panic.
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
				"the server's log has the stack in the record mcp_server.handler.panic; the server goes on"}.
				cause(Certain, s.ended(), "the server recorded: panic in a handler of "+name(e.Method))
		}
	}
	return nil
}

// statuses are those of HTTP, where it answered in the server's place.
var statuses = map[string]meaning{
	"401": {"unauthorized", "The server wants an authorization (HTTP 401).",
		"give the client credentials: HTTP.Authorizer, a header, or mcpotel with --authorize; a token may have expired"},
	"403": {"forbidden", "The server does not let this client in (HTTP 403).",
		"check what the credentials allow, and the server's allowed hosts and origins"},
	"404": {"no_endpoint", "There is no MCP endpoint at this URL, or the session is not known there (HTTP 404).",
		"check the path of the URL: it often ends in /mcp"},
	"405": {"no_endpoint", "This URL does not take POST (HTTP 405), as an MCP endpoint does.",
		"check the path of the URL: it often ends in /mcp"},
	"408": {"http_timeout", "The server, or a proxy before it, did not wait for the whole request (HTTP 408).",
		"look at the network between the two: the request arrived too slowly"},
	"413": {"request_too_large", "The request is larger than the server, or a proxy before it, takes (HTTP 413).",
		"send less, or raise the limit of the proxy or of the server"},
	"429": {"rate_limited", "The server has had more requests than it allows (HTTP 429).", "wait, and make fewer calls"},
	"500": {"http_server_failed", "HTTP answered that the server failed inside (HTTP 500).", "look into the server's log"},
	"502": {"bad_gateway", "A proxy before the server got no usable answer of it (HTTP 502).",
		"look whether the server behind the proxy runs, and at the proxy's log"},
	"503": {"unavailable", "The server takes no requests at the moment (HTTP 503).",
		"wait, and try again; look whether it is being restarted or is overloaded"},
	"504": {"gateway_timeout", "A proxy before the server waited too long for it (HTTP 504).",
		"the server is slower than the proxy allows: raise the proxy's timeout, or make the tool a task"},
}

// statusOf is what a status of HTTP means, if the word is one.
func statusOf(word string) (meaning, bool) {
	if len(word) != 3 || word[0] < '3' || word[0] > '5' {
		return meaning{}, false
	}
	m, known := statuses[word]
	switch {
	case known:
	case word[0] == '3':
		m = meaning{"redirected", "The server sends the client elsewhere (HTTP " + word + "), which is not followed.",
			"use the URL that the redirect leads to; if that is a login page, the server wants an authorization"}
	default:
		m = meaning{"http_refused", "HTTP answered with status " + word + " in the server's place.",
			"look at what stands before the server: a proxy, a gateway, a login"}
	}
	return m, true
}

// status judges a request that HTTP answered in the server's place.
func status(v *view) *Cause {
	if m, ok := statusOf(v.subject.reason); ok && v.subject.failed {
		return m.cause(Certain, v.subject.ended())
	}
	return nil
}

// decided judges what the policy of a proxy has done.
func decided(v *view) *Cause {
	for _, o := range v.all {
		m, known := map[string]meaning{
			names.PolicyDenied: {"policy_denied", "The policy of a proxy does not allow the tool " + name(o.target) + ".",
				"do not call it; the proxy's operator decides (deny and allow of mcpotel proxy)"},
			names.PolicyLimited: {"policy_limited", "The policy of a proxy allows fewer calls of tools than were made.",
				"wait, and make fewer calls; the proxy's operator decides (its rate and concurrency)"},
			names.PolicyTimedOut: {"policy_timed_out", "The policy of a proxy ended the call, because it took too long.",
				"ask for less at once; the proxy's operator decides (its timeouts)"},
		}[o.attribute(names.KeyMCPServerPolicyDecision)]
		if known {
			return m.cause(v.atMost(Certain, o), "the span of "+o.name()+" has "+names.KeyMCPServerPolicyDecision+"="+
				o.attribute(names.KeyMCPServerPolicyDecision))
		}
	}
	return nil
}

// inputMissing judges a call that did not go on after the server had asked for something.
func inputMissing(v *view) *Cause {
	s := v.subject
	if !s.wantsInput() {
		return nil
	}
	for _, o := range v.all {
		if o.side == clientSide && o.kind == kindHandler && o.failed && !o.start.Before(s.start) {
			return meaning{"client_handler_failed", "The server asked the client for something by " + name(o.method) +
				", and the client's handler for it failed, so the call did not go on.",
				"look at the handler of " + name(o.method) + " in the client: the error is in the client's log"}.
				cause(Certain, s.ended(), o.ended())
		}
	}
	if s.round > 0 {
		return meaning{"asked_too_often", fmt.Sprintf("The server asked for input again and again, %d times, and the client "+
			"gave up.", s.round+1), "the server's tool never has enough: look at why; Options.MaxInputRounds allows more"}.
			cause(Likely, s.ended(), fmt.Sprintf("the client brought what was asked for %d times", s.round))
	}
	return meaning{"input_not_given", "The server needs something of the client first, and did not get it.",
		"look for what it asks: the client may have no handler, or the answer did not fit"}.cause(Likely, s.ended())
}

// turnedAway judges a request for which there was no room.
func turnedAway(v *view) *Cause {
	s := v.subject
	if s.reason != names.ErrorTransportBusy {
		return nil
	}
	text := fmt.Sprintf("The server, or the pipe to it, took no more: the request was tried %d times.", s.retries+1)
	c := v.client()
	if s.attribute(names.KeyNetworkProtocolName) == "http" || c != nil && c.Client.Protocol == "http" {
		text = fmt.Sprintf("The server, or a proxy before it, turned the request away %d times, because there are too many "+
			"(HTTP 429, or 503).", s.retries+1)
	}
	return meaning{"turned_away", text, "make fewer calls at once, and wait before the next. If nothing else is under " +
		"way, " +
		"the server does not read, or others use it"}.cause(Certain, s.ended())
}

// again tells of sending more than once.
func again(v *view) *Cause {
	s := v.subject
	if s.retries == 0 || s.reason == names.ErrorTransportBusy {
		return nil
	}
	return meaning{"retried", fmt.Sprintf("The request was sent again %d times, because it was turned away at first.",
		s.retries), "if that is often: make fewer calls at once"}.cause(Certain, s.ended(),
		fmt.Sprintf("the client sent it %d times",
			s.retries+1))
}

// taskFailed judges a call that became a task.
func taskFailed(v *view) *Cause {
	for i := range v.Peers {
		for j := range v.Peers[i].Recent {
			e := &v.Peers[i].Recent[j]
			if e.Kind == kindTask && e.TraceID == v.TraceID && (e.Reason == "failed" || e.Reason == "cancelled") {
				return meaning{"task_" + e.Reason, "The call became a task, which ended as " + e.Reason + ".",
					"ask for the task's result; the server's log has the reason in the record mcp_server.task.end"}.
					cause(Certain, "the "+v.Peers[i].Side()+" recorded: task "+e.Reason+" of "+name(cmp.Or(e.Target, e.Method)))
			}
		}
	}
	return nil
}

// lostNotices tells of notifications that reached no handler meanwhile.
func lostNotices(v *view) *Cause {
	e := v.entry(func(e *telemetry.FlightEntry) bool { return e.Kind == kindLost && e.Reason == names.DropQueueFull })
	if e == nil {
		return nil
	}
	return meaning{"notifications_lost", "Notifications of the server were lost meanwhile: their handlers were too slow.",
		"make the handlers faster, or raise Options.NotificationQueue"}.cause(Certain, v.record(e))
}

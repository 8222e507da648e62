package explain

import "github.com/mcpotel/mcpotel/mcpclient/telemetry/names"

// serverEnds explains the values of error.type that a server records when it ends a request before its handler
// returns.
var serverEnds = map[string]meaning{
	names.ErrorTimeout: {"server_timeout", "The server ended the request itself: it took longer than the server allows.",
		"raise mcpserver.Options.RequestTimeout, make the tool do less, or make it a task"},
	names.ErrorShutdown: {"server_stopped", "The server was stopped while it worked on the request.",
		"call again when the server is back; give Shutdown a longer deadline"},
	names.ErrorConnectionLost: {"client_left", "The client disconnected before the server had answered.",
		"check whether the client was closed, and why it lost the connection"},
	names.ErrorCancelled: {"client_cancelled", "The client cancelled the request before the server had answered.",
		"check the client: its caller cancelled, or its timeout is shorter than the tool's work"},
	names.ErrorOverloaded: {"server_busy", "The server rejected the request: one of its limits was reached.",
		"make fewer concurrent calls, and retry later; mcpserver limits them with Options.Limits"},
	names.ErrorRateLimited: {"rate_limited", "The client exceeded the server's rate limit.",
		"wait, and make fewer calls; mcpserver limits them with Options.Rates"},
}

// endedByServer explains a request by the error.type that the server recorded: in the subject, or in its counterpart if
// the client got an internal error. If the client itself ended the request, the client's reason is more precise.
func endedByServer(v *view) *Cause {
	o := v.subject
	if o.kind == kindRequest && o.failed && v.far != nil && o.reason == "-32603" {
		o = v.far
	}
	m, ok := serverEnds[o.reason]
	if !ok || !o.failed || o.kind != kindHandler || o.side != serverSide {
		return nil
	}
	evidence := []string{o.ended()}
	if o != v.subject {
		evidence = append(evidence, v.subject.ended())
	}
	return m.cause(Certain, evidence...)
}

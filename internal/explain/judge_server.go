package explain

import "github.com/mcpotel/mcpotel/mcpclient/telemetry/names"

// serverEnds are the values of error.type with which a server says who or what ended a request, beside its handler.
var serverEnds = map[string]meaning{
	names.ErrorTimeout: {"server_timeout", "The server ended the request itself: it took longer than the server allows.",
		"raise mcpserver.Options.RequestTimeout, make the tool do less, or make it a task"},
	names.ErrorShutdown: {"server_stopped", "The server was stopped while it worked on the request.",
		"call again when the server is back; give Shutdown more time"},
	names.ErrorConnectionLost: {"client_left", "The client left, or its connection broke, before the server had answered.",
		"look at the client: whether it was stopped, and why it lost the connection"},
	names.ErrorCancelled: {"client_cancelled", "The client cancelled the request before the server had answered.",
		"look at the client: its caller left, or its timeout is shorter than the tool's work"},
	names.ErrorOverloaded: {"server_busy", "The server had no room for the request: one of its limits was reached.",
		"make fewer calls at once, and call again later; on our servers Options.MaxConcurrent and MaxQueued say how many"},
	names.ErrorRateLimited: {"rate_limited", "The client asks more often than the server allows.",
		"wait, and make fewer calls; on our servers Options.Rates says how many"},
}

// endedByServer judges a request by the word of the server that handled it: of the subject, or of its other end if the
// client got an error. A client that itself gave up knows better.
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

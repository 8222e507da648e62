package explain

import (
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// unknownFailure is the cause of an attempt of which too little is known.
const unknownFailure = "cannot_connect"

// failures are how an attempt to connect fails, by our own words in its error, which package messages keeps on one
// page. The first counts.
var failures = []struct {
	words string
	meaning
}{
	{"injected by the plan of faults", injection(names.FaultRefuse)},
	{"executable file not found", meaning{"no_such_command", "The command of the server does not exist on this machine.",
		"install it, or name it with its path"}},
	{"its working directory", meaning{"no_such_directory", "The working directory of the server does not exist.",
		"correct the directory in the configuration"}},
	{"the server cannot be started", meaning{"cannot_start", "The server cannot be started: its command is no program, " +
		"or may not be run.", "check the path of the command, and that it may be executed"}},
	{"written nothing to its standard output", meaning{"server_mute", "The server's process runs and has written " +
		"nothing " +
		"to its standard output.", "it is still starting, waits for something, or is no MCP server; Options.StartTimeout " +
		"gives it longer"}},
	{"messages in a row were like that", meaning{"garbage", "The server prints something else than messages to its " +
		"standard output.", "a log belongs to standard error; check that the command starts an MCP server for stdio"}},
	{"exited with status", meaning{"exits_at_once", "The server's process ends at once.",
		"read its last words, which stand with the error; often an environment variable or an argument is missing"}},
	{"was ended by", meaning{"killed_at_once", "The server's process is killed as soon as it has been started.",
		"look for who kills it: the kernel for lack of memory, a sandbox, a supervisor"}},
	{"connection refused", meaning{"nothing_listens", "Nothing listens at the server's address (connection refused).",
		"start the server, or correct host and port of the URL"}},
	{"no such host", meaning{"no_such_host", "The name of the server's host cannot be resolved.",
		"correct the URL, or look at DNS"}},
	{"speaks plain HTTP there", meaning{"plain_http", "The URL says https, and the server speaks plain HTTP there.",
		"use http:// in the URL, or give the server TLS"}},
	{"failed to verify certificate", meaning{"bad_certificate", "The server's TLS certificate is not trusted, has " +
		"expired, or is for another name.", "correct the certificate, or give the client the authority that signed it"}},
	{"no protocol version in common", meaning{"no_common_version", "Client and server have no protocol revision in " +
		"common.",
		"let the client speak more revisions (Options.Versions, --pin-version), or update one of the two"}},
	{"the server refuses", meaning{"handshake_refused", "The server refuses the handshake with an error.",
		"read the error: often a license, a token or a setting is missing"}},
	{"cannot be used", meaning{"handshake_unreadable", "What the server answers to the handshake breaks the protocol.",
		"this is a mistake of the server: mcpotel doctor says which"}},
	{"no answer of an MCP server", meaning{"not_mcp", "What answers at this URL is no MCP server: it sends something " +
		"else " +
		"than messages, such as a page of HTML.", "check the path of the URL: it often ends in /mcp"}},
	{"does not answer a ping", meaning{"connection_silent", "The server says nothing, and does not answer a ping.",
		"the server hangs, or the network between the two is cut without a word"}},
	{"not ready within", meaning{"handshake_unanswered", "The server did not answer the handshake in time.",
		"the server hangs, or is no MCP server; Options.InitTimeout gives it longer"}},
}

// connecting is why an attempt to connect failed, by its error and error.type.
func connecting(text, word string) *Cause {
	own := ownWords(text)
	if m, ok := statusOf(word); ok {
		return m.cause(Certain)
	}
	if m, ok := statusIn(own); ok && strings.Contains(own, "HTTP ") && !strings.Contains(own,
		"no answer of an MCP server") {
		return m.cause(Certain)
	}
	for _, f := range failures {
		if strings.Contains(own, f.words) {
			return f.cause(Certain)
		}
	}
	switch {
	case word == names.ErrorTimeout:
		return meaning{"handshake_unanswered", "The server did not answer the handshake in time.",
			"the server hangs, or is no MCP server; Options.InitTimeout gives it longer"}.cause(Certain)
	case word == names.ErrorConnectionLost || strings.HasSuffix(own, "EOF"):
		return meaning{"hangs_up", "The server ends the connection before the client is ready.",
			"look into the server's log; a proxy may be in between"}.cause(Certain)
	case word == names.ErrorViolation:
		return meaning{"handshake_unreadable", "What the server answers to the handshake breaks the protocol.",
			"this is a mistake of the server: mcpotel doctor says which"}.cause(Certain)
	}
	return meaning{unknownFailure, "The client cannot connect to its server.",
		"mcpotel doctor examines the server step by step"}.cause(Certain)
}

// statusIn finds the status in "refused: HTTP 404".
func statusIn(own string) (meaning, bool) {
	_, rest, found := strings.Cut(own, "HTTP ")
	if !found || len(rest) < 3 {
		return meaning{}, false
	}
	return statusOf(rest[:3])
}

// attempt judges an attempt to connect that failed.
func attempt(v *view) *Cause {
	s := v.subject
	if s.kind != kindAttempt || !s.failed {
		return nil
	}
	text := s.message
	if c := v.client(); text == "" && c != nil {
		if text = c.Client.GaveUp; text == "" {
			text = c.Client.Err
		}
	}
	cause := connecting(text, s.reason)
	cause.Evidence = append(cause.Evidence, s.ended())
	if e := v.happened(kindExit); e != nil {
		cause.Evidence = append(cause.Evidence, v.record(e))
	}
	return cause
}

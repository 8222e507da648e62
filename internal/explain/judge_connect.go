package explain

import (
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// unknownFailure is the ID of the cause of an attempt that no rule explains.
const unknownFailure = "cannot_connect"

var malformed = meaning{"handshake_unreadable", "The server's answer to the handshake violates the protocol.",
	"this is a bug in the server: mcpotel doctor names the violation"}

// failures explains errors of an attempt to connect by their text. tools/messages lists these texts. The first match
// wins.
var failures = []struct {
	words string
	meaning
}{
	{"injected by the plan of faults", injection(names.FaultRefuse)},
	{"executable file not found", meaning{"no_such_command", "The command of the server does not exist on this machine.",
		"install it, or give its path"}},
	{"its working directory", meaning{"no_such_directory", "The working directory of the server does not exist.",
		"correct the directory in the configuration"}},
	{"the server cannot be started", meaning{"cannot_start", "The server cannot be started: its command is not a " +
		"program, " +
		"or it is not executable.", "check the path of the command and its execute permission"}},
	{"written nothing to its standard output", meaning{"server_mute", "The server's process runs, but has written " +
		"nothing to its " +
		"standard output.", "it is still starting, waits for something, or is not an MCP server; raise the limit with " +
		"Options.Timeouts.Start"}},
	{"consecutive messages were invalid", meaning{"garbage", "The server writes text that is not MCP to its standard " +
		"output.",
		"write logs to standard error; check that the command starts an MCP server for stdio"}},
	{"exited with status", meaning{"exits_at_once", "The server's process exits immediately.",
		"read its last output in the error; often an environment variable or an argument is missing"}},
	{"was ended by", meaning{"killed_at_once", "The server's process is killed immediately after its start.",
		"find out what kills it: the kernel (out of memory), a sandbox, a supervisor"}},
	{"connection refused", meaning{"nothing_listens", "Nothing listens at the server's address (connection refused).",
		"start the server, or correct host and port of the URL"}},
	{"no such host", meaning{"no_such_host", "The name of the server's host cannot be resolved.",
		"correct the URL, or check DNS"}},
	{"speaks plain HTTP there", meaning{"plain_http", "The URL has https, but the server speaks plain HTTP at this " +
		"address.",
		"use http:// in the URL, or enable TLS on the server"}},
	{"failed to verify certificate", meaning{"bad_certificate", "The server's TLS certificate is not trusted, has " +
		"expired, or is for another name.", "correct the certificate, or give the client the authority that signed it"}},
	{"no protocol version in common", meaning{"no_common_version", "Client and server have no protocol revision in " +
		"common.",
		"allow the client more revisions (Options.Versions, --pin-version), or update the client or the server"}},
	{"the server rejected", meaning{"handshake_refused", "The server rejects the handshake with an error.",
		"read the error: often a license, a token or a setting is missing"}},
	{"an invalid message", malformed},
	{" is invalid: ", malformed},
	{"not an answer of an MCP server", meaning{"not_mcp",
		"There is no MCP server at this URL: it returns other content, such as an HTML page.",
		"check the path of the URL: it often ends in /mcp"}},
	{"does not answer a ping", meaning{"connection_silent", "The server sends nothing, and does not answer pings.",
		"the server hangs, or the network drops packets without an error"}},
	{"not ready within", meaning{"handshake_unanswered", "The server did not answer the handshake in time.",
		"the server hangs, or is not an MCP server; raise the limit with Options.Timeouts.Init"}},
}

// connecting returns the cause of a failed attempt to connect, from its error text and its error.type.
func connecting(text, word string) *Cause {
	own := ownWords(text)
	if m, ok := statusOf(word); ok {
		return m.cause(Certain)
	}
	if m, ok := statusIn(own); ok && strings.Contains(own, "HTTP ") && !strings.Contains(own,
		"not an answer of an MCP server") {
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
			"the server hangs, or is not an MCP server; raise the limit with Options.Timeouts.Init"}.cause(Certain)
	case word == names.ErrorConnectionLost || strings.HasSuffix(own, "EOF"):
		return meaning{"hangs_up", "The server ends the connection during the handshake.",
			"read the server's log; a proxy may be between client and server"}.cause(Certain)
	case word == names.ErrorViolation:
		return malformed.cause(Certain)
	}
	return meaning{unknownFailure, "The client cannot connect to its server.",
		"run mcpotel doctor, which checks the server step by step"}.cause(Certain)
}

// statusIn finds the status in a text such as "refused: HTTP 404".
func statusIn(own string) (meaning, bool) {
	_, rest, found := strings.Cut(own, "HTTP ")
	if !found || len(rest) < 3 {
		return meaning{}, false
	}
	return statusOf(rest[:3])
}

// attempt explains a failed attempt to connect.
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

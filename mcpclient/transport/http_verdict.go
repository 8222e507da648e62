package transport

import (
	"net/http"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/waits"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

// What the failure of a request means is decided here and nowhere else: for messages and for streams, in both eras, in
// both of the protocol's HTTP transports. A proxy may answer 5xx after the server has done its work, so a status alone
// proves nothing. The request has had no effect only where that is said: see verdictOf.

// phase is how far a request got.
type phase uint8

const (
	unconnected phase = iota // no connection could be made
	unwritten                // part of it never left
	turnedAway               // the server says that it has not looked at it (RFC 9113, section 8.7)
	written                  // the server may have all of it, and nothing came back
	refused                  // a status came back that is not 2xx
)

// addressee is what a request was for.
type addressee uint8

const (
	theServer    addressee = iota
	theSession             // it had a session id
	theServed              // likewise, and another request with that id and the same credentials has been answered
	theOldServer           // it was for the endpoint that a server of HTTP+SSE has given
)

// said is what a response that refuses a request says about it.
type said struct {
	status    int
	wait      bool // it says when to come back: a Retry-After that can be read
	challenge bool // it says what it wants first: WWW-Authenticate
	failure   bool // its body is a JSON-RPC error, so it comes from an MCP server and not from what is in front of it
	silent    bool // it has no body
	unknown   bool // its body does not speak against the session, or the endpoint, being unknown; see unknownTo
}

// verdictOf returns why a request failed, and whether it is certain that it had no effect. said counts only if it was
// refused.
//
// These have had none: what did not leave, what HTTP/2 turned away, 401, 429, a 403 with a challenge or a JSON-RPC
// error, a 503 with Retry-After or a JSON-RPC error, and what was for a session or an endpoint that the server does not
// know. Everything else may have had its effect: 502 and 504, 408 and 425, a connection that was cut, and each status
// that is not listed. (RFC 9110, sections 9.2.2 and 15; specification 2025-11-25, basic/transports, "Session
// Management")
//
// A 401 without a challenge and without a body says that the server does not know the session, if the server has
// answered another request of that session.
func verdictOf(p phase, to addressee, s said) (why RequestReason, unsent bool) {
	switch p {
	case unconnected:
		return Unreachable, true
	case unwritten:
		return Lost, true
	case turnedAway:
		return Busy, true
	case written:
		return Lost, false
	}
	switch s.status {
	case http.StatusUnauthorized:
		if !s.challenge && (s.unknown && (to == theSession || to == theServed) || s.silent && to == theServed) {
			return SessionGone, true
		}
		return Unauthorized, true
	case http.StatusForbidden:
		return Unauthorized, s.challenge || s.failure
	case http.StatusTooManyRequests:
		return Busy, true
	case http.StatusServiceUnavailable:
		return Busy, s.wait || s.failure
	case http.StatusNotFound, http.StatusBadRequest:
		switch {
		case s.unknown && (to == theSession || to == theServed):
			return SessionGone, true
		case s.unknown && to == theOldServer && s.status == http.StatusNotFound:
			return Lost, true
		}
	}
	return Status, false
}

// Repeatable reports whether a client may send the request again by itself, some time later: the server was busy, and
// either says that it has not acted on the request or may act on it twice, which is what harmless says.
func (e *RequestError) Repeatable(harmless bool) bool {
	return e.Reason == Busy && (e.Unsent || harmless)
}

// saidBy returns what a response says that refuses a request.
func saidBy(resp *http.Response, body []byte) (s said, wait time.Duration) {
	wait, s.wait = waits.RetryAfter(resp.Header.Get("Retry-After"), time.Now())
	s.status = resp.StatusCode
	s.silent = len(body) == 0
	s.challenge = resp.Header.Get("WWW-Authenticate") != ""
	m, err := jsonrpc.Parse(body)
	s.failure = err == nil && m.Kind == jsonrpc.Error
	s.unknown = unknownTo(resp.StatusCode, &m, s.failure, body)
	return s, wait
}

// unknownTo reports whether the refusal of a request with a session id means that the server does not know the session:
// 404, as the specification wants it, unless that is a modern server's word for a method it does not have; 400 with one
// of the texts of known servers; or 401 with a text about the session, as servers built on rmcp before 1.0 answer.
func unknownTo(status int, m *jsonrpc.Message, failure bool, body []byte) bool {
	var code int64
	text := string(body[:min(len(body), excerptOf)])
	if failure {
		e, _ := m.Failure() // what could be read is returned even so
		code, text = e.Code, e.Message
	}
	switch status {
	case http.StatusNotFound:
		return code != methodNotFound
	case http.StatusBadRequest:
		return saysUnknownSession(strings.ToLower(text), failure && m.ID.IsZero())
	case http.StatusUnauthorized:
		return strings.Contains(strings.ToLower(text), "session")
	}
	return false
}

// Texts, in lower case, with which servers answer 400 to a session that they do not know.
var (
	// of errors for no request, of servers built on the SDK for TypeScript and its examples. What follows differs.
	unknownSessionErrors = []string{
		"bad request: no valid session id", "bad request: server not initialized", "bad request: invalid or expired session",
	}
	// of bodies that are no JSON-RPC, of servers built on mcp-go before 2026
	unknownSessionText = "invalid session id"
)

// saysUnknownSession reports whether text is one of these; general says that it is that of a JSON-RPC error for no
// request.
func saysUnknownSession(text string, general bool) bool {
	if !general {
		return strings.TrimSpace(text) == unknownSessionText
	}
	for _, known := range unknownSessionErrors {
		if strings.HasPrefix(text, known) {
			return true
		}
	}
	return false
}

// Beginnings of what net/http says of a request whose body it could not send again. It marks these errors in no other
// way; those it words differently some day are taken for a lost connection.
const (
	notRepeated   = "http2: Transport: cannot retry err ["
	graceful      = "http2: Transport received Server's graceful shutdown GOAWAY]"
	streamError   = "stream error: stream ID "
	refusedStream = " REFUSED_STREAM; received from peer]"
)

// isTurnedAway reports whether err is the server's word that it has not looked at the request: REFUSED_STREAM, or a
// GOAWAY that leaves it out. (RFC 9113, section 8.7)
func isTurnedAway(err error) bool {
	text, ok := strings.CutPrefix(err.Error(), notRepeated)
	if !ok || strings.HasPrefix(text, graceful) {
		return ok
	}
	text, ok = strings.CutPrefix(text, streamError)
	_, text, _ = strings.Cut(text, ";")
	return ok && strings.HasPrefix(text, refusedStream)
}

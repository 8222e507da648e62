package transport

import (
	"net/http"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/waits"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

// This file alone decides the meaning of a failed request: for messages and for streams, in both eras, in both
// HTTP transports of the protocol. A proxy may answer 5xx after the server has done its work, so a status alone
// proves nothing. verdictOf lists the cases in which the request certainly had no effect.

// phase is the progress of a request.
type phase uint8

const (
	unconnected phase = iota // no connection could be made
	unwritten                // a part of the request was never sent
	turnedAway               // the server rejected the request without processing it (RFC 9113, section 8.7)
	written                  // the server may have the whole request, and sent no response
	refused                  // the status of the response is not 2xx
)

// addressee is the target of a request.
type addressee uint8

const (
	theServer    addressee = iota
	theSession             // the request had a session id
	theServed              // the server had answered an earlier request of this session with the same credentials
	theOldServer           // the request was for the endpoint of a server of HTTP+SSE
)

// evidence is the evidence in a response that refuses a request.
type evidence struct {
	status    int
	wait      bool // the response has a valid Retry-After
	challenge bool // the response has WWW-Authenticate
	failure   bool // the body is a JSON-RPC error, so the response comes from an MCP server and not from a proxy
	silent    bool // the response has no body
	unknown   bool // the response may mean that the session or the endpoint is unknown; see unknownTo
}

// verdictOf returns why a request failed, and whether it certainly had no effect. verdictOf uses s only if p is
// refused.
//
// A request has had no effect if it was not sent; if HTTP/2 rejected it unread; if the status is 401, 429, 403 with a
// challenge or a JSON-RPC error, or 503 with Retry-After or a JSON-RPC error; or if it was for an unknown session or
// endpoint. Any other request may have had its effect, also one that failed with 502, 504, 408, 425 or a broken
// connection.
// (RFC 9110, sections 9.2.2 and 15; specification 2025-11-25, basic/transports, "Session Management")
//
// A 401 without a challenge and without a body means that the server does not know the session, if the server has
// answered another request of that session.
func verdictOf(p phase, to addressee, s evidence) (why RequestReason, unsent bool) {
	switch p {
	case unconnected:
		return ReasonUnreachable, true
	case unwritten:
		return ReasonLost, true
	case turnedAway:
		return ReasonBusy, true
	case written:
		return ReasonLost, false
	}
	switch s.status {
	case http.StatusUnauthorized:
		if !s.challenge && (s.unknown && (to == theSession || to == theServed) || s.silent && to == theServed) {
			return ReasonSessionGone, true
		}
		return ReasonUnauthorized, true
	case http.StatusForbidden:
		return ReasonUnauthorized, s.challenge || s.failure
	case http.StatusTooManyRequests:
		return ReasonBusy, true
	case http.StatusServiceUnavailable:
		return ReasonBusy, s.wait || s.failure
	case http.StatusNotFound, http.StatusBadRequest:
		switch {
		case s.unknown && (to == theSession || to == theServed):
			return ReasonSessionGone, true
		case s.unknown && to == theOldServer && s.status == http.StatusNotFound:
			return ReasonLost, true
		}
	}
	return ReasonStatus, false
}

// Repeatable reports whether a client may retry the request later by itself. It may if the server was busy, and either
// has not acted on the request, or may act on it twice without harm (harmless).
func (e *RequestError) Repeatable(harmless bool) bool {
	return e.Reason == ReasonBusy && (e.Unsent || harmless)
}

// evidenceOf extracts the evidence from a response that refuses a request, and the delay of its Retry-After.
func evidenceOf(resp *http.Response, body []byte) (s evidence, wait time.Duration) {
	wait, s.wait = waits.RetryAfter(resp.Header.Get("Retry-After"), time.Now())
	s.status = resp.StatusCode
	s.silent = len(body) == 0
	s.challenge = resp.Header.Get("WWW-Authenticate") != ""
	m, err := jsonrpc.Parse(body)
	s.failure = err == nil && m.Kind == jsonrpc.Error
	s.unknown = unknownTo(resp.StatusCode, &m, s.failure, body)
	return s, wait
}

// unknownTo reports whether the refusal of a request with a session id means that the server does not know the session.
// These refusals do: 404, as the specification requires, unless a modern server reports an unknown method with it; 400
// with a text of a known server; and 401 with a text about the session, which servers built on rmcp before 1.0 send.
func unknownTo(status int, m *jsonrpc.Message, failure bool, body []byte) bool {
	var code int64
	text := string(body[:min(len(body), excerptOf)])
	if failure {
		e, _ := m.Failure() // a partly valid error is used too
		code, text = e.Code, e.Message
	}
	switch status {
	case http.StatusNotFound:
		return code != methodNotFound
	case http.StatusBadRequest:
		return isUnknownSession(strings.ToLower(text), failure && m.ID.IsZero())
	case http.StatusUnauthorized:
		return strings.Contains(strings.ToLower(text), "session")
	}
	return false
}

// Texts, in lower case, with which servers answer 400 for an unknown session.
var (
	// JSON-RPC errors without an id, from servers built on the SDK for TypeScript and its examples. The rest of
	// the text varies.
	unknownSessionErrors = []string{
		"bad request: no valid session id", "bad request: server not initialized", "bad request: invalid or expired session",
	}
	// bodies without JSON-RPC, from servers built on mcp-go before 2026
	unknownSessionText = "invalid session id"
)

// isUnknownSession reports whether text, the text of a 400, means an unknown session. general is true if text is the
// message of a JSON-RPC error without an id.
func isUnknownSession(text string, general bool) bool {
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

// Prefixes of net/http's errors for a request whose body could not be sent again. net/http marks these errors in
// no other way. If it changes the text, such errors count as a lost connection.
const (
	notRepeated   = "http2: Transport: cannot retry err ["
	graceful      = "http2: Transport received Server's graceful shutdown GOAWAY]"
	streamError   = "stream error: stream ID "
	refusedStream = " REFUSED_STREAM; received from peer]"
)

// isTurnedAway reports whether err means that the server rejected the request without processing it:
// REFUSED_STREAM, or a GOAWAY that excludes the request. (RFC 9113, section 8.7)
func isTurnedAway(err error) bool {
	text, ok := strings.CutPrefix(err.Error(), notRepeated)
	if !ok || strings.HasPrefix(text, graceful) {
		return ok
	}
	text, ok = strings.CutPrefix(text, streamError)
	_, text, _ = strings.Cut(text, ";")
	return ok && strings.HasPrefix(text, refusedStream)
}

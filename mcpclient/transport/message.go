package transport

import (
	"errors"
	"fmt"
	"time"
)

// Kind tells what a message is to the one who sends it.
type Kind uint8

// The kinds of messages a client sends.
const (
	Request      Kind = iota + 1 // has an id and gets an answer
	Notification                 // has no id and gets none
	Response                     // answers a request of the server, with a result or an error
)

// String returns the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Request:
		return "request"
	case Notification:
		return "notification"
	case Response:
		return "response"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Message is a frame to send, and what a transport must know about it without parsing it.
type Message struct {
	Data []byte // one JSON-RPC message: no newline outside or inside
	Kind Kind
	ID   int64 // of a Request

	// What HTTP repeats in its headers. (specification 2026-07-28, basic/transports/streamable-http, "Standard Request
	// Headers") Other transports ignore it.
	Method          string            // Mcp-Method
	Name            string            // Mcp-Name: the tool, the prompt, the resource
	ProtocolVersion string            // MCP-Protocol-Version
	Header          map[string]string // Mcp-Param-…: header name to value, not yet encoded

	// The trace context that Data has in its _meta, for the HTTP headers of the same names.
	Traceparent, Tracestate, Baggage string

	// Propagated are the keys of other propagators than the W3C's that Data has in its _meta, such as b3, with their
	// values, for HTTP headers of the same names; nil for none. A transport must not change it.
	Propagated map[string]string
}

// Frame is what one Receive returns: Data, or Err instead of it.
type Frame struct {
	Data    []byte        // one frame, without its framing; it has no other owner
	Request int64         // the request whose own stream carried the frame, 0 for one that came on a shared stream
	Err     *RequestError // one request has failed and the connection has not
}

// RequestReason says why a request has failed without an answer.
type RequestReason uint8

// The reasons. HTTP has all of them, the others only the first.
const (
	TooLarge     RequestReason = iota + 1 // the answer is over the limit and was skipped
	Busy                                  // the server has no room for it now: HTTP 429 or 503, or HTTP/2 turned it away
	SessionGone                           // the server does not know the session any more: HTTP 404
	Unauthorized                          // HTTP 401 or 403, and no way to authorize
	Status                                // another HTTP status, without a JSON-RPC answer
	Unreachable                           // no connection could be made
	Lost                                  // the connection or the stream ended before the answer
	Malformed                             // what came is no answer
)

var requestReasons = [...]string{
	TooLarge: "too large", Busy: "the server is busy", SessionGone: "the server does not know the session any more",
	Unauthorized: "not authorized", Status: "refused", Unreachable: "server unreachable", Lost: "connection lost",
	Malformed: "no answer of an MCP server",
}

// String returns the reason in words.
func (r RequestReason) String() string {
	if int(r) < len(requestReasons) && requestReasons[r] != "" {
		return requestReasons[r]
	}
	return fmt.Sprintf("RequestReason(%d)", uint8(r))
}

// RequestError says that one request will get no answer while the connection goes on. Which request that is stands in
// [Frame.Request], or, if that is 0, has to be read out of Head and Tail.
type RequestError struct {
	Reason RequestReason
	// the server has not acted on the request: it never got all of it, or it was said that it was refused unread
	Unsent bool

	// Of an HTTP response:
	Status     int           // its status, 0 if there was none
	RetryAfter time.Duration // how long the server asks to wait, 10 min at most, 0 if it does not say

	// Of a frame that was TooLarge:
	Size  int    // in bytes
	Limit int    // the one it exceeds
	Head  []byte // its beginning, as much as was kept
	Tail  []byte // its end, as much as was kept

	Err error // the cause, if there is one

	challenge bool // the response says which authorization the server wants
	found     bool // the URL is that of an MCP server: a handshake has been answered there
}

// Error says why the request gets no answer.
func (e *RequestError) Error() string {
	text := e.Reason.String()
	switch {
	case e.Reason == TooLarge:
		text = fmt.Sprintf("the answer has %d bytes, over the limit of %d; Options.FrameLimit raises it", e.Size, e.Limit)
	case e.Reason == Unreachable && e.Err != nil:
		return e.Err.Error()
	case e.Status != 0:
		text = fmt.Sprintf("%s: HTTP %d", text, e.Status)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text + e.advice()
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Err }

// Permanent reports whether another attempt will fail the same way, in the sense of [Permanent]: the server wants an
// authorization that cannot be had.
func (e *RequestError) Permanent() bool {
	if e.Reason != Unauthorized {
		return false
	}
	if judge, ok := errors.AsType[interface {
		error
		Permanent() bool
	}](e.Err); ok {
		return judge.Permanent()
	}
	return true
}

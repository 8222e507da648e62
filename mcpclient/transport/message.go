package transport

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the kind of an outgoing message.
type Kind uint8

// The kinds of outgoing messages.
const (
	KindRequest      Kind = iota + 1 // has an id and gets an answer
	KindNotification                 // has no id and gets no answer
	KindResponse                     // answers a request of the server, with a result or an error
)

// String returns the kind in lower case.
func (k Kind) String() string {
	switch k {
	case KindRequest:
		return "request"
	case KindNotification:
		return "notification"
	case KindResponse:
		return "response"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Message is an outgoing frame, with the facts that a transport needs about it.
type Message struct {
	Data []byte // one JSON-RPC message, without any newline
	Kind Kind
	ID   int64 // the id of a request; not used for the other kinds

	// Fields that HTTP repeats in its headers; other transports ignore them.
	// (specification 2026-07-28, basic/transports/streamable-http, "Standard Request Headers")
	Method          string            // Mcp-Method
	Name            string            // Mcp-Name: the tool, the prompt, the resource
	ProtocolVersion string            // MCP-Protocol-Version
	Header          map[string]string // Mcp-Param-…: header name to value, not yet encoded

	// The trace context in the _meta of Data, for the HTTP headers of the same names.
	Traceparent, Tracestate, Baggage string

	// Propagated holds the _meta keys of propagators other than the W3C's, such as b3, with their values, for HTTP
	// headers of the same names; nil for none. A transport must not modify it.
	Propagated map[string]string
}

// Frame is the result of Receive: either Data or Err is set.
type Frame struct {
	Data    []byte        // one frame, without its framing; the receiver owns it
	Request int64         // the request that owns the stream of this frame, 0 for a shared stream
	Err     *RequestError // one request has failed, but the connection works
}

// RequestReason classifies the failure of a request that gets no answer.
type RequestReason uint8

// The reasons. HTTP uses all of them, the other transports only ReasonTooLarge.
const (
	ReasonTooLarge     RequestReason = iota + 1 // the answer is above the limit and was skipped
	ReasonBusy                                  // overloaded server: HTTP 429 or 503, or an HTTP/2 request rejected unread
	ReasonSessionGone                           // the server no longer knows the session, mostly HTTP 404
	ReasonUnauthorized                          // HTTP 401 or 403, and no authorization is available
	ReasonStatus                                // another HTTP status, without a JSON-RPC answer
	ReasonUnreachable                           // no connection could be made
	ReasonLost                                  // the connection or the stream ended before the answer
	ReasonMalformed                             // the response is not a valid answer
)

var requestReasons = [...]string{
	ReasonTooLarge: "too large", ReasonBusy: "the server is busy",
	ReasonSessionGone:  "the server no longer knows the session",
	ReasonUnauthorized: "not authorized", ReasonStatus: "refused", ReasonUnreachable: "server unreachable",
	ReasonLost:      "connection lost",
	ReasonMalformed: "not an answer of an MCP server",
}

// String returns a short text for the reason.
func (r RequestReason) String() string {
	if int(r) < len(requestReasons) && requestReasons[r] != "" {
		return requestReasons[r]
	}
	return fmt.Sprintf("RequestReason(%d)", uint8(r))
}

// RequestError reports that one request will get no answer while the connection stays open. [Frame.Request] names
// the request; if it is 0, the request can only be identified from Head and Tail.
type RequestError struct {
	Reason RequestReason
	// Unsent means that the request never fully reached the server, or that the server rejected it without
	// processing it.
	Unsent bool

	// For a failed HTTP request:
	Status     int           // status of the response, 0 if there was none
	RetryAfter time.Duration // delay that the server asks for, at most 10 min, 0 if unset

	// For ReasonTooLarge:
	Size  int    // in bytes
	Limit int    // the limit, in bytes
	Head  []byte // the beginning of the frame; may be shortened
	Tail  []byte // the end of the frame; may be shortened

	Err error // the cause, nil if unknown

	challenge bool // the response has a challenge: it names the authorization that the server wants
	found     bool // an MCP server was found at this URL: a handshake was answered there
}

// Error describes the failure.
func (e *RequestError) Error() string {
	text := e.Reason.String()
	switch {
	case e.Reason == ReasonTooLarge:
		text = fmt.Sprintf("the answer has %d bytes, over the limit of %d; raise it with Options.Limits.Frame",
			e.Size, e.Limit)
	case e.Reason == ReasonUnreachable && e.Err != nil:
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

// Permanent reports whether another attempt will fail the same way, in the sense of [Permanent]: the server
// demands an authorization that is not available.
func (e *RequestError) Permanent() bool {
	if e.Reason != ReasonUnauthorized {
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

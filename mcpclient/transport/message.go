package transport

import "fmt"

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

	// What HTTP repeats in its headers. (specification 2026-07-28, basic/transports/streamable-http, "Standard Request Headers")
	// Other transports ignore it.
	Method          string            // Mcp-Method
	Name            string            // Mcp-Name: the tool, the prompt, the resource
	ProtocolVersion string            // MCP-Protocol-Version
	Header          map[string]string // Mcp-Param-…: header name to value, not yet encoded
}

// Frame is what one Receive returns: Data, or Err instead of it.
type Frame struct {
	Data    []byte        // one frame, without its framing; nobody else refers to it
	Request int64         // the request whose own stream carried the frame, 0 for one that came on a shared stream
	Err     *RequestError // one request has failed and the connection has not
}

// RequestReason says why a request has failed without an answer.
type RequestReason uint8

// TooLarge is the reason of a frame over the limit that was skipped.
const TooLarge RequestReason = 1

// String returns the reason in lower case.
func (r RequestReason) String() string {
	if r == TooLarge {
		return "too large"
	}
	return fmt.Sprintf("RequestReason(%d)", uint8(r))
}

// RequestError says that one request will get no answer while the connection goes on. Which request that is stands in
// [Frame.Request], or has to be read out of Head and Tail.
type RequestError struct {
	Reason RequestReason

	// Of a frame that was TooLarge:
	Size  int    // in bytes
	Limit int    // the one it exceeds
	Head  []byte // its beginning, as much as was kept
	Tail  []byte // its end, as much as was kept

	Err error // the cause, if there is one
}

func (e *RequestError) Error() string {
	text := "no answer: " + e.Reason.String()
	if e.Reason == TooLarge {
		text = fmt.Sprintf("no answer: frame of %d bytes skipped, the limit is %d", e.Size, e.Limit)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Err }

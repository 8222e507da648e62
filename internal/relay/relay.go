// Package relay connects the two ends of a relay, packages downstream and upstream, for package mcpproxy: it passes
// messages from one peer to the other. Messages are passed on unchanged. They are checked as JSON and as JSON-RPC, but
// not against a revision, a schema or the rules for names. Each end handles its own ids, the trace context in _meta,
// and its connection.
//
// The messages of a peer leave in the order in which they arrive, in both directions: an end passes its messages to
// its [Receiver] one at a time, in the goroutine that reads, and [Peer] sends them in the order of its calls. So if a
// peer does not read, the relay stops reading from the other one, as on a direct connection. Modern clients over HTTP
// share one peer: their messages wait in a queue for each request, so that a slow client delays no other.
package relay

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// Message is a request or a notification.
type Message struct {
	// ID is the id of a request as its sender wrote it; notifications about a subscription contain it. The relay sends
	// the request with another id. ID is valid during the call that passes the message.
	ID     json.RawMessage
	Method string
	Params json.RawMessage // a JSON object in one line, or nil; valid during the call that passes the message

	// Header has the decoded headers Mcp-Param-… of a request, by name. It is nil for a peer that mirrors no params in
	// headers; a client that must mirror params then determines them itself.
	Header map[string]string
}

// Size returns the memory of a waiting message, in bytes.
func (m *Message) Size() int {
	n := len(m.Params)
	for name, value := range m.Header {
		n += len(name) + len(value)
	}
	return n
}

// Answer receives the outcome of a request: the result as the peer wrote it, in one line, or an error. An error
// response of the peer is an [*Error]. Answer is called once, from any goroutine, possibly before Request returns. The
// result of a client is valid until Answer returns; the result of a server may be kept. Answer may block while the
// requesting peer does not read, unless that peer is shared.
type Answer func(result json.RawMessage, err error)

// Peer sends messages to a client or a server. It is safe for concurrent use.
type Peer interface {
	// Request sends a request. It returns when the transport has accepted the request; if that fails, answer gets the
	// error. When ctx ends before the response, Request cancels the request at the peer, and answer gets the cause of
	// ctx. The span in ctx is the parent.
	Request(ctx context.Context, m Message, answer Answer)
	// Notify sends a notification. It returns when the transport has accepted the notification.
	Notify(ctx context.Context, m Message) error
}

// Ender is a Peer for a client of the server. It can end the client's connection or session.
type Ender interface {
	Peer
	// Shared reports whether the Peer stands for any number of clients without sessions. Then End has no effect, and
	// requests arrive concurrently.
	Shared() bool
	// End ends the connection or session for a reason, and does not wait. The Receiver gets a call of Gone.
	End(reason error)
}

// Receiver receives the messages of a peer. ReceiveRequest and ReceiveNotification are called by the goroutine that
// reads, one message at a time; it reads no more from the peer before they return. from sends messages back to the
// peer. If a request has a stream, messages that are sent with the context of the request use that stream.
type Receiver interface {
	// ReceiveRequest receives a request of any method, except a ping before there is a session, which a server answers
	// itself. ctx ends after the answer, when the peer cancels the request (the cause has its reason), or when the peer
	// is gone. An [*Error] is sent back unchanged, an [*mcp.Error] with its code, and any other error as -32603 with its
	// text.
	ReceiveRequest(ctx context.Context, m Message, from Peer, answer Answer)
	// ReceiveNotification receives a notification of any method except notifications/cancelled.
	ReceiveNotification(ctx context.Context, m Message, from Peer)
	// Gone reports that the peer is gone. It is called after all messages of the peer.
	Gone(from Peer)
}

// Error is an error response of a peer.
type Error struct {
	Object json.RawMessage // the error object in one line, as received
	Server *mcp.Error      // the decoded error, as far as it can be decoded
}

func (e *Error) Error() string { return e.Server.Error() }
func (e *Error) Unwrap() error { return e.Server }

// Cancelled is the error of a request that the receiving peer has cancelled itself: there is no response.
type Cancelled struct{ Reason string } // empty if the peer gave no reason

func (e *Cancelled) Error() string { return "the server cancelled the request: " + e.Reason }

// Causes of the contexts of requests: the server stops, or the client has left.
var (
	ErrStopping = &mcp.Error{Code: mcp.CodeInternalError, Message: "the server is shutting down"}
	ErrLeft     = errors.New("the client has disconnected")
)

// ErrUnread answers a request whose answer was dropped.
var ErrUnread = &mcp.Error{
	Code:    mcp.CodeInternalError,
	Message: "the answer was dropped, because too many answers are waiting for clients that do not read",
}

// ReasonOf returns the reason why ctx ended, for a cancellation message. It is empty if ctx has no cause of its own.
func ReasonOf(ctx context.Context) string {
	if why := context.Cause(ctx); why != ctx.Err() {
		return why.Error()
	}
	return ""
}

// Introduction is the first request on a connection to a server: initialize or server/discover.
type Introduction struct {
	Message
	// Confirmed means that the peer in front has sent notifications/initialized. If a new session replaces an earlier
	// one, the client then sends the notification itself. Otherwise [Peer.Notify] sends it.
	Confirmed bool
}

// Client configures a client that only passes messages on.
type Client struct {
	// Context has the span that is the parent of the first connection attempt. Its end has no effect.
	Context context.Context
	// Receiver receives the messages of the server.
	Receiver Receiver
	// Introduce returns the first request. It is called for each connection.
	Introduce func() Introduction
	// Introduced receives the server's answer to the first request of each connection. An error ends the client for good.
	// If the client ends before there was an answer, Introduced gets the reason: the client does not retry its first
	// connection.
	Introduced func(result json.RawMessage, err error) error
	// Shared reports whether several peers without sessions are in front. They must not get each other's messages.
	Shared bool
	// Patience bounds the wait of Request and Notify for a session. Zero means 30 s.
	Patience time.Duration
}

// Server is a connection to a server. A lost connection is replaced by a new one.
type Server interface {
	Peer
	// Ready reports whether there is a session. Without one, Request and Notify wait until there is one or ctx ends.
	Ready() bool
	// Stop closes the connection and waits for everything that it has started.
	Stop(ctx context.Context) error
}

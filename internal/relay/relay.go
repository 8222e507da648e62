// Package relay connects the two sides of a relay, packages downstream and upstream, for package mcpproxy: it passes
// messages from one peer to the other. The messages stay unchanged. The relay validates them as JSON and as JSON-RPC,
// but not against a revision, a schema or the rules for names. Each side has its own ids, trace context in _meta and
// connection.
//
// The relay keeps the order of a peer's messages, in both directions. A side passes messages to its [Receiver] one at a
// time, in the goroutine that reads, and a [Peer] sends messages in the order of the calls of its methods. So if a peer
// does not read, the relay stops reading from the other peer, as on a direct connection. Modern clients over HTTP share
// one peer: their messages wait in a queue for each request, so that a slow client delays no other client.
package relay

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/health"
	"github.com/mcpotel/mcpotel/mcp"
)

// Message is a request or a notification.
type Message struct {
	// ID is the id of a request as its sender wrote it, because notifications about a subscription contain this id. The
	// relay sends the request with another id. ID is valid during the call that passes the message.
	ID     json.RawMessage
	Method string
	Params json.RawMessage // a JSON object in one line, or nil; valid during the call that passes the message

	// Header holds the decoded headers Mcp-Param-… of a request, by name. It is nil for a peer that mirrors no params in
	// headers. A client that must mirror params then derives the headers from the params.
	Header map[string]string
}

// Size returns the memory in bytes that the message needs while it waits.
func (m *Message) Size() int {
	n := len(m.Params)
	for name, value := range m.Header {
		n += len(name) + len(value)
	}
	return n
}

// Answer receives the outcome of a request: the result as the peer wrote it, in one line, or an error. An error
// response of the peer is an [*Error]. Answer is called once, from any goroutine, possibly before Request returns. The
// result of a client is valid until Answer returns. The result of a server stays valid. Answer may block while the
// requesting peer does not read, unless several clients share that peer.
type Answer func(result json.RawMessage, err error)

// Peer sends messages to a client or a server. It is safe for concurrent use.
type Peer interface {
	// Request sends a request. It returns when the transport has accepted the request. If sending fails, answer gets the
	// error. If ctx ends before the response, Request cancels the request at the peer, and answer gets the cause of ctx.
	// The span in ctx is the parent of the request's span.
	Request(ctx context.Context, m Message, answer Answer)
	// Notify sends a notification. It returns when the transport has accepted the notification.
	Notify(ctx context.Context, m Message) error
}

// Ender is a Peer that stands for a client of the server. It can end the connection or session of the client.
type Ender interface {
	Peer
	// Shared reports whether the Peer stands for any number of clients without sessions. If it does, End has no effect and
	// requests arrive concurrently.
	Shared() bool
	// End ends the connection or session for a reason, without waiting. The Receiver then gets a call of Gone.
	End(reason error)
}

// Receiver receives the messages of a peer. The goroutine that reads calls ReceiveRequest and ReceiveNotification for
// one message at a time, and reads the next message after they return. The argument from sends messages back to the
// peer. A message that is sent with the context of a request uses the stream of the request, if there is one.
type Receiver interface {
	// ReceiveRequest receives a request of any method. The exception is a ping before the session opens, which a server
	// answers itself. ctx ends after the answer, when the peer cancels the request (the cause contains its reason), or
	// when the peer is gone. If answer gets an [*Error], that error is sent back unchanged. An [*mcp.Error] is sent back
	// with its code, and any other error as -32603 with its text.
	ReceiveRequest(ctx context.Context, m Message, from Peer, answer Answer)
	// ReceiveNotification receives a notification of any method except notifications/cancelled.
	ReceiveNotification(ctx context.Context, m Message, from Peer)
	// Gone reports that the peer is gone. It is the last call for this peer.
	Gone(from Peer)
}

// Error is an error response of a peer.
type Error struct {
	Object json.RawMessage // the error object as received, in one line
	Server *mcp.Error      // the decoded members of the error; members that cannot be decoded are zero
}

func (e *Error) Error() string { return e.Server.Error() }
func (e *Error) Unwrap() error { return e.Server }

// Cancelled is the error of a request that the receiving peer has cancelled. There is no response.
type Cancelled struct{ Reason string } // empty if the peer gave no reason

func (e *Cancelled) Error() string { return "the server cancelled the request: " + e.Reason }

// ErrStopping and ErrLeft are causes of the contexts of requests: the server is shutting down, or the client has left.
var (
	ErrStopping = &mcp.Error{Code: mcp.CodeInternalError, Message: "the server is shutting down"}
	ErrLeft     = errors.New("the client has disconnected")
)

// ErrUnread is the answer to a request whose real answer was dropped.
var ErrUnread = &mcp.Error{
	Code:    mcp.CodeInternalError,
	Message: "the answer was dropped, because too many answers are waiting for clients that do not read",
}

// ReasonOf returns the reason for the end of ctx, for a cancellation message. It is empty if ctx has no explicit cause.
func ReasonOf(ctx context.Context) string {
	if why := context.Cause(ctx); why != ctx.Err() {
		return why.Error()
	}
	return ""
}

// Introduction is the first request on a connection to a server: initialize or server/discover.
type Introduction struct {
	Message
	// Confirmed means that the peer in front has sent notifications/initialized. If a new session then replaces an earlier
	// one, the client sends the notification itself. If Confirmed is false, the peer in front sends it later with
	// [Peer.Notify].
	Confirmed bool
}

// Client configures a connection to a server. The peer in front is the client of the relay whose messages this
// connection relays to the server.
type Client struct {
	// Context holds the span that is the parent of the first connection attempt. The end of Context has no effect.
	Context context.Context
	// Receiver receives the messages of the server.
	Receiver Receiver
	// Introduce returns the first request. It is called for each connection.
	Introduce func() Introduction
	// Introduced receives the server's answer to the first request of each connection. An error ends the client
	// permanently. If the client ends before the first answer, Introduced gets the reason. The client does not retry its
	// first connection.
	Introduced func(result json.RawMessage, err error) error
	// Shared reports whether several peers in front, which have no sessions, share the connection. One peer must not get
	// the messages of another.
	Shared bool
	// Patience bounds how long Request and Notify wait for a session. Zero means 30 s.
	Patience time.Duration
}

// Server is a connection to a server. It reconnects after it has lost the connection.
type Server interface {
	Peer
	// Ready reports whether there is a session. Without a session, Request and Notify wait for one, until ctx ends or
	// [Client.Patience] has passed.
	Ready() bool
	// Health returns the state of the connection for a probe.
	Health() health.Connection
	// Stop closes the connection. It waits for the goroutines of the connection, at most until ctx ends.
	Stop(ctx context.Context) error
}

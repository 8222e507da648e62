// Package relay joins a server of mcpserver to a connection of package upstream, for package mcpproxy: messages that
// one peer has sent and another is to get. They are passed on as they are: checked as JSON and as JSON-RPC, and not
// against a revision, a schema or the rules for names. Ids, the trace context in _meta and what belongs to a connection
// are the business of each end.
//
// What one peer has sent leaves in the order in which it came, each way: an end hands its messages to its [Receiver]
// one at a time, in the goroutine that reads, and [Peer] sends them in the order of its calls. So a peer that does not
// read keeps the other one from being read, as if there were nothing in between. Modern clients over HTTP share one
// peer: messages for them wait in a queue for each request, so that a client which does not read delays no other.
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
	// ID is that of a request, as the peer wrote it that has sent it: what the other one says about a subscription names
	// it. A request has another id on the way. It is valid as long as the call that has it.
	ID     json.RawMessage
	Method string
	Params json.RawMessage // a JSON object in one line; nil for none. It is valid as long as the call that has it

	// Header has the headers Mcp-Param-… that came with a request, by name, with what they say. It is nil for a peer that
	// repeats nothing in headers: then a client that has to finds out by itself what to repeat.
	Header map[string]string
}

// Size returns how much memory a message takes that waits, in bytes.
func (m *Message) Size() int {
	n := len(m.Params)
	for name, value := range m.Header {
		n += len(name) + len(value)
	}
	return n
}

// Answer takes what becomes of a request: the result as the peer wrote it, in one line, or an error. An error that the
// peer has answered with is an [*Error]. It is called once, by any goroutine, perhaps before the call returns that the
// request was made by. The result of a client is valid until Answer returns; that of a server may be kept. Answer may
// block while the peer that asked does not read, unless that peer is shared.
type Answer func(result json.RawMessage, err error)

// Peer sends messages to a client or a server. It is safe for concurrent use.
type Peer interface {
	// Request sends a request. It returns when the transport has taken it, or when it cannot be sent, which answer is
	// told. When ctx ends before the answer has come, the peer is told so, and answer gets the cause. ctx carries the
	// span that is the parent.
	Request(ctx context.Context, m Message, answer Answer)
	// Notify sends a notification. It returns when the transport has taken it.
	Notify(ctx context.Context, m Message) error
}

// Ender is a Peer in front of a server whose connection or session can be ended, as by itself.
type Ender interface {
	Peer
	// Shared reports whether it stands for any number of peers, which have no sessions: then it has no end, and its
	// requests come at the same time.
	Shared() bool
	// End ends it because of reason, and does not wait. The Receiver hears that the peer is gone.
	End(reason error)
}

// Receiver gets what a peer sends. Both methods are called in the goroutine that reads, for one message after the
// other; nothing else is read from the peer before they return. from leads back to it: what is sent there during a
// request, by its context, goes by the stream of that request if it has one.
type Receiver interface {
	// ReceiveRequest gets a request, of any method; a server answers a ping before there is a session by itself. ctx ends
	// with the answer, or when the peer has cancelled the request, whose reason is then the text of the cause, or is gone.
	// An [*Error] goes back as it came, an [*mcp.Error] with its code and any other error as -32603 with its text.
	ReceiveRequest(ctx context.Context, m Message, from Peer, answer Answer)
	// ReceiveNotification gets a notification, of any method but notifications/cancelled.
	ReceiveNotification(ctx context.Context, m Message, from Peer)
	// Gone says that the peer is gone, after all its messages; no more come from it.
	Gone(from Peer)
}

// Error is an error that a peer has answered with.
type Error struct {
	Object json.RawMessage // the error object, as it came, in one line
	Server *mcp.Error      // what it says, as far as that can be read
}

func (e *Error) Error() string { return e.Server.Error() }
func (e *Error) Unwrap() error { return e.Server }

// Cancelled is the error of a request that the peer which was asked has cancelled itself: it gives no answer.
type Cancelled struct{ Reason string } // empty if it gave none

func (e *Cancelled) Error() string { return "the server has cancelled the request: " + e.Reason }

// The causes of the contexts of requests that a server ends because it stops, and because the client has left.
var (
	ErrStopping = &mcp.Error{Code: mcp.CodeInternalError, Message: "the server is shutting down"}
	ErrLeft     = errors.New("the client has left")
)

// ReasonOf returns why ctx has ended, for the peer that is told of it; empty if that says no more than that it has.
func ReasonOf(ctx context.Context) string {
	if why := context.Cause(ctx); why != ctx.Err() {
		return why.Error()
	}
	return ""
}

// Introduction is the first request of a connection to a server: initialize, or server/discover.
type Introduction struct {
	Message
	// Confirmed says that the peer in front has sent notifications/initialized. Then the client sends it itself, in a
	// session that takes the place of another. Else it comes by [Peer.Notify].
	Confirmed bool
}

// Client is what a client needs to know that only passes messages on.
type Client struct {
	// Context has the span that is the parent of the first attempt to connect. Its end ends nothing.
	Context context.Context
	// Receiver gets what the server sends.
	Receiver Receiver
	// Introduce returns how the client introduces itself, for each connection anew.
	Introduce func() Introduction
	// Introduced gets the server's answer, for each connection. An error ends the client for good. A client that ends
	// before there was an answer gives it why: it makes no second attempt at its first connection.
	Introduced func(result json.RawMessage, err error) error
	// Shared reports whether several peers without sessions are in front, which must not get what belongs to another.
	Shared bool
	// Patience is how long Request and Notify wait for a session. Zero means 30 s.
	Patience time.Duration
}

// Server is a connection to a server, which is made anew when it is lost.
type Server interface {
	Peer
	// Ready reports whether there is a session: if not, Request and Notify wait for one until ctx ends.
	Ready() bool
	// Stop ends the connection and waits for what it has started.
	Stop(ctx context.Context) error
}

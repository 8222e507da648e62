package transport

import (
	"context"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

// DefaultFrameLimit is the limit of a zero [Config.FrameLimit]: 16 MiB.
const DefaultFrameLimit = 16 << 20

// Transport opens connections to one server. Its methods may be called from any goroutine.
type Transport interface {
	// Dial opens a connection. It may be called any number of times, and each call gives a connection of its own: a new
	// process, a new session.
	//
	// ctx bounds Dial only. When it ends while Dial is at work, Dial undoes what it began and returns the cause of ctx;
	// when it ends later, nothing happens to the connection. Values of ctx (a trace) may be used for the dialling and are
	// not kept.
	//
	// [Permanent] tells whether it makes sense to call Dial again after an error.
	Dial(ctx context.Context, cfg Config) (Conn, error)

	// Network returns what is known about the connection before there is one. It never changes. A transport that leads to
	// another machine, or to a program that the user has not started, says so here: what it leaves zero counts as this
	// process, which gets all of the baggage (see telemetry.WithBaggageKeys).
	Network() Network

	// Name returns the name a client has by default: the base name of the command, the host of the URL, "in-memory".
	Name() string
}

// Config is what a client tells a transport about the connections it wants. The zero value works.
type Config struct {
	// FrameLimit is the size in bytes of the largest frame that is received, exactly this size included and the newline
	// or other framing excluded. Zero or less means [DefaultFrameLimit].
	FrameLimit int

	// SendQueue is how many bytes may wait to be written, all frames together, before [Conn.Send] returns [ErrBusy]. Zero
	// or less means the frame limit, and at least 256 KiB. A single frame may be larger. [HTTP] has [HTTP.MaxInFlight]
	// instead.
	SendQueue int

	// SkipOversize, if true, skips a frame over the limit and reports it in [Frame.Err]. Otherwise such a frame ends the
	// connection with a [*FrameTooLargeError]. Of a frame that is skipped, [RequestError.Head] and [RequestError.Tail]
	// have to be kept, in which the client finds the request that it answers, unless [Frame.Request] says so.
	SkipOversize bool

	// Logger gets what concerns no call, such as the lines of the server's standard error, as records of the telemetry
	// schema at debug level. Nil means that they are dropped. A client never leaves it nil.
	Logger *slog.Logger

	// QueueWait, if not nil, is called with the time an accepted frame has waited in the outbound queue, when it has left,
	// by transports that know. A frame that leaves within its Send, as most do with [Stdio], has not waited and is not
	// reported; nor is one that is lost with the connection. It may be called from any goroutine, one that sends included,
	// and must be quick.
	QueueWait func(time.Duration)

	// Stream, if not nil, is called when a stream has opened that serves no single request, with its kind: "get" for the
	// stream of a legacy session, "sse" for that of HTTP+SSE. The function it returns is called when the stream has ended,
	// with the reason unless it ended in order. Both may be called from any goroutine and must be quick.
	Stream func(kind string) (ended func(error))

	// Missed, if not nil, is called when messages that answer no request may be lost: the stream for them is open again,
	// and does not go on behind the last message. The cause is "stream" if there is no event to go on behind, or
	// "replay" if the server does not keep what follows it, as in mcp_client.gap.cause. It may be called from any
	// goroutine, before a message of the new stream is received, and must be quick.
	Missed func(cause string)

	// Traceparent, Tracestate and Baggage are the trace context of the attempt to connect, in the W3C's formats; empty for
	// none. Propagated is what other propagators say of it, by key, nil for nothing. See [Stdio.TraceContext].
	Traceparent, Tracestate, Baggage string
	Propagated                       map[string]string

	// Authorizing, if not nil, is called with true when a message has to wait for an authorization, which may take a
	// person a while, and with false when it goes on. Calls of several messages come in pairs of their own.
	Authorizing func(bool)

	// Authorized, if not nil, is called when the server has refused a message and there is another authorization since:
	// more of the same principal's, or another principal's. What was received before may not be for that one. It may be
	// called from any goroutine and must be quick.
	Authorized func()

	// Failed, if not nil, hears of code of the user's that the transport calls, by a name, and that has panicked, or ended
	// its goroutine: value is then that of the panic, or an error that says so.
	Failed func(name string, value any, stack []byte)
}

// guard calls code of the user's in a goroutine of its own. The error is a failure of that code.
func (c *Config) guard(name string, f func()) error {
	return c.failed().guard(name, f)
}

// failed returns what hears of failures, nil for nothing.
func (c *Config) failed() failed {
	if c == nil {
		return nil
	}
	return c.Failed
}

// failed is a [Config.Failed].
type failed func(name string, value any, stack []byte)

// guard calls code of the user's as [Config.guard] does.
func (t failed) guard(name string, f func()) error {
	failure := usercode.Apart(f)
	if failure == nil {
		return nil
	}
	t.tell(name, failure)
	return failure
}

// tell tells of a failure, if there is a function for that.
func (t failed) tell(name string, f *usercode.Failure) {
	if t != nil {
		t(name, f.Value, f.Stack)
	}
}

// frameLimit returns the limit in force.
func (c *Config) frameLimit() int {
	if c.FrameLimit <= 0 {
		return DefaultFrameLimit
	}
	return c.FrameLimit
}

// leastSendQueue is the least a send queue has unless its user says so.
const leastSendQueue = 256 << 10

// sendQueue returns the bound in force.
func (c *Config) sendQueue() int {
	if c.SendQueue <= 0 {
		return max(c.frameLimit(), leastSendQueue)
	}
	return c.SendQueue
}

// logger returns the logger in force, never nil.
func (c *Config) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}

// Network says over what a transport runs, in the words of the OpenTelemetry conventions. What does not apply is zero:
// a child process has only Transport, a function in the same process nothing.
type Network struct {
	Transport       string // network.transport: pipe, tcp, quic, unix
	Protocol        string // network.protocol.name: http
	ProtocolVersion string // network.protocol.version: 1.1, 2
	Address         string // server.address: the name that is dialled
	Port            int    // server.port
}

// Conn is one connection to a server. Except for Receive, which is for one goroutine at a time, its methods may be
// called from any goroutine.
type Conn interface {
	// Send accepts m into a bounded outbound space and does not wait for the peer. nil means accepted: the frame leaves
	// whole, never inside another, unless the connection ends before. Frames that share a stream leave in the order of
	// acceptance; those of [HTTP], each a request of its own, in any order.
	//
	// An error means that no byte of m has left and none will. [ErrBusy] says that there is no space now; a frame larger
	// than the space is accepted when nothing else waits in it. The space should be measured in bytes, and have room for a
	// frame of the limit at least: a client tries three times, about 10 ms apart, unless its user lets calls wait for
	// room. An error that wraps [ErrClosed] says that the connection is closed or the peer gone, which it is at the latest
	// when Receive has said so; Receive tells why. A connection that breaks while a frame is half written has accepted it:
	// Send returns nil and Receive reports.
	//
	// ctx bounds the acceptance: if it has ended, nothing is sent and its cause is returned. Its values serve the whole
	// exchange, which matters where a request has a stream of its own, as in HTTP.
	//
	// The connection must not keep m.Data after Send has returned; one that needs it longer copies it.
	Send(ctx context.Context, m Message) error

	// Cancel tells the connection that the answer to the request with this id is not awaited any more. The connection
	// frees what it holds for it and sends notice, a notifications/cancelled, where its protocol wants one; where closing
	// the request's stream is the cancellation, it does that instead, and notice may be zero. Cancel never blocks. It is a
	// best effort: a notice that finds no space is lost. As in Send, notice.Data must not be kept.
	Cancel(id int64, notice Message)

	// Receive asks for one frame and waits for it. Asking is the only permission to deliver: a connection may have read
	// ahead into a bounded buffer, but it takes no frame out of that, looks at none and reads no further until it is
	// asked. One frame at most is kept from a Receive whose ctx ended. Receive is for one goroutine at a time. The frame
	// belongs to the caller.
	//
	// ctx bounds the wait. When it ends, Receive returns its cause and nothing is lost: the next Receive goes on where
	// this one stopped. A ctx that has ended already asks for nothing. A ctx that cannot end, such as
	// [context.Background], is the cheapest to wait with, and [Conn.Close] ends that wait too.
	//
	// Every other error means that the connection is over, and every later Receive returns the same one. It is
	//   - [io.EOF], possibly wrapped: the peer has ended the conversation;
	//   - an [*ExitError]: the peer was a process, and this is how it ended;
	//   - a [*FrameTooLargeError]: a frame was over the limit and [Config.SkipOversize] is false;
	//   - [ErrClosed], possibly wrapped: Close has been called;
	//   - the error of the stream.
	// A connection that is over still has to be closed.
	Receive(ctx context.Context) (Frame, error)

	// Close ends the connection. It may be called any number of times, concurrently too, and a Receive that waits
	// returns. Whatever the peer does, Close returns by the deadline of ctx, or after a time of the transport's own if
	// there is none: first it lets the peer end by itself, then it asks, then it uses force. If ctx is cancelled it uses
	// force at once. A later call with less patience shortens an earlier one.
	//
	// When Close has returned nil, nothing is left: no goroutine, no process, no descriptor. An error says what is. What
	// connections share, such as the idle network connections of [HTTP.Client], goes with the last of them.
	Close(ctx context.Context) error

	// Info returns what is known about the connection now, also after Close.
	Info() Info
}

// Info is a snapshot of a connection.
type Info struct {
	PID    int // of the server's process, 0 if there is none
	Queued int // frames accepted by Send that have not left yet; 0 if the transport does not know
	// LastWords is the last line that the server's process has written to its standard error, cut after 1 KiB; empty if
	// there is none. It is the server's own text.
	LastWords string

	Exit *ExitError // how the server's process has ended, nil as long as that is not known

	SessionID   string // of a legacy session over HTTP
	HTTPVersion string // "1.1" or "2", empty before the first response
}

package transport

import (
	"context"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

// DefaultFrameLimit is the default of [Config.FrameLimit]: 16 MiB.
const DefaultFrameLimit = 16 << 20

// Transport opens connections to one server. Its methods may be called from any goroutine.
type Transport interface {
	// Dial opens a connection. Each call opens a new connection: a new process, a new session.
	//
	// ctx bounds only Dial. If it ends during Dial, Dial undoes its work and returns the cause of ctx; if it ends
	// later, the connection is not affected. Dial may use the values of ctx (a trace), but must not keep them.
	//
	// [Permanent] reports whether a retry is useless after an error.
	Dial(ctx context.Context, cfg Config) (Conn, error)

	// Network describes the connection before it is opened. It never changes. A transport to another machine, or
	// to a program that the user has not started, must set Address: without it the server counts as local and gets
	// all baggage (see telemetry.WithBaggageKeys).
	Network() Network

	// Name returns the default name of a client: the base name of the command, the host of the URL, "in-memory".
	Name() string
}

// Config configures the connections of a transport. The zero value works.
type Config struct {
	// FrameLimit is the maximum size of a received frame, in bytes, without newline or other framing. Zero or less
	// means [DefaultFrameLimit].
	FrameLimit int

	// SendQueue is the maximum of bytes that wait to be written, over all frames, before [Conn.Send] returns
	// [ErrBusy]. Zero or less means the frame limit, and at least 256 KiB. An empty queue accepts a larger frame.
	// [HTTP] uses [HTTP.MaxInFlight] instead.
	SendQueue int

	// SkipOversize, if true, skips a frame above the limit and reports it in [Frame.Err]. Otherwise such a frame
	// ends the connection with a [*FrameTooLargeError]. If [Frame.Request] is 0 for a skipped frame, the transport
	// must set [RequestError.Head] and [RequestError.Tail], in which the client finds the id of the request.
	SkipOversize bool

	// Logger gets log records that belong to no call, such as the lines of the server's standard error, under the
	// telemetry schema and at debug level. Nil drops them. A client always sets it.
	Logger *slog.Logger

	// QueueWait, if not nil, is called after an accepted frame has left, with the time that the frame waited in the
	// outbound queue. Only some transports measure that time. QueueWait is not called for a frame that is written before
	// Send returns, as most frames are with [Stdio], nor for a frame that is lost with the connection. It may be called
	// from any goroutine, including one that is sending, and must return quickly.
	QueueWait func(time.Duration)

	// Stream, if not nil, is called when a stream has opened that does not belong to a single request. kind is "get" for
	// the stream of a legacy session, "sse" for the stream of HTTP+SSE. The returned function is called when the stream
	// has ended, with nil if it ended normally. Both functions may be called from any goroutine and must return quickly.
	Stream func(kind string) (ended func(error))

	// Missed, if not nil, is called when notifications or requests of the server may be lost: their stream was
	// reopened but does not continue after the last message. cause is "stream" if there is no event to continue
	// after, or "replay" if the server does not keep later events, as in mcp_client.gap.cause. Missed may be
	// called from any goroutine, before a message of the new stream is received, and must return quickly.
	Missed func(cause string)

	// Traceparent, Tracestate and Baggage are the trace context of the attempt to connect, in the W3C's formats;
	// empty for none. Propagated holds the values of other propagators, by key, nil for none. See
	// [Stdio.TraceContext].
	Traceparent, Tracestate, Baggage string
	Propagated                       map[string]string

	// Authorizing, if not nil, is called with true when a message starts to wait for an authorization, which may
	// involve a person, and with false when it continues. The calls of each message come in pairs.
	Authorizing func(bool)

	// Authorized, if not nil, is called when the client has new credentials after the server refused a message. The new
	// credentials may belong to another principal, who may not be allowed to see earlier results. Authorized may be called
	// from any goroutine and must return quickly.
	Authorized func()

	// Failed, if not nil, is called when user code that the transport calls has panicked or ended its goroutine. name
	// identifies that code; value is the value of the panic, or an error if the goroutine ended.
	Failed func(name string, value any, stack []byte)
}

// guard calls user code in a goroutine of its own. It returns an error if that code panics or ends its goroutine.
func (c *Config) guard(name string, f func()) error {
	return c.failed().guard(name, f)
}

// failed returns Config.Failed, nil for none. c may be nil.
func (c *Config) failed() failed {
	if c == nil {
		return nil
	}
	return c.Failed
}

// failed is the type of [Config.Failed]; it may be nil.
type failed func(name string, value any, stack []byte)

// guard calls user code as [Config.guard] does.
func (t failed) guard(name string, f func()) error {
	failure := usercode.Apart(f)
	if failure == nil {
		return nil
	}
	t.report(name, failure)
	return failure
}

// report reports a failure of user code.
func (t failed) report(name string, f *usercode.Failure) {
	if t != nil {
		t(name, f.Value, f.Stack)
	}
}

// frameLimit returns the effective frame limit.
func (c *Config) frameLimit() int {
	if c.FrameLimit <= 0 {
		return DefaultFrameLimit
	}
	return c.FrameLimit
}

// leastSendQueue is the minimum of the default send queue, in bytes.
const leastSendQueue = 256 << 10

// sendQueue returns the effective bound of the send queue.
func (c *Config) sendQueue() int {
	if c.SendQueue <= 0 {
		return max(c.frameLimit(), leastSendQueue)
	}
	return c.SendQueue
}

// logger returns the effective logger, never nil.
func (c *Config) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}

// Network describes the network of a transport with attributes of the OpenTelemetry conventions. Fields that do
// not apply are zero: a child process has only Transport, a function in the same process nothing.
type Network struct {
	Transport       string // network.transport: pipe, tcp, quic, unix
	Protocol        string // network.protocol.name: http
	ProtocolVersion string // network.protocol.version: 1.1, 2
	Address         string // server.address: the name to dial
	Port            int    // server.port
}

// Conn is one connection to a server. Receive is for one goroutine at a time; the other methods may be called from
// any goroutine.
type Conn interface {
	// Send accepts m into a bounded outbound queue and does not wait for the peer. nil means that m was accepted: the
	// connection sends the whole frame and mixes no other frame into it, unless the connection ends first. Frames on a
	// shared stream are sent in the order of acceptance. Frames of [HTTP] are separate requests, in any order.
	//
	// An error means that no byte of m was sent or will be sent. [ErrBusy] means that the queue is full; an empty queue
	// accepts a frame of any size. The queue should be bounded in bytes, and hold at least one frame of the frame
	// limit. After ErrBusy, a client tries a call three times in all, about 10 ms apart; with mcpclient.WaitForRoom, the
	// call waits for room instead. An error that wraps [ErrClosed] means that the connection is closed or the peer is
	// gone; Receive returns the reason. After Receive has reported the end of the connection, every Send returns such an
	// error. If the connection breaks in the middle of a frame, the frame counts as accepted: Send returns nil, and
	// Receive returns the error.
	//
	// ctx bounds the acceptance: if it has ended, nothing is sent and Send returns its cause. If each request has its own
	// stream, as in HTTP, the values of ctx are used for the whole exchange.
	//
	// The connection must not keep m.Data after Send has returned; it must copy the data if it needs them longer.
	Send(ctx context.Context, m Message) error

	// Cancel reports that the caller no longer waits for the answer to the request with this id. The connection
	// frees the request's resources and sends notice, a notifications/cancelled, if the protocol demands it. If the
	// protocol cancels a request by closing its stream, the connection closes the stream instead, and notice may be zero.
	// Cancel never blocks. It is best effort: if the queue is full, the notice is lost. As in Send, notice.Data
	// must not be kept.
	Cancel(id int64, notice Message)

	// Receive asks for one frame and waits for it. A connection delivers frames only when asked: it may read ahead into a
	// bounded buffer, but until it is asked it removes no frame from the buffer, parses no frame and reads no further. At
	// most one frame is kept from a Receive whose ctx ended. Receive is for one goroutine at a time. The frame belongs to
	// the caller.
	//
	// ctx bounds the wait. When it ends, Receive returns its cause and nothing is lost: the next Receive continues. If ctx
	// has ended before the call, Receive does not ask for a frame. A ctx that cannot end, such as [context.Background], is
	// the cheapest to wait with; [Conn.Close] ends that wait too.
	//
	// Every other error means that the connection is over, and every later Receive returns the same error:
	//   - [io.EOF], possibly wrapped: the peer has closed the stream;
	//   - an [*ExitError]: the peer was a process and has ended;
	//   - a [*FrameTooLargeError]: a frame was above the limit and [Config.SkipOversize] is false;
	//   - [ErrClosed], possibly wrapped: Close was called;
	//   - the error of the stream.
	//
	// A connection that is over must still be closed.
	Receive(ctx context.Context) (Frame, error)

	// Close ends the connection. It may be called any number of times, also concurrently, and makes a waiting Receive
	// return. Close lets the peer end by itself, then asks the peer to end, then uses force. Even if the peer hangs, Close
	// returns by the deadline of ctx, or after a default time of the transport if ctx has none. If ctx is cancelled, Close
	// uses force at once. A later call with less time also ends the wait of an earlier call sooner.
	//
	// When Close returns nil, no goroutine, process or file descriptor is left. Otherwise the error names what is left.
	// Resources that connections share, such as the idle network connections of [HTTP.Client], are released with the last
	// connection.
	Close(ctx context.Context) error

	// Info returns a snapshot of the connection, also after Close.
	Info() Info
}

// Info is a snapshot of a connection.
type Info struct {
	PID    int // id of the server process, 0 if there is none
	Queued int // frames accepted by Send that have not left yet; 0 if unknown
	// LastWords is the last line on the standard error of the server process, cut after 1 KiB; empty if there is
	// none. The server wrote this text.
	LastWords string

	Exit *ExitError // how the server process ended, nil if it runs or there is none

	SessionID   string // id of a legacy session over HTTP, empty for none
	HTTPVersion string // "1.1" or "2", empty before the first response
}

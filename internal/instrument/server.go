package instrument

import (
	"context"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Server emits the telemetry of one server's connections over one kind of network. It is safe for concurrent use.
// Methods of a nil Server do nothing.
//
// Only requests that a handler sends to its client wait for the log handler. All other records wait in a queue of at
// most 32,768 records and 16 MiB. The queue drops further records, and a later record contains their number.
type Server struct {
	side
	callers *callers
}

// NewServer returns the Server that emits to t for the connections of the server with this name over this network. It
// returns nil if t records nothing. All telemetry of the server has the name as mcp_server.name. A server with several
// networks has one Server for each, all with the same [WithInstanceID]. The caller closes the Server when the server
// has ended.
func NewServer(t *telemetry.Telemetry, name string, n Network, opts ...SideOption) *Server {
	h := hubOf(t)
	if h == nil {
		return nil
	}
	s := &Server{}
	s.traces.scrub = scrubOf(t)
	s.side.init(h, name, serverNetwork(n), &h.ins.asServer, opts)
	s.callers = h.ins.gauges.callersOf(name)
	h.ins.server.startTime.start()
	return s
}

// Peer returns the client at the other end of a connection with a known version. The session id becomes an attribute of
// spans only; it may be empty.
func (s *Server) Peer(f Facts, sessionID string) *Peer {
	if s == nil {
		return nil
	}
	f.Network = serverNetwork(f.Network)
	return s.side.peer(f, sessionID)
}

// StartHandler starts the operation of a request or notification from the client. The returned context is for the
// handler. The caller ends the operation exactly once, after the answer was sent. Use [Server.Notification] for a
// notification without a handler.
func (s *Server) StartHandler(ctx context.Context, in Incoming) (_ context.Context, op Op) {
	if s == nil {
		return ctx, op
	}
	ctx = s.startHandler(ctx, &in, &op)
	op.trace.caller = s.countCaller(&in)
	return ctx, op
}

// StartRequest starts the operation of a request or notification that the server is about to send. The returned context
// is for the sending. The caller ends the operation exactly once. A server sends a request only once, so the request
// has no correlation id.
func (s *Server) StartRequest(ctx context.Context, r Request) (context.Context, Op) {
	if s == nil {
		return ctx, Op{}
	}
	return s.startRequest(ctx, r)
}

// Notification counts a notification without an operation: one received without a handler, or one sent without a span.
func (s *Server) Notification(d telemetry.Direction, method string) {
	if s != nil {
		s.notification(d, method)
	}
}

// NotificationDropped counts a notification that was not sent. reason is one of the Drop constants.
func (s *Server) NotificationDropped(method, reason string) {
	if s != nil {
		s.dropNotification(telemetry.DirectionSent, method, reason)
	}
}

// Decodes reports whether a metric records the duration of decoding a message without an operation.
func (s *Server) Decodes() bool { return s != nil && s.ins.decode.Enabled(context.Background()) }

// Undecodable records the duration and the error of decoding a request, after decoding has failed.
func (s *Server) Undecodable(d time.Duration, err error) {
	if s.Decodes() {
		s.ins.decode.Record(context.Background(), d.Seconds(),
			s.metrics.options().decode.At(decodeKey{KindRequest, bounded(errorTypeOf(err))})...)
	}
}

// Violation counts and logs a frame that violates the protocol.
func (s *Server) Violation(v Violation) {
	if s != nil {
		s.violation(v)
	}
}

// Dropped counts and logs a response for which no request waits.
func (s *Server) Dropped(d Drop) {
	if s != nil {
		s.drop(d)
	}
}

// NoDeadlines logs that the writer of an HTTP response does not support deadlines.
func (s *Server) NoDeadlines() {
	if s != nil && s.logs.enabled(context.Background(), slog.LevelWarn) {
		s.logs.emit(context.Background(), slog.LevelWarn, names.EventMCPServerHttpNoDeadlines)
	}
}

// MessageSize records the size of a frame that belongs to no operation.
func (s *Server) MessageSize(d telemetry.Direction, k MessageKind, bytes int) {
	if s != nil {
		s.metrics.messageSize(context.Background(), d, k, bytes)
	}
}

// QueueWait records how long a message waited before it was written.
func (s *Server) QueueWait(d time.Duration) {
	if s != nil {
		s.metrics.queueWait(d)
	}
}

// HandlerPanic counts and logs a panic of the handler that was called with ctx. Only the log record contains the value.
func (s *Server) HandlerPanic(ctx context.Context, method string, value any, stack []byte) {
	if s != nil {
		s.panicked(ctx, method, value, stack)
	}
}

// Close logs the counts of suppressed records. Operations may still end afterwards.
func (s *Server) Close() {
	if s != nil {
		s.metrics.leave()
		s.logs.flush()
	}
}

// Flush waits until the log handler has all records that were written before the call. If ctx ends first, Flush returns
// its cause.
func (s *Server) Flush(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return s.logs.wait(ctx)
}

// serverNetwork returns n without address and port: both describe the dialled server, and the conventions define them
// only for the client's side.
func serverNetwork(n Network) Network {
	n.Address, n.Port = "", 0
	return n
}

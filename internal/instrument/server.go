package instrument

import (
	"context"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Server is what one server tells its telemetry about its connections over one kind of network. It is safe for
// concurrent use. A nil Server takes everything and does nothing.
//
// Only what a handler asks its client waits for the log handler. All other records wait for it in a queue of at most
// 32,768 records and 16 MiB; those beyond are not written, and a record says how many.
type Server struct {
	side
	callers *callers
}

// NewServer returns what the server with this name tells t about its connections over this network, nil if t observes
// nothing. The name is the value of mcp_server.name on everything it emits. A server with several networks has one of
// these for each, and gives all of them one [WithInstanceID]. Close it when the server has ended.
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

// Peer returns the client at the other end of a connection, once its version is known. The session id, empty for none,
// goes onto spans only.
func (s *Server) Peer(f Facts, sessionID string) *Peer {
	if s == nil {
		return nil
	}
	f.Network = serverNetwork(f.Network)
	return s.side.peer(f, sessionID)
}

// StartHandler begins the handling of a request or a notification of the client. It returns the context to call the
// handler with, and the operation, which the caller ends exactly once, after the answer was sent. A notification
// without a handler is for [Server.Notification].
func (s *Server) StartHandler(ctx context.Context, in Incoming) (_ context.Context, op Op) {
	if s == nil {
		return ctx, op
	}
	ctx = s.startHandler(ctx, &in, &op)
	op.trace.caller = s.called(&in)
	return ctx, op
}

// StartRequest begins a request or a notification that is to be sent. It returns the context to send it with, and the
// operation, which the caller ends exactly once. A request of a server has no correlation id: it is sent once.
func (s *Server) StartRequest(ctx context.Context, r Request) (context.Context, Op) {
	if s == nil {
		return ctx, Op{}
	}
	return s.startRequest(ctx, r)
}

// Notification counts a notification that was received and has no handler.
func (s *Server) Notification(d telemetry.Direction, method string) {
	if s != nil {
		s.notification(d, method)
	}
}

// NotificationDropped counts a notification that was not sent, for one of the Drop reasons.
func (s *Server) NotificationDropped(method, reason string) {
	if s != nil {
		s.dropNotification(telemetry.Sent, method, reason)
	}
}

// Decodes reports whether a metric records how long decoding takes, for a message that has no operation yet.
func (s *Server) Decodes() bool { return s != nil && s.ins.decode.Enabled(context.Background()) }

// Undecodable says how long it took to find out that a request cannot be decoded, and why.
func (s *Server) Undecodable(d time.Duration, err error) {
	if s.Decodes() {
		s.ins.decode.Record(context.Background(), d.Seconds(),
			s.metrics.options().decode.At(decodeKey{KindRequest, bounded(errorTypeOf(err))})...)
	}
}

// Violation counts and logs a frame that breaks the protocol.
func (s *Server) Violation(v Violation) {
	if s != nil {
		s.violation(v)
	}
}

// Dropped counts and logs a response that no request waits for.
func (s *Server) Dropped(d Drop) {
	if s != nil {
		s.drop(d)
	}
}

// NoDeadlines logs that the writer of an HTTP response allows no deadlines.
func (s *Server) NoDeadlines() {
	if s != nil && s.logs.enabled(context.Background(), slog.LevelWarn) {
		s.logs.emit(context.Background(), slog.LevelWarn, names.EventMCPServerHttpNoDeadlines)
	}
}

// MessageSize records the size of a frame that no operation tells of.
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

// HandlerPanic counts and logs a panic of the handler that was called with ctx. The value is in the log only.
func (s *Server) HandlerPanic(ctx context.Context, method string, value any, stack []byte) {
	if s != nil {
		s.panicked(ctx, method, value, stack)
	}
}

// Close logs what was held back. Operations may still end.
func (s *Server) Close() {
	if s != nil {
		s.metrics.leave()
		s.logs.flush()
	}
}

// Flush waits until the log handler has taken all records that were written so far, or until ctx ends, and then returns
// its cause.
func (s *Server) Flush(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return s.logs.wait(ctx)
}

// serverNetwork leaves out what is about the server that was dialled: the conventions have it on the client's side
// only.
func serverNetwork(n Network) Network {
	n.Address, n.Port = "", 0
	return n
}

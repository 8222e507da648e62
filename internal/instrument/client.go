package instrument

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Client emits the telemetry of one client. It is safe for concurrent use. Methods of a nil Client do nothing.
//
// Methods without a context parameter write log records without a trace, unless an argument contains a [Ref].
//
// An operation that a caller waits for writes its log records in the caller's goroutine, and so waits for the log
// handler. All other records wait in a queue of at most 1,024 records and 1 MiB. The queue drops further records, and a
// later record contains their number.
type Client struct {
	side
	state      atomic.Uint32 // a connstate.State
	tombstones atomic.Int32  // number of tombstones that the metric counts
	queue      atomic.Pointer[func() int]
	process    atomic.Pointer[func() int]
	server     atomic.Pointer[implementation] // implementation of the latest server; nil before the first connection
	listed     atomic.Pointer[ToolList]       // latest list of tools; nil before the first list
}

// NewClient returns the Client that emits to t for the client with this name and network. It returns nil if t records
// nothing. All telemetry of the client has the name as mcp_client.name. The caller closes the Client when the client
// has ended.
func NewClient(t *telemetry.Telemetry, name string, n Network, opts ...SideOption) *Client {
	h := hubOf(t)
	if h == nil {
		return nil
	}
	c := &Client{}
	c.traces.scrub = scrubOf(t)
	c.side.init(h, name, n, &h.ins.asClient, opts)
	h.ins.gauges.add(c)
	h.ins.client.startTime.start()
	return c
}

// Peer returns the server at the other end of a negotiated connection. Its facts become attributes of the spans and
// metrics of all requests on that connection. The session id becomes an attribute of spans only; it may be empty.
func (c *Client) Peer(f Facts, sessionID string) *Peer {
	if c == nil {
		return nil
	}
	return c.side.peer(f, sessionID)
}

// StartRequest starts the operation of a request or notification that the client is about to send. The returned
// context is for sending it. The caller ends the operation exactly once.
func (c *Client) StartRequest(ctx context.Context, r Request) (context.Context, Op) {
	if c == nil {
		return ctx, Op{}
	}
	return c.startRequest(ctx, r)
}

// StartHandler starts the operation of a request or notification from the server. The returned context is for the
// handler. The caller ends the operation exactly once. Use [Client.Notification] for a notification without a
// handler.
func (c *Client) StartHandler(ctx context.Context, in Incoming) (_ context.Context, op Op) {
	if c == nil {
		return ctx, op
	}
	ctx = c.startHandler(ctx, &in, &op)
	return ctx, op
}

// Notification counts a notification without an operation: one received without a handler, or one sent without a span.
func (c *Client) Notification(d telemetry.Direction, method string) {
	if c != nil {
		c.notification(d, method)
	}
}

// NotificationDropped counts a received notification that reached no handler. reason is one of the Drop constants. The
// notification does not count as received.
func (c *Client) NotificationDropped(method, reason string) {
	if c != nil {
		c.dropNotification(telemetry.DirectionReceived, method, reason)
	}
}

// Violation counts and logs a frame that violates the protocol.
func (c *Client) Violation(v Violation) {
	if c != nil {
		c.violation(v)
	}
}

// Dropped counts and logs a response that no call waits for.
func (c *Client) Dropped(d Drop) {
	if c != nil {
		c.drop(d)
	}
}

// MessageSize records the size of a frame that belongs to no operation.
func (c *Client) MessageSize(d telemetry.Direction, k MessageKind, bytes int) {
	if c != nil {
		c.metrics.messageSize(context.Background(), d, k, bytes)
	}
}

// QueueWait records how long a message waited before it was written.
func (c *Client) QueueWait(d time.Duration) {
	if c != nil {
		c.metrics.queueWait(d)
	}
}

// HandlerPanic counts and logs a panic of the handler that was called with ctx. Only the log record contains the value.
func (c *Client) HandlerPanic(ctx context.Context, method string, value any, stack []byte) {
	if c != nil {
		c.panicked(ctx, method, value, stack)
	}
}

// Logger returns the client's logger for events that other packages emit, such as events of transports outside of
// calls. It is never nil.
func (c *Client) Logger() *slog.Logger {
	if c == nil {
		return discard
	}
	return slog.New(logsHandler{&c.logs})
}

// Queue sets the function that returns the number of messages waiting to be written. Each collection of metrics calls
// length until the next call of Queue or [Client.Close], so length must be quick. A nil length means that there is no
// queue.
func (c *Client) Queue(length func() int) {
	switch {
	case c == nil:
	case length == nil:
		c.queue.Store(nil)
	default:
		c.queue.Store(new(length))
	}
}

// Process sets the function that returns the process id of the server, or 0 if no process runs. Each collection of
// metrics calls pid until the next call of Process or [Client.Close], so pid must be quick. A nil pid means that the
// server is not a process of this client.
func (c *Client) Process(pid func() int) {
	switch {
	case c == nil:
	case pid == nil:
		c.process.Store(nil)
	default:
		c.process.Store(new(pid))
	}
}

// Close removes the client from the gauges, logs the counts of suppressed records, and waits until the log handler
// has all records. Operations may still end afterwards.
func (c *Client) Close() {
	if c == nil {
		return
	}
	c.tel.ins.gauges.remove(c)
	c.metrics.leave()
	c.Tombstones(-int(c.tombstones.Load()))
	c.logs.flush()
	c.queue.Store(nil)
	c.process.Store(nil)
	_ = c.logs.wait(context.Background()) // no error: the context never ends
}

// Untold logs the number of transitions that were not reported, because the user's function for transitions did not
// return in time.
func (c *Client) Untold(transitions int) {
	if c != nil {
		c.logs.ReportLost(transitions)
	}
}

package instrument

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Client is what one client tells its telemetry. It is safe for concurrent use. A nil Client takes everything and does
// nothing.
//
// Methods that take no context write log records without a trace, except those that are told a [Ref].
//
// Only the operations of callers wait for the log handler. All other records wait for it in a queue of at most 1,024
// records and 1 MiB; those beyond are not written, and a record says how many.
type Client struct {
	side
	state      atomic.Uint32 // a connstate.State
	tombstones atomic.Int32  // as many as the metric counts
	queue      atomic.Pointer[func() int]
	server     atomic.Pointer[implementation] // of the latest connection; nil before
	listed     atomic.Pointer[ToolList]       // the latest; nil before
}

// NewClient returns what the client with this name and network tells t, nil if that observes nothing. The name is the
// value of mcp_client.name on everything it emits. Close it when the client has ended.
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

// Peer returns the other end of a connection that was negotiated: what is known of it goes onto the spans and metrics
// of the requests that are admitted to it. The session id, empty for none, goes onto spans only.
func (c *Client) Peer(f Facts, sessionID string) *Peer {
	if c == nil {
		return nil
	}
	return c.side.peer(f, sessionID)
}

// StartRequest begins a request or a notification that is to be sent. It returns the context to send it with, and the
// operation, which the caller ends exactly once.
func (c *Client) StartRequest(ctx context.Context, r Request) (context.Context, Op) {
	if c == nil {
		return ctx, Op{}
	}
	return c.startRequest(ctx, r)
}

// StartHandler begins the handling of a request or a notification of the server. It returns the context to call the
// handler with, and the operation, which the caller ends exactly once. A notification without a handler is for
// [Client.Notification].
func (c *Client) StartHandler(ctx context.Context, in Incoming) (_ context.Context, op Op) {
	if c == nil {
		return ctx, op
	}
	ctx = c.startHandler(ctx, &in, &op)
	return ctx, op
}

// Notification counts a notification that has no operation: received without a handler, or sent without a span.
func (c *Client) Notification(d telemetry.Direction, method string) {
	if c != nil {
		c.notification(d, method)
	}
}

// NotificationDropped counts a notification that reached no handler, for one of the Drop reasons. It is not among the
// notifications received.
func (c *Client) NotificationDropped(method, reason string) {
	if c != nil {
		c.dropNotification(telemetry.Received, method, reason)
	}
}

// Violation counts and logs a frame that breaks the protocol.
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

// MessageSize records the size of a frame that no operation tells of.
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

// HandlerPanic counts and logs a panic of the handler that was called with ctx. The value is in the log only.
func (c *Client) HandlerPanic(ctx context.Context, method string, value any, stack []byte) {
	if c != nil {
		c.panicked(ctx, method, value, stack)
	}
}

// Logger returns the client's logger, for the events that this package does not emit itself: what transports hear
// beside all calls. It is never nil.
func (c *Client) Logger() *slog.Logger {
	if c == nil {
		return discard
	}
	return slog.New(logsHandler{&c.logs})
}

// Queue sets the function that tells how many messages wait to be written. It is called whenever metrics are collected,
// must be quick, and is kept until the next one or [Client.Close]; nil means there is no queue.
func (c *Client) Queue(length func() int) {
	switch {
	case c == nil:
	case length == nil:
		c.queue.Store(nil)
	default:
		c.queue.Store(new(length))
	}
}

// Close takes the client out of the metrics of what is there now, logs what was held back, and waits until the log
// handler has taken all of it. Operations may still end.
func (c *Client) Close() {
	if c == nil {
		return
	}
	c.tel.ins.gauges.remove(c)
	c.metrics.leave()
	c.Tombstones(-int(c.tombstones.Load()))
	c.logs.flush()
	c.queue.Store(nil)
	_ = c.logs.wait(context.Background()) // never fails
}

// Untold logs how many transitions were not reported, because the user's function for them did not return in time.
func (c *Client) Untold(transitions int) {
	if c != nil {
		c.logs.ReportLost(transitions)
	}
}

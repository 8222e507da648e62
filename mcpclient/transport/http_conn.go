package transport

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"sync"
)

// httpConn is a connection to a server at a URL. It implements [Conn]. All parts of the connection share one mutex, and
// the fields that describe how the connection ended. An exchange is one outgoing message and the response to it; it
// runs in one goroutine of the pool. Other goroutines read the streams that serve no single request.
//
// Each part owns its state:
//
//	requester   http_requester.go  HTTP requests of any kind, with header and credentials; reachability of the server
//	reach       http_reach.go      progress of one request (with its body, http_posted.go)
//	flight      http_flight.go     running exchanges, and requests that wait in line (http_line.go)
//	exchange    http_exchange.go   one POST and its answer (http_answer.go, http_events.go, http_verdict.go)
//	session     http_session.go    state that one initialize begins: id, version, gate
//	listening   http_listen.go     the GET stream of a session
//	oldServer   http_sse.go        HTTP+SSE: its stream and its endpoint
//	inbox       http_receive.go    frames for Receive; decides whether the receiver may rest
//	pool        http_pool.go       goroutines for exchanges, shared by all connections that share a client
//	lingering   http_linger.go     streams that have delivered their answer but have not ended
//	ending      http_close.go      Close
type httpConn struct {
	h        *HTTP
	logger   *slog.Logger
	bound    frameBound
	requests requester

	pool      *pool // goroutines for exchanges
	lingering lingering
	tasks     sync.WaitGroup // counts exchanges and the goroutines of streams
	end       *ending        // nil before the first Close

	mu       sync.Mutex
	why      error         // why the connection is over; nil while it works
	over     chan struct{} // closed when why is set; nil unless a goroutine waits for it
	closing  bool          // Close has been called
	hungUp   bool          // no session or stream may begin
	reported bool          // Receive has returned why; owned by Receive
	session  *session
	flight   flight
	old      oldServer
	inbox    inbox
}

func newHTTPConn(h *HTTP, cfg Config, target *url.URL) *httpConn {
	c := &httpConn{
		h:       h,
		logger:  cfg.logger(),
		bound:   frameBound{limit: cfg.frameLimit(), skip: cfg.SkipOversize},
		session: new(session),
	}
	c.requests.init(h, &cfg, target)
	if c.flight.max = int32(min(h.MaxInFlight, math.MaxInt32)); c.flight.max <= 0 {
		c.flight.max = maxInFlight
	}
	c.pool = joinPool(c.requests.joined)
	c.old.conn, c.inbox.conn = c, c
	return c
}

// Send passes a copy of the message to a goroutine of the pool. The exchange keeps the values of ctx but does not end
// with ctx; Cancel ends it.
func (c *httpConn) Send(ctx context.Context, m Message) error {
	return c.SendFor(ctx, m, nil)
}

// SendFor implements [seam.Sender].
func (c *httpConn) SendFor(ctx context.Context, m Message, answer func(Frame) bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ex, err := c.accept(ctx, m, answer)
	if ex != nil { // nil if the request waits in line
		c.pool.Start(ex)
	}
	return err
}

// accept creates an exchange for m and returns it for the caller to run. It returns nil if the request must wait in
// line; then the request runs when a place is free.
func (c *httpConn) accept(ctx context.Context, m Message, answer func(Frame) bool) (*exchange, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing:
		return nil, ErrClosed
	case c.why != nil:
		return nil, fmt.Errorf("%w: %w", ErrClosed, c.why)
	case c.flight.isFull(&m, c.bound.limit):
		return nil, ErrBusy
	}
	if beginsSession(&m) && c.session.begun() {
		c.drop()
		c.session = new(session)
	}
	ex := c.newExchange(ctx, m, answer)
	c.tasks.Add(1)
	if c.flight.mustWait(&m) {
		c.flight.queue(ex)
		c.lingering.cut()
		return nil, nil
	}
	c.flight.enter(ex)
	return ex, nil
}

// settle marks ex as no longer in flight, so it cannot be cancelled any more.
func (c *httpConn) settle(ex *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked(ex)
}

func (c *httpConn) settleLocked(ex *exchange) {
	c.flight.settle(ex)
	c.noteQuiet()
	c.inbox.noteCalm()
}

// drop ends the session and all its exchanges. c.mu is held.
func (c *httpConn) drop() {
	c.session.drop()
	c.flight.stop(c.session)
}

// part removes the finished ex and starts the next exchange in line.
func (c *httpConn) part(ex *exchange) { c.runNext(c.remove(ex)) }

// remove removes ex from the running exchanges and returns the exchange that gets its place, nil if none.
func (c *httpConn) remove(ex *exchange) *exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked(ex)
	if ex.recalled {
		ex.recalled = false
		c.inbox.recall.stopped--
		c.inbox.signal()
	}
	return c.flight.remove(ex)
}

// Cancel ends the exchange of the request. For a legacy server it sends the notice first, because in legacy revisions
// closing the stream of a request does not cancel the request.
// (specification 2025-11-25, basic/transports, "Sending Messages to the Server"; 2026-07-28, "Cancellation")
func (c *httpConn) Cancel(id int64, notice Message) {
	if c.cancelInLine(id) {
		return
	}
	ex, shared := c.find(id)
	switch untold := len(notice.Data) == 0 || notice.ProtocolVersion >= firstModern; {
	case ex != nil && (ex.modern || untold):
		ex.stop()
	case ex != nil || shared && !untold:
		c.cancelLegacy(ex, notice)
	}
}

// cancelLegacy sends the notice, and ends ex, the exchange of the cancelled request, after the exchange of the notice.
// ex may be nil. If the notice cannot be sent, it is lost, and ex ends at once.
func (c *httpConn) cancelLegacy(ex *exchange, notice Message) {
	if ex != nil && !ex.mayHaveLeft() {
		ex.stop() // the server has not seen the request
		return
	}
	notice.Kind = KindNotification
	n, err := c.accept(context.Background(), notice, nil)
	switch {
	case err == nil:
		if n.errand.limit = cancelLimit; ex != nil {
			n.errand.after = ex.stop
		}
		c.pool.Start(n)
	case ex != nil:
		ex.stop()
	}
}

// find returns the exchange of a request in flight. shared means that all answers arrive on a shared stream; an
// exchange then ends as soon as its request has been posted.
func (c *httpConn) find(id int64) (ex *exchange, shared bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flight.find(id), c.old.stream != nil
}

// fail ends the connection: Send then fails, and Receive returns why. Only the first call has an effect. The caller
// must still close the connection.
func (c *httpConn) fail(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failLocked(why)
}

func (c *httpConn) failLocked(why error) {
	if c.why == nil {
		c.why = why
		if c.over != nil {
			close(c.over)
		}
		if !c.closing {
			c.takeBack()
		}
		c.flight.dismiss(nil)
		c.inbox.signal()
		c.inbox.wakeReceiver()
	}
}

// takeBack ends the requests that the server has not seen, because they have no network connection yet. Receive returns
// each of them as unsent, and then the reason for the end of the connection. Receive waits for requests that are being
// dialled only if net/http dials: net/http then returns at once, but another RoundTripper might never return. c.mu is
// held.
func (c *httpConn) takeBack() {
	r := new(recall)
	c.inbox.recall = r
	for ex := c.flight.line.head(); ex != nil; ex = ex.next {
		r.unsent(ex)
	}
	for ex := c.flight.first; ex != nil; ex = ex.next {
		switch {
		case ex.m.Kind != KindRequest || ex.settled:
		case !ex.mayHaveLeft():
			r.unsent(ex)
			ex.stop()
		case ex.reach.dials() && c.requests.known != nil:
			ex.recalled = true
			r.stopped++
			ex.stop()
		}
	}
}

// failRecalled records the failure of an exchange that takeBack has stopped. If the request got a network
// connection in the meantime, the server may have received it.
func (c *httpConn) failRecalled(ex *exchange, e *RequestError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !ex.recalled {
		return
	}
	if e.Unsent {
		c.inbox.recall.unsent(ex)
	} else {
		c.inbox.recall.ended = append(c.inbox.recall.ended, Frame{Request: ex.m.ID, Err: e})
	}
}

// isOver reports whether the connection has ended.
func (c *httpConn) isOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why != nil
}

// whenOver returns a channel that is closed when the connection ends.
func (c *httpConn) whenOver() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil {
		if c.over = make(chan struct{}); c.why != nil {
			close(c.over)
		}
	}
	return c.over
}

// Info returns a snapshot of the connection.
func (c *httpConn) Info() Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Info{
		SessionID: c.session.id, Queued: c.flight.line.len(), HTTPVersion: c.requests.httpVersion(),
	}
}

package transport

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"sync"
)

// httpConn is a connection to a server at a URL: the [Conn], and what its parts have in common, which is one mutex and
// one end. An exchange is one message and all that follows from it, in one goroutine of the pool, or as far as may be
// in that of its sender. Other goroutines read the streams that serve no single request.
//
// Each part owns its state:
//
//	requester   http_requester.go  HTTP requests of any kind, with header and credentials; can the server be reached
//	reach       http_reach.go      how far one request has got (with its body, http_posted.go)
//	flight      http_flight.go     which exchanges live, which wait in line (http_line.go)
//	exchange    http_exchange.go   one POST and its answer (http_answer.go, http_events.go, http_verdict.go)
//	session     http_session.go    what one initialize leads to: id, version, gate
//	listening   http_listen.go     the GET stream of a session
//	oldServer   http_sse.go        HTTP+SSE: its stream and its endpoint
//	inbox       http_receive.go    what waits for Receive, and whether that may rest
//	pool        http_pool.go       goroutines of exchanges; that of all who share a client
//	lingering   http_linger.go     streams that have brought their answer and have not ended
//	ending      http_close.go      Close
type httpConn struct {
	h        *HTTP
	logger   *slog.Logger
	bound    frameBound
	requests requester

	pool      *pool // of the goroutines for exchanges
	lingering lingering
	tasks     sync.WaitGroup // exchanges, and the goroutines of streams
	end       *ending        // nil before the first Close

	mu      sync.Mutex
	why     error         // the connection is over
	over    chan struct{} // closed when it is; nil unless a goroutine waits for that
	closing bool          // Close has been called
	hungUp  bool          // no session or stream begins any more
	told    bool          // Receive has returned why; owned by Receive
	session *session
	flight  flight
	old     oldServer
	inbox   inbox
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

// Send hands a copy of the message to a goroutine that does the rest. The values of ctx serve the request; its end does
// not, that is what Cancel is for.
func (c *httpConn) Send(ctx context.Context, m Message) error {
	return c.SendFor(ctx, m, nil)
}

// SendFor implements [seam.Sender].
func (c *httpConn) SendFor(ctx context.Context, m Message, answer func(Frame) bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ex, err := c.accept(ctx, m, answer)
	if ex != nil { // it is not, in the line
		c.pool.Start(ex)
	}
	return err
}

// accept makes an exchange of m. The caller runs it, unless it is nil because it has to wait for a place: that is run
// when it has one.
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

// settle takes ex out of flight: cancelling it is of no use any more.
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

// drop ends the session with all that belongs to it. c.mu is held.
func (c *httpConn) drop() {
	c.session.drop()
	c.flight.stop(c.session)
}

// part settles ex, which is over, and runs the next.
func (c *httpConn) part(ex *exchange) { c.runNext(c.remove(ex)) }

// remove takes ex out of those that live, and returns the exchange that gets its place, if there is one.
func (c *httpConn) remove(ex *exchange) *exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked(ex)
	if ex.recalled {
		ex.recalled = false
		c.inbox.recall.stopped--
		c.inbox.tell()
	}
	return c.flight.remove(ex)
}

// Cancel ends the request's exchange. A legacy server is told before, because to it the end of a stream means nothing.
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

// cancelLegacy sends the notice and ends the exchange, if there still is one, when that has been answered. A notice
// that finds no space is lost.
func (c *httpConn) cancelLegacy(ex *exchange, notice Message) {
	if ex != nil && !ex.leaves() {
		ex.stop() // the server has not seen it
		return
	}
	notice.Kind = Notification
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

// find returns the exchange of a request in flight, and whether all answers come on a shared stream, where a request is
// out of sight once it has left.
func (c *httpConn) find(id int64) (ex *exchange, shared bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flight.find(id), c.old.stream != nil
}

// fail ends the connection, once: nothing is sent any more, and Receive says why. What goes on still has to be closed.
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
		c.inbox.tell()
		c.inbox.rouse()
	}
}

// takeBack ends the requests that have no network connection yet, which the server has not seen. Receive returns each
// of them as unsent, and then the reason for the end of the connection. It waits for requests that dial only where
// net/http itself does, which returns at once; a RoundTripper of the user's may go on. c.mu is held.
func (c *httpConn) takeBack() {
	r := new(recall)
	c.inbox.recall = r
	for ex := c.flight.line.head(); ex != nil; ex = ex.next {
		r.unsent(ex)
	}
	for ex := c.flight.first; ex != nil; ex = ex.next {
		switch {
		case ex.m.Kind != Request || ex.settled:
		case !ex.leaves():
			r.unsent(ex)
			ex.stop()
		case ex.reach.dials() && c.requests.known != nil:
			ex.recalled = true
			r.stopped++
			ex.stop()
		}
	}
}

// failRecalled takes the failure of an exchange that takeBack has stopped. If a network connection was quicker, the
// server may have the request.
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

// isOver reports whether the connection is over.
func (c *httpConn) isOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why != nil
}

// whenOver returns a channel that is closed when the connection is over.
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

// Info returns what is known about the connection now.
func (c *httpConn) Info() Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Info{
		SessionID: c.session.id, Queued: c.flight.line.len(), HTTPVersion: c.requests.httpVersion(),
	}
}

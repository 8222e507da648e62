package transport

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
	"weak"
)

const (
	maxInFlight    = 1024 // of a zero MaxInFlight
	maxUnreachable = 3    // failures in a row that end a connection of which something is still connected
)

// httpConn is a connection to a server at a URL: what its exchanges have in common. An exchange is one message and all
// that follows from it, in one goroutine of the pool, or as far as may be in that of its sender. Other goroutines read
// the streams that serve no single request.
//
// Its parts lie in files of their own: exchanges (http_exchange.go, http_life.go, http_inline.go) and the line of those
// that wait (http_line.go), the requests they make (http_request.go, http_header.go), the answers they get
// (http_answer.go, http_gzip.go, http_body.go, http_events.go) and what the lack of one means (http_verdict.go),
// sessions (http_session.go, http_listen.go), HTTP+SSE (http_sse.go) and the end (http_close.go).
type httpConn struct {
	h          *HTTP
	target     *url.URL
	client     *http.Client
	joined     *originClient   // nil if the client is the user's
	own        *http.Transport // of joined, if it has one
	prompt     bool            // the client returns when the context of a request ends
	header     http.Header     // of the user, with canonical names
	host       string          // of the user's header
	limit      int             // of a frame
	skip       bool            // frames above it
	max        int             // requests that are on their way, and other messages
	opened     func(string) func(error)
	authorize  func(bool)
	authorized func()
	logger     *slog.Logger
	waited     func(time.Duration) // told how long each request was in the line, may be nil
	config     *Config             // hears of failures

	told      bool // Receive has returned why; owned by Receive
	pool      pool // of the goroutines for exchanges
	lingering lingering
	tasks     sync.WaitGroup // exchanges and goroutines
	end       *ending        // nil before the first Close

	connected   atomic.Int32 // requests that have a network connection
	unreachable atomic.Int32 // failures to connect since the last answer
	version     atomic.Int32 // of HTTP, times ten

	mu        sync.Mutex
	why       error         // the connection is over
	over      chan struct{} // closed when it is; nil unless somebody waits for that
	closing   bool          // Close has been called
	hungUp    bool          // no session or stream begins any more
	session   *session
	exchanges *exchange // all that live, the latest first
	placed    int       // those among them that take a place
	line      line      // of requests that wait for one
	inFlight  int       // exchanges that are not settled
	notices   int       // those among these that are no requests
	shared    *sharedStream
	usuals    weak.Pointer[usuals]
	receiving
}

func newHTTPConn(h *HTTP, cfg Config, target *url.URL) *httpConn {
	c := &httpConn{
		h:          h,
		target:     target,
		limit:      cfg.frameLimit(),
		skip:       cfg.SkipOversize,
		max:        h.MaxInFlight,
		opened:     cfg.Stream,
		authorize:  cfg.Authorizing,
		authorized: cfg.Authorized,
		logger:     cfg.logger(),
		waited:     cfg.QueueWait,
		config:     &cfg,
	}
	if c.max <= 0 {
		c.max = maxInFlight
	}
	if len(h.Header) > 0 {
		c.header = make(http.Header, len(h.Header))
	}
	for name, values := range h.Header {
		name = http.CanonicalHeaderKey(name)
		c.header[name] = append(c.header[name], values...)
	}
	c.host = c.header.Get("Host")
	delete(c.header, "Host")
	if h.Client != nil {
		c.client = clientOf(h.Client)
	} else {
		c.joined, c.target = joinOrigin(target)
		c.client, c.own = &c.joined.client, c.joined.pool
	}
	_, c.prompt = c.client.Transport.(*http.Transport)
	c.pool.tasks = &c.tasks
	c.session = new(session)
	return c
}

// Send hands a copy of the message to a goroutine that does the rest, or does it all, see [Message.Inline]. The values
// of ctx serve the request; its end does not, that is what Cancel is for.
func (c *httpConn) Send(ctx context.Context, m Message) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ex, err := c.accept(ctx, m)
	switch {
	case ex == nil: // or in the line
	case ex.mayBeInline():
		ex.runInline(ctx)
	default:
		c.pool.run(ex)
	}
	return err
}

// accept makes an exchange of m. The caller runs it, unless it is nil because it has to wait for a place: that is run
// when it has one.
func (c *httpConn) accept(ctx context.Context, m Message) (*exchange, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing:
		return nil, ErrClosed
	case c.why != nil:
		return nil, fmt.Errorf("%w: %w", ErrClosed, c.why)
	case c.isFull(&m):
		return nil, ErrBusy
	}
	if m.Kind == Request && m.Method == methodInitialize && c.session.begun() {
		c.drop(c.session)
		c.session = new(session)
	}
	ex := c.newExchange(ctx, m)
	c.tasks.Add(1)
	if takesPlace(&m) && c.placed >= c.max {
		c.line.join(ex)
		c.lingering.cut()
		return nil, nil
	}
	c.enter(ex)
	return ex, nil
}

// isFull reports whether there is no space for m now. What is no request does not wait behind requests: the server may
// need it to answer them. c.mu is held.
func (c *httpConn) isFull(m *Message) bool {
	if m.Kind != Request {
		return c.notices >= c.max
	}
	return takesPlace(m) && c.placed >= c.max && !c.line.isFree(len(m.Data), c.limit)
}

// enter has ex be one of those that live. c.mu is held.
func (c *httpConn) enter(ex *exchange) {
	if ex.next = c.exchanges; ex.next != nil {
		ex.next.previous = ex
	}
	c.exchanges = ex
	c.inFlight++
	if takesPlace(&ex.m) {
		c.placed++
	}
	if ex.m.Kind != Request {
		c.notices++
	}
}

// settle takes ex out of flight: cancelling it is of no use any more.
func (c *httpConn) settle(ex *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked(ex)
}

func (c *httpConn) settleLocked(ex *exchange) {
	if ex.settled {
		return
	}
	ex.settled = true
	c.inFlight--
	if ex.m.Kind != Request {
		c.notices--
	}
	c.noteQuiet()
	c.noteCalm()
}

// part settles ex, which is over, and runs the next.
func (c *httpConn) part(ex *exchange) { c.runNext(c.remove(ex)) }

// remove takes ex out of those that live, and returns the exchange that gets its place, if there is one.
func (c *httpConn) remove(ex *exchange) *exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked(ex)
	if takesPlace(&ex.m) {
		c.placed--
	}
	if ex.next != nil {
		ex.next.previous = ex.previous
	}
	if ex.previous != nil {
		ex.previous.next = ex.next
	} else {
		c.exchanges = ex.next
	}
	return c.admit()
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
	n, err := c.accept(context.Background(), notice)
	switch {
	case err == nil:
		if n.errand.limit = cancelLimit; ex != nil {
			n.errand.after = ex.stop
		}
		c.pool.run(n)
	case ex != nil:
		ex.stop()
	}
}

// find returns the exchange of a request in flight, and whether all answers come on a shared stream, where a request is
// out of sight once it has left.
func (c *httpConn) find(id int64) (ex *exchange, shared bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ex := c.exchanges; ex != nil; ex = ex.next {
		if ex.m.Kind == Request && ex.m.ID == id && !ex.settled {
			return ex, c.shared != nil
		}
	}
	return nil, c.shared != nil
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
		c.dismiss(nil)
		c.tell()
		c.rouse()
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

// answered notes that there was an answer.
func (c *httpConn) answered(resp *http.Response) {
	c.unreachable.Store(0)
	c.version.Store(int32(10*resp.ProtoMajor + resp.ProtoMinor))
}

// missed notes that no connection could be made, and reports whether this one is over: if there have been too many such
// failures without an answer between, or, if somebody waits for an answer, if nothing else of it is connected.
func (c *httpConn) missed(awaited bool) bool {
	return c.unreachable.Add(1) >= maxUnreachable || awaited && c.connected.Load() == 0
}

// sharesStream reports whether all answers come on the stream of HTTP+SSE. Its end is the end of the connection, which
// must not come before the last of its frames has been taken.
func (c *httpConn) sharesStream() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shared != nil
}

func (c *httpConn) Info() Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	info := Info{SessionID: c.session.id, Queued: len(c.line.waiting)}
	switch v := c.version.Load(); {
	case v >= 20:
		info.HTTPVersion = fmt.Sprint(v / 10)
	case v > 0:
		info.HTTPVersion = fmt.Sprintf("%d.%d", v/10, v%10)
	}
	return info
}

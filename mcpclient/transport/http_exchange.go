package transport

import (
	"bytes"
	"context"
	"maps"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

const (
	methodInitialize  = "initialize"
	methodDiscover    = "server/discover"
	methodInitialized = "notifications/initialized"
	methodListen      = "subscriptions/listen"
	firstModern       = "2026-07-28" // later revisions compare greater

	// noticeLimit bounds the exchange of a notification or a response, which Cancel cannot end.
	noticeLimit = time.Minute

	// cancelLimit replaces noticeLimit for a cancellation notice. It is short, because the exchange of the cancelled
	// request lasts as long as the exchange of the notice.
	cancelLimit = 2 * time.Second
)

// exchange is one outgoing message and the response to it.
type exchange struct {
	ctx     context.Context    // has the values of the sender's context, for tracing, but does not end with it
	stop    context.CancelFunc // ends ctx without delivering a failure
	reach   reach              // progress of the current HTTP request
	watched context.Context    // ctx with the httptrace of reach; nil before the first request

	next, previous *exchange // neighbours in conn's list of running exchanges, or in its line; guarded by conn.mu
	since          time.Time // when the request joined the line, zero if it did not wait

	conn      *httpConn
	session   *session
	m         Message          // ID is 0 unless it is a request
	answer    func(Frame) bool // callback of seam.Sender; nil for none
	errand    *errand          // nil for a request
	sessionID string
	trace     [3]string // values of traceFields
	gate      <-chan struct{}

	state       atomic.Int32
	settled     bool // no longer in flight, see httpConn.settle; guarded by conn.mu
	recalled    bool // stopped by takeBack while dialling; guarded by conn.mu
	initialize  bool
	initialized bool
	modern      bool
}

// errand is additional state for a notification or a response.
type errand struct {
	limit time.Duration
	open  func() // releases the messages that wait for this one, nil for none
	after func() // called at the end, nil for none

	needed bool          // the server needs the message: the client retries a message that may not have arrived
	failed *RequestError // why the message may not have arrived, nil if it must not be retried
	tries  int           // attempts before the present one
}

// Pauses between the attempts to send a message that the server needs (errand.needed). The first pause is firstPause.
// Each later pause is twice as long, up to lastPause, until errand.limit has passed. A server ignores a repeated
// message.
//
// A server needs a response, because one of its handlers waits for it. It needs notifications/initialized, because
// before that it sends no notifications or requests in the session, and some servers answer nothing.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// The states of an exchange.
const (
	waiting int32 = iota
	leaving       // the server may have seen the message
	stopped       // the server has not seen the message and never will
)

// newExchange returns an exchange for m in the current session. c.mu is held.
func (c *httpConn) newExchange(ctx context.Context, m Message, answer func(Frame) bool) *exchange {
	s := c.session
	ex := &exchange{conn: c, session: s, m: m, answer: answer, gate: s.waitsFor()}
	ex.modern = m.ProtocolVersion >= firstModern
	ex.trace = [3]string{m.Traceparent, m.Tracestate, m.Baggage}
	ex.m.Propagated = maps.Clone(m.Propagated)
	if !ex.modern {
		ex.sessionID = s.id
	}
	ex.m.Data, ex.m.Header = bytes.Clone(m.Data), maps.Clone(m.Header)
	ex.ctx, ex.stop = context.WithCancel(context.WithoutCancel(ctx))
	if ex.initialize = beginsSession(&m); m.Kind != KindRequest {
		ex.m.ID, ex.errand = 0, &errand{limit: noticeLimit}
		if ex.initialized = m.Method == methodInitialized && !ex.modern; ex.initialized {
			ex.errand.open = s.shut()
			s.version = m.ProtocolVersion
		}
		ex.errand.needed = ex.initialized || m.Kind == KindResponse
	}
	return ex
}

// beginsSession reports whether m is an initialize request of a legacy revision. Modern revisions have no
// sessions.
func beginsSession(m *Message) bool {
	return m.Kind == KindRequest && m.Method == methodInitialize && m.ProtocolVersion < firstModern
}

// mayHaveLeft reports whether the message may have been sent. If not, it also prevents the message from being sent.
func (ex *exchange) mayHaveLeft() bool { return !ex.state.CompareAndSwap(waiting, stopped) }

// run runs the whole exchange.
func (ex *exchange) run(w *worker) {
	defer ex.conn.tasks.Done()
	defer ex.finish()
	usercode.Run(func() { ex.carryOut(w) }, ex.broken)
}

// broken handles a panic in user code: HTTP client, authorizer, response body or logger.
func (ex *exchange) broken(f *usercode.Failure) {
	ex.reach.leave()
	ex.conn.requests.hooks.failed.report("HTTP", f)
	ex.fail(&RequestError{Reason: ReasonLost, Err: f})
}

func (ex *exchange) carryOut(w *worker) {
	if ex.errand != nil {
		defer time.AfterFunc(ex.errand.limit, ex.stop).Stop()
	}
	if ex.gate != nil {
		select {
		case <-ex.gate:
		case <-ex.ctx.Done():
			return
		}
	}
	if ex.ctx.Err() == nil && ex.state.CompareAndSwap(waiting, leaving) {
		for ex.post(w); ex.again(); {
			ex.post(w)
		}
	}
}

// again waits until a failed message should be retried, and reports false if it should not be.
func (ex *exchange) again() bool {
	if ex.errand == nil || ex.errand.failed == nil {
		return false
	}
	pause := max(min(firstPause<<ex.errand.tries, lastPause), ex.errand.failed.RetryAfter)
	ex.errand.failed = nil
	ex.errand.tries++
	return !await(ex.ctx, ex.conn.whenOver(), pause) && ex.ctx.Err() == nil && !ex.session.dropped()
}

func (ex *exchange) finish() {
	ex.conn.part(ex)
	ex.stop()
	ex.reach.over()
	if ex.errand == nil {
		return
	}
	if ex.errand.open != nil { // the server never accepted notifications/initialized; the session may still work
		ex.conn.listen(ex.session, true, ex.errand.open)
	}
	if ex.errand.after != nil {
		ex.errand.after()
	}
}

// post sends the message to the endpoint in use and handles the response.
func (ex *exchange) post(w *worker) {
	c := ex.conn
	endpoint, failure := c.old.endpointFor(ex)
	switch {
	case failure != nil:
		mine := *failure // a copy: other exchanges may share the failure
		mine.Unsent = true
		ex.fail(&mine)
	case endpoint != nil:
		ex.postTo(w, endpoint, true)
	default:
		ex.postTo(w, c.requests.target, false)
	}
}

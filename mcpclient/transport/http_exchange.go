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

	// noticeLimit is how long the exchange of a notification or a response may take. There is no id to cancel it by.
	noticeLimit = time.Minute

	// cancelLimit is the same for the notice that a request has been cancelled, whose exchange it keeps alive.
	cancelLimit = 2 * time.Second
)

// exchange is one message on its way to the server, and what comes back.
type exchange struct {
	ctx     context.Context    // with the sender's values, for a round tripper that traces requests, but without its end
	stop    context.CancelFunc // ends ctx, without a word to Receive
	reach   reach              // of its requests, one after the other
	watched context.Context    // ctx with what reports to reach; nil before the first request

	next, previous *exchange // among those of conn, or in its line; guarded by its mu
	since          time.Time // when it joined the line, zero if it had no need to

	conn      *httpConn
	session   *session
	m         Message          // its ID is 0 unless it is a request
	answer    func(Frame) bool // see seam.Sender; nil for none
	errand    *errand          // nil of a request
	sessionID string
	trace     [3]string // values of the header that are written once, see traceFields
	gate      <-chan struct{}

	state       atomic.Int32
	settled     bool // see httpConn.settle; guarded by conn.mu
	recalled    bool // see httpConn.takeBack; guarded by conn.mu
	initialize  bool
	initialized bool
	modern      bool
}

// errand is what only the exchange of a notification or a response has.
type errand struct {
	limit time.Duration
	open  func() // lets through what waits for this one, nil if nothing does
	after func() // when it is over, nil for nothing

	needed bool          // the server waits for the message: it is sent again if it may not have arrived
	failed *RequestError // why it may not have arrived, nil if it is not to be sent again
	tries  int           // to send it, but for the last
}

// A message that the server needs is sent again after firstPause, and then after twice the pause before, up to
// lastPause, within the limit of its errand. A server that has got it before ignores it. Without a response a handler of
// the server hangs; without notifications/initialized a server says nothing unasked for the life of the session, and
// some answer nothing.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// The states of an exchange.
const (
	waiting int32 = iota
	leaving       // the server may have seen it
	stopped       // it has not and will not
)

// newExchange returns the exchange for m in the current session. c.mu is held.
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
	if ex.initialize = beginsSession(&m); m.Kind != Request {
		ex.m.ID, ex.errand = 0, &errand{limit: noticeLimit}
		if ex.initialized = m.Method == methodInitialized && !ex.modern; ex.initialized {
			ex.errand.open = s.shut()
			s.version = m.ProtocolVersion
		}
		ex.errand.needed = ex.initialized || m.Kind == Response
	}
	return ex
}

// beginsSession reports whether m is the request that a session begins with. Modern revisions have none.
func beginsSession(m *Message) bool {
	return m.Kind == Request && m.Method == methodInitialize && m.ProtocolVersion < firstModern
}

// leaves reports whether the message may have left already. If it has not, it does not leave any more.
func (ex *exchange) leaves() bool { return !ex.state.CompareAndSwap(waiting, stopped) }

// run does the whole exchange.
func (ex *exchange) run(w *worker) {
	defer ex.conn.tasks.Done()
	defer ex.finish()
	usercode.Run(func() { ex.carryOut(w) }, ex.broken)
}

// broken deals with the user's client or authorizer, a body of theirs, or a logger that has failed.
func (ex *exchange) broken(f *usercode.Failure) {
	ex.reach.leave()
	ex.conn.requests.hooks.failed.tell("HTTP", f)
	ex.fail(&RequestError{Reason: Lost, Err: f})
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

// again waits until a message that has failed is to be sent again, and reports false if it is not.
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
	if ex.errand.open != nil { // refused, or lost each time: the session may go on all the same
		ex.conn.listen(ex.session, true, ex.errand.open)
	}
	if ex.errand.after != nil {
		ex.errand.after()
	}
}

// post sends the message where it belongs and deals with the answer.
func (ex *exchange) post(w *worker) {
	c := ex.conn
	endpoint, failure := c.old.endpointFor(ex)
	switch {
	case failure != nil:
		mine := *failure // others may wait for the same stream
		mine.Unsent = true
		ex.fail(&mine)
	case endpoint != nil:
		ex.postTo(w, endpoint, true)
	default:
		ex.postTo(w, c.requests.target, false)
	}
}

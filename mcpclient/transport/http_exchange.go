package transport

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	firstModern       = "2026-07-28" // later revisions compare greater

	// noticeLimit is how long the exchange of a notification or a response may take. Nobody can cancel it.
	noticeLimit = time.Minute

	// cancelLimit is the same for the notice that a request has been cancelled, whose exchange it keeps alive.
	cancelLimit = 2 * time.Second
)

// exchange is one message on its way to the server, and what comes back.
type exchange struct {
	exchangeContext
	stop context.CancelFunc // ends it, without a word to Receive

	conn    *httpConn
	session *session
	m       Message
	kind    Kind
	id      int64         // of a request, else 0
	limit   time.Duration // 0 means none
	after   func()        // when it is over, nil for nothing

	initialize  bool
	initialized bool
	modern      bool
	open        func() // lets through what waits for this one, nil if nothing does
	sessionID   string
	gate        <-chan struct{}
	state       atomic.Int32
	stream      *http.Response // of an exchange that was begun in another goroutine: the answer comes on it
}

// The states of an exchange.
const (
	waiting int32 = iota
	leaving       // the server may have seen it
	stopped       // it has not and will not
)

// exchangeContext is the context of an exchange: it has the values of the one who sent the message, for whoever traces HTTP
// requests, but a life of its own.
type exchangeContext struct {
	context.Context                 // its life
	sender          context.Context // its values
}

func (c *exchangeContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.sender.Value(key)
}

// newExchange returns the exchange for m in the current session. c.mu is held.
func (c *httpConn) newExchange(ctx context.Context, m Message) *exchange {
	s := c.session
	ex := &exchange{
		conn: c, session: s, m: m, kind: m.Kind, gate: s.gate, modern: m.ProtocolVersion >= firstModern,
	}
	if !ex.modern {
		ex.sessionID = s.id
	}
	ex.m.Data, ex.m.Header = bytes.Clone(m.Data), maps.Clone(m.Header)
	ex.sender = ctx
	ex.Context, ex.stop = context.WithCancel(context.Background())
	switch {
	case m.Kind == Request:
		ex.id = m.ID
		ex.initialize = m.Method == methodInitialize
	case m.Method == methodInitialized && !ex.modern:
		ex.initialized = true
		ex.open = s.shut()
		s.version = m.ProtocolVersion
		fallthrough
	default:
		ex.limit = noticeLimit
	}
	return ex
}

// leaves reports whether the message may have left already. If it has not, it does not leave any more.
func (ex *exchange) leaves() bool { return !ex.state.CompareAndSwap(waiting, stopped) }

// run does the whole exchange.
func (ex *exchange) run(w *worker) {
	defer ex.conn.tasks.Done()
	defer ex.finish()
	if ex.stream != nil {
		defer ex.stream.Body.Close()
		ex.follow(w, ex.stream)
		return
	}
	if ex.limit > 0 {
		defer time.AfterFunc(ex.limit, ex.stop).Stop()
	}
	if ex.gate != nil {
		select {
		case <-ex.gate:
		case <-ex.Done():
			return
		}
	}
	if ex.Err() == nil && ex.state.CompareAndSwap(waiting, leaving) {
		ex.post(w)
	}
}

func (ex *exchange) finish() {
	ex.conn.settle(ex)
	ex.stop()
	if ex.open != nil {
		ex.open()
	}
	if ex.after != nil {
		ex.after()
	}
}

// post sends the message where it belongs and deals with the answer.
func (ex *exchange) post(w *worker) {
	c := ex.conn
	endpoint, failure := c.endpoint(ex)
	switch {
	case failure != nil:
		mine := *failure // others may wait for the same stream
		mine.Unsent = true
		ex.fail(&mine)
	case endpoint != nil:
		ex.postTo(w, endpoint, true)
	default:
		ex.postTo(w, c.target, false)
	}
}

package transport

import "time"

const (
	lineSpace = 32 << 20 // bytes for the requests in a line, or the frame limit if that is larger
	lineEach  = 512      // bytes that are added to each request for the memory that it takes in the line
)

// takesPlace reports whether m counts toward MaxInFlight. Notifications and responses do not, because the server
// may need them to answer requests. Subscriptions do not, because they may last forever.
func takesPlace(m *Message) bool {
	return m.Kind == KindRequest && !beginsSession(m) && m.Method != methodListen
}

// line queues requests, first in first out, while MaxInFlight requests are running. A place stays occupied until
// the exchange is over, including the time that its stream lingers after the answer. While the line is not empty,
// all places are occupied. Guarded by httpConn.mu.
type line struct {
	first, last *exchange           // linked by next and previous
	waiting     map[int64]*exchange // by id; nil while empty
	space       int                 // bytes that the waiting requests take, including lineEach for each
}

// head returns the first exchange in line, nil if the line is empty. l may be nil.
func (l *line) head() *exchange {
	if l == nil {
		return nil
	}
	return l.first
}

// len returns the number of waiting requests. l may be nil.
func (l *line) len() int {
	if l == nil {
		return 0
	}
	return len(l.waiting)
}

// isFree reports whether a message of size bytes fits into the line. Any size fits into an empty line. l may be
// nil.
func (l *line) isFree(size, limit int) bool {
	return l.head() == nil || l.space+size+lineEach <= max(lineSpace, limit)
}

func (l *line) join(ex *exchange) {
	ex.since = time.Now()
	if ex.previous = l.last; l.last != nil {
		l.last.next = ex
	} else {
		l.first = ex
	}
	l.last = ex
	if l.waiting == nil {
		l.waiting = map[int64]*exchange{}
	}
	l.waiting[ex.m.ID] = ex
	l.space += len(ex.m.Data) + lineEach
}

// leave removes ex from the line.
func (l *line) leave(ex *exchange) {
	if ex.previous != nil {
		ex.previous.next = ex.next
	} else {
		l.first = ex.next
	}
	if ex.next != nil {
		ex.next.previous = ex.previous
	} else {
		l.last = ex.previous
	}
	ex.next, ex.previous = nil, nil
	if delete(l.waiting, ex.m.ID); len(l.waiting) == 0 {
		l.waiting = nil // a map never shrinks
	}
	l.space -= len(ex.m.Data) + lineEach
}

// cancelInLine ends the request with this id if it waits in line, and reports whether it did.
func (c *httpConn) cancelInLine(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flight.line == nil {
		return false
	}
	ex := c.flight.line.waiting[id]
	if ex != nil {
		c.flight.discard(ex)
	}
	return ex != nil
}

// anyInLine reports whether a request waits in line.
func (c *httpConn) anyInLine() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flight.line.head() != nil
}

// runNext runs an exchange that has left the line. ex may be nil.
func (c *httpConn) runNext(ex *exchange) {
	if ex == nil {
		return
	}
	if waited := c.requests.hooks.queueWait; waited != nil {
		waited(time.Since(ex.since))
	}
	c.pool.Start(ex)
}

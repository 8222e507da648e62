package transport

import "time"

const (
	lineSpace = 32 << 20 // of the messages in a line, or the frame limit if that is more
	lineEach  = 512      // is added to the length of each: what it takes to remember it
)

// takesPlace reports whether m is one of those of which MaxInFlight may be on their way. Other messages do not wait
// behind these: the server may need them to answer. A subscription lasts as long as it likes.
func takesPlace(m *Message) bool {
	return m.Kind == Request && !beginsSession(m) && m.Method != methodListen
}

// line is where requests wait for a place, first come first served: MaxInFlight of them may be on their way. A place is
// taken until the exchange is over, a stream that lingers behind its answer included. As long as any request waits, all
// places are taken. Guarded by httpConn.mu.
type line struct {
	first, last *exchange           // linked by next and previous
	waiting     map[int64]*exchange // by id; nil as long as none has waited
	space       int                 // they take
}

// head returns the first in the line, nil for none. l may be nil.
func (l *line) head() *exchange {
	if l == nil {
		return nil
	}
	return l.first
}

// len returns how many wait. l may be nil.
func (l *line) len() int {
	if l == nil {
		return 0
	}
	return len(l.waiting)
}

// isFree reports whether there is space for a message of so many bytes. Where none waits, there is space for any. l may
// be nil.
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

// leave takes ex out of the line.
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
		l.waiting = nil // a map does not shrink
	}
	l.space -= len(ex.m.Data) + lineEach
}

// cancelInLine ends the request with this id if it is in the line, and reports whether it was.
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

// anyInLine reports whether a request waits in the line.
func (c *httpConn) anyInLine() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flight.line.head() != nil
}

// runNext runs an exchange that has waited in the line, unless it is nil.
func (c *httpConn) runNext(ex *exchange) {
	if ex == nil {
		return
	}
	if waited := c.requests.hooks.queueWait; waited != nil {
		waited(time.Since(ex.since))
	}
	c.pool.Start(ex)
}

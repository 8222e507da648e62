package transport

// maxInFlight is what a zero [HTTP.MaxInFlight] means.
const maxInFlight = 1024

// flight has the exchanges of a connection: those that live, and the line of requests that wait for a place among
// them. It decides who gets a place and runs nothing. Guarded by httpConn.mu, which its callers hold.
type flight struct {
	first   *exchange // of all that live, the latest first
	max     int32     // requests that are on their way, and other messages
	placed  int32     // those among them that take a place
	active  int32     // those that are not settled
	notices int32     // those among the active that are no requests
	line    *line     // of requests that wait for a place; nil before the first
}

// isFull reports whether there is no space for m now. What is no request does not wait behind requests: the server may
// need it to answer them.
func (f *flight) isFull(m *Message, limit int) bool {
	if m.Kind != Request {
		return f.notices >= f.max
	}
	return f.mustWait(m) && !f.line.isFree(len(m.Data), limit)
}

// mustWait reports whether m takes a place and none is free.
func (f *flight) mustWait(m *Message) bool { return takesPlace(m) && f.placed >= f.max }

// queue has ex wait for a place.
func (f *flight) queue(ex *exchange) {
	if f.line == nil {
		f.line = new(line)
	}
	f.line.join(ex)
}

// enter has ex be one of those that live.
func (f *flight) enter(ex *exchange) {
	if ex.next = f.first; ex.next != nil {
		ex.next.previous = ex
	}
	f.first = ex
	f.active++
	if takesPlace(&ex.m) {
		f.placed++
	}
	if ex.m.Kind != Request {
		f.notices++
	}
}

// settle has ex be none of the active ones: cancelling it is of no use any more. It may be called again.
func (f *flight) settle(ex *exchange) {
	if ex.settled {
		return
	}
	ex.settled = true
	f.active--
	if ex.m.Kind != Request {
		f.notices--
	}
}

// remove takes ex, which is settled, out of those that live. It returns the exchange that gets its place, if there is
// one: its caller runs that.
func (f *flight) remove(ex *exchange) *exchange {
	if takesPlace(&ex.m) {
		f.placed--
	}
	if ex.next != nil {
		ex.next.previous = ex.previous
	}
	if ex.previous != nil {
		ex.previous.next = ex.next
	} else {
		f.first = ex.next
	}
	return f.admit()
}

// admit gives a place that has become free to the first in the line, and returns it, nil if there is none.
func (f *flight) admit() *exchange {
	ex := f.line.head()
	if ex == nil || f.placed >= f.max {
		return nil
	}
	f.line.leave(ex)
	f.enter(ex)
	return ex
}

// find returns the exchange of a request that is active.
func (f *flight) find(id int64) *exchange {
	for ex := f.first; ex != nil; ex = ex.next {
		if ex.m.Kind == Request && ex.m.ID == id && !ex.settled {
			return ex
		}
	}
	return nil
}

// stop ends all exchanges of session s, those in the line included.
func (f *flight) stop(s *session) {
	for ex := f.first; ex != nil; ex = ex.next {
		if ex.session == s {
			ex.stop()
		}
	}
	f.dismiss(s)
}

// dismiss ends the requests in the line that belong to session s, or all if s is nil. The server has not seen them.
func (f *flight) dismiss(s *session) {
	for ex := f.line.head(); ex != nil; {
		next := ex.next
		if s == nil || ex.session == s {
			f.discard(ex)
		}
		ex = next
	}
}

// discard ends a request in the line.
func (f *flight) discard(ex *exchange) {
	f.line.leave(ex)
	ex.stop()
	ex.conn.tasks.Done()
}

// isIdle reports whether no exchange is active and none waits.
func (f *flight) isIdle() bool { return f.active == 0 && f.line.head() == nil }

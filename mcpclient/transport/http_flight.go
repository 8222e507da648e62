package transport

// maxInFlight is the default of [HTTP.MaxInFlight].
const maxInFlight = 1024

// flight holds the running exchanges of a connection, and the line of requests that wait for a place. There are max
// places. Each running request for which takesPlace is true occupies one of them. A flight assigns places but runs
// nothing. Callers hold httpConn.mu, which guards it.
type flight struct {
	first   *exchange // list of the running exchanges, the latest first
	max     int32     // maximum of placed, and of notices
	placed  int32     // running exchanges that occupy one of the max places
	active  int32     // running exchanges that are not settled
	notices int32     // active exchanges of notifications and responses
	line    *line     // requests that wait for a place; nil before the first
}

// isFull reports whether m can neither start now nor join the line. Notifications and responses do not wait behind
// requests, because the server may need them to answer those requests.
func (f *flight) isFull(m *Message, limit int) bool {
	if m.Kind != KindRequest {
		return f.notices >= f.max
	}
	return f.mustWait(m) && !f.line.isFree(len(m.Data), limit)
}

// mustWait reports whether m needs a place and all places are occupied.
func (f *flight) mustWait(m *Message) bool { return takesPlace(m) && f.placed >= f.max }

// queue adds ex to the line.
func (f *flight) queue(ex *exchange) {
	if f.line == nil {
		f.line = new(line)
	}
	f.line.join(ex)
}

// enter adds ex to the running exchanges.
func (f *flight) enter(ex *exchange) {
	if ex.next = f.first; ex.next != nil {
		ex.next.previous = ex
	}
	f.first = ex
	f.active++
	if takesPlace(&ex.m) {
		f.placed++
	}
	if ex.m.Kind != KindRequest {
		f.notices++
	}
}

// settle marks ex as no longer active, so it cannot be cancelled any more. It is idempotent.
func (f *flight) settle(ex *exchange) {
	if ex.settled {
		return
	}
	ex.settled = true
	f.active--
	if ex.m.Kind != KindRequest {
		f.notices--
	}
}

// remove removes ex from the running exchanges, and frees its place. ex must be settled. If a request waits for a
// place, remove gives it the place and returns its exchange, which the caller must run. Otherwise it returns nil.
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

// admit assigns a free place to the first exchange in line, moves the exchange to the running exchanges, and returns
// it. It returns nil if no place is free or no exchange waits.
func (f *flight) admit() *exchange {
	ex := f.line.head()
	if ex == nil || f.placed >= f.max {
		return nil
	}
	f.line.leave(ex)
	f.enter(ex)
	return ex
}

// find returns the exchange of an active request, nil if there is none.
func (f *flight) find(id int64) *exchange {
	for ex := f.first; ex != nil; ex = ex.next {
		if ex.m.Kind == KindRequest && ex.m.ID == id && !ex.settled {
			return ex
		}
	}
	return nil
}

// stop ends all exchanges of session s, including the waiting ones.
func (f *flight) stop(s *session) {
	for ex := f.first; ex != nil; ex = ex.next {
		if ex.session == s {
			ex.stop()
		}
	}
	f.dismiss(s)
}

// dismiss ends the waiting requests of session s, or of all sessions if s is nil. The server has not seen them.
func (f *flight) dismiss(s *session) {
	for ex := f.line.head(); ex != nil; {
		next := ex.next
		if s == nil || ex.session == s {
			f.discard(ex)
		}
		ex = next
	}
}

// discard ends a waiting request.
func (f *flight) discard(ex *exchange) {
	f.line.leave(ex)
	ex.stop()
	ex.conn.tasks.Done()
}

// isIdle reports whether no exchange is active or waiting.
func (f *flight) isIdle() bool { return f.active == 0 && f.line.head() == nil }

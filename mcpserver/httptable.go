package mcpserver

import (
	"container/list"
	"sync"
)

// sessions are those of an HTTP handler. A session takes a place from before it is opened. One to which the client has not
// come back since is a newcomer: it costs an attacker no more than one request, so it gives way when its place is needed.
type sessions struct {
	mu        sync.Mutex
	byID      map[string]*httpSession // guarded by mu; nil for one that is being opened
	places    shares                  // guarded by mu
	newcomers list.List               // guarded by mu; of *httpSession, the oldest first
	closed    bool                    // guarded by mu
}

// reserve takes the place of a session, false if there is none. If it was that of a newcomer, that session is to be ended.
func (t *sessions) reserve(id string, who account) (evicted *httpSession, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, false
	}
	if evicted, ok = t.place(who); ok {
		t.byID[id] = nil
		t.places.take(who, 1)
	}
	return evicted, ok
}

// place sees to it that there is a place for an account, if need be that of a newcomer: of the same account if it has one, so
// that what one does is at its own expense. Otherwise newcomers count as places that are free. mu is held.
func (t *sessions) place(who account) (evicted *httpSession, ok bool) {
	if t.places.affords(who, 1) {
		return nil, true
	}
	for e := t.newcomers.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*httpSession); who != (account{}) && s.who == who {
			t.drop(s)
			return s, true
		}
	}
	if !t.places.fair(who, 1, t.places.free()+t.newcomers.Len()) {
		return nil, false
	}
	if oldest := t.newcomers.Front(); t.places.free() == 0 && oldest != nil {
		evicted = oldest.Value.(*httpSession)
		t.drop(evicted)
	}
	return evicted, t.places.free() > 0
}

// open makes a session known whose place is reserved, unless no more are let in.
func (t *sessions) open(s *httpSession) (ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.byID[s.id] = s
		s.newcomer = t.newcomers.PushBack(s)
	}
	return !t.closed
}

// attach returns the session with that id, held: what fresh returns if there is none, and nil if there is no place. If it took
// that of a newcomer, that session is to be ended.
func (t *sessions) attach(
	id string, who account, fresh func() *httpSession,
) (s *httpSession, isFresh bool, evicted *httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s = t.byID[id]
	switch {
	case t.closed:
		return nil, false, nil
	case s != nil && s.hold():
		t.meet(s)
		return s, false, nil
	case s != nil:
		t.drop(s)
	}
	evicted, ok := t.place(who)
	if !ok {
		return nil, false, evicted
	}
	t.places.take(who, 1)
	s = fresh()
	t.byID[id] = s
	return s, true, evicted
}

// known returns a session, nil if there is none with that id.
func (t *sessions) known(id string) *httpSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id]
}

// all returns the sessions that are open.
func (t *sessions) all() (open []*httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.byID {
		if s != nil {
			open = append(open, s)
		}
	}
	return open
}

// find returns a session, held, nil if the principal has none with that id. It is no newcomer any more.
func (t *sessions) find(id, principal string, sse bool) *httpSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.byID[id]
	if s == nil || s.principal != principal || sse != (s.channel != nil) || !s.hold() {
		return nil
	}
	t.meet(s)
	return s
}

// remove forgets a session, or that its place was reserved.
func (t *sessions) remove(s *httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now, ok := t.byID[s.id]; ok && (now == s || now == nil) {
		t.drop(s)
	}
}

// drop takes a session off the table, which has it. mu is held.
func (t *sessions) drop(s *httpSession) {
	delete(t.byID, s.id)
	t.places.give(s.who, 1)
	t.meet(s)
}

// greet is meet for a session whose client has come back by way of another process.
func (t *sessions) greet(s *httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.meet(s)
}

// meet says that a session is no newcomer any more. mu is held.
func (t *sessions) meet(s *httpSession) {
	if s.newcomer != nil {
		t.newcomers.Remove(s.newcomer)
		s.newcomer = nil
	}
}

// close lets no more sessions in and returns those that are open.
func (t *sessions) close() (open []*httpSession) {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	return t.all()
}

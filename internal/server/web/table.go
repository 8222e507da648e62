package web

import (
	"container/list"
	"sync"

	"github.com/mcpotel/mcpotel/internal/server/quota"
)

// sessions are those of an HTTP handler. A session takes a place from before it is opened, and memory from its
// introduction on. One to which the client has not come back since is a newcomer: it costs an attacker no more than one
// request, so it gives way when its place or its memory is needed.
type sessions struct {
	mu            sync.Mutex
	byID          map[string]*session // guarded by mu; nil for one that is being opened
	places        quota.Shares        // guarded by mu
	introductions quota.Shares        // guarded by mu; the memory of what clients say about themselves, in bytes
	newcomers     list.List           // guarded by mu; of *session, the oldest first
	closed        bool                // guarded by mu
}

// reserve takes the place of a session, false if there is none. Newcomers that gave way are to be ended.
func (t *sessions) reserve(id string, who quota.Account) (evicted []*session, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, false
	}
	if evicted, ok = t.clear(&t.places, who, 1, onePlace); ok {
		t.byID[id] = nil
		t.places.Reserve(who, 1)
	}
	return evicted, ok
}

// introduce takes memory for the introduction of a session, in place of what it had, false if there is none. Newcomers
// that gave way are to be ended.
func (t *sessions) introduce(s *session, bytes int) (evicted []*session, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.has(s) {
		return nil, false
	}
	t.introductions.Release(s.conn.Account(), s.weight)
	if s.weight = 0; bytes == 0 {
		return nil, true
	}
	if evicted, ok = t.clear(&t.introductions, s.conn.Account(), bytes, weightOfSession); ok {
		t.introductions.Reserve(s.conn.Account(), bytes)
		s.weight = bytes
	}
	return evicted, ok
}

// What a session takes of places and of introductions.
func onePlace(*session) int          { return 1 }
func weightOfSession(s *session) int { return s.weight } // sessions.mu is held

// clear sees to it that an account may take n of what sessions share, if need be by taking newcomers off the table, the
// oldest first: those of the same account, so that what one does is at its own expense. Otherwise newcomers count as
// free. If that is not enough, none gives way. mu is held.
func (t *sessions) clear(
	of *quota.Shares, who quota.Account, n int, takes func(*session) int,
) (evicted []*session, ok bool) {
	freed, others := 0, 0
	enough := func() bool { return freed >= n || of.AffordsWithout(who, n, freed) }
	for e := t.newcomers.Front(); e != nil && !enough(); e = e.Next() {
		s := e.Value.(*session)
		switch has := takes(s); {
		case has == 0:
		case who != (quota.Account{}) && s.conn.Account() == who:
			evicted = append(evicted, s)
			freed += has
		default:
			others += has
		}
	}
	if !enough() {
		if left := of.Free() + freed + others; n > left || !of.Fair(who, n, freed, left) {
			return nil, false
		}
		for e := t.newcomers.Front(); n > of.Free()+freed; e = e.Next() {
			if s := e.Value.(*session); takes(s) > 0 && (s.conn.Account() != who || who == (quota.Account{})) {
				evicted = append(evicted, s)
				freed += takes(s)
			}
		}
	}
	for _, s := range evicted {
		t.drop(s)
	}
	return evicted, true
}

// open makes a session known whose place is reserved, unless no more are let in.
func (t *sessions) open(s *session) (ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.byID[s.id] = s
		s.newcomer = t.newcomers.PushBack(s)
	}
	return !t.closed
}

// attach returns the session with that id, held: what fresh returns if there is none, and nil if there is no place.
// Newcomers that gave way are to be ended.
func (t *sessions) attach(
	id string, who quota.Account, fresh func() *session,
) (s *session, isFresh bool, evicted []*session) {
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
	evicted, ok := t.clear(&t.places, who, 1, onePlace)
	if !ok {
		return nil, false, evicted
	}
	t.places.Reserve(who, 1)
	s = fresh()
	t.byID[id] = s
	return s, true, evicted
}

// known returns a session, nil if there is none with that id.
func (t *sessions) known(id string) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id]
}

// all returns the sessions that are open.
func (t *sessions) all() (open []*session) {
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
func (t *sessions) find(id, principal string, sse bool) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.byID[id]
	if s == nil || s.conn.Principal() != principal || sse != (s.channel != nil) || !s.hold() {
		return nil
	}
	t.meet(s)
	return s
}

// remove forgets a session, or that its place was reserved.
func (t *sessions) remove(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.has(s) {
		t.drop(s)
	}
}

// has reports whether a session is on the table, or its place is reserved. mu is held.
func (t *sessions) has(s *session) bool {
	now, ok := t.byID[s.id]
	return ok && (now == s || now == nil)
}

// drop takes a session off the table, which has it. mu is held.
func (t *sessions) drop(s *session) {
	delete(t.byID, s.id)
	t.places.Release(s.conn.Account(), 1)
	t.introductions.Release(s.conn.Account(), s.weight)
	s.weight = 0
	t.meet(s)
}

// greet is meet for a session whose client has come back by way of another process.
func (t *sessions) greet(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.meet(s)
}

// meet says that a session is no newcomer any more. mu is held.
func (t *sessions) meet(s *session) {
	if s.newcomer != nil {
		t.newcomers.Remove(s.newcomer)
		s.newcomer = nil
	}
}

// close lets no more sessions in and returns those that are open.
func (t *sessions) close() (open []*session) {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	return t.all()
}

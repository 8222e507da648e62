package web

import (
	"container/list"
	"sync"

	"github.com/mcpotel/mcpotel/internal/server/quota"
)

// sessions is the table of an HTTP handler's sessions. It limits two resources: the number of sessions, and the memory
// for the introductions of clients. A session occupies one place, from before its opening until its end. Its
// introduction, the clientInfo and capabilities in its initialize request, occupies memory.
//
// A session is a newcomer until its client sends a second request. A newcomer costs an attacker only one request, so
// the table evicts newcomers when another session needs their place or memory.
type sessions struct {
	mu            sync.Mutex
	byID          map[string]*session // guarded by mu; nil while the session is being opened
	places        quota.Shares        // guarded by mu; one place for each session
	introductions quota.Shares        // guarded by mu; memory of client introductions, in bytes
	newcomers     list.List           // guarded by mu; of *session, oldest first
	closed        bool                // guarded by mu
}

// reserve reserves a place for a session. ok is false if no place is free or the table is closed. The caller must end
// the evicted newcomers.
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

// introduce reserves memory for the introduction of a session, and releases the memory that the session has reserved
// before. ok is false if there is not enough memory. The caller must end the evicted newcomers.
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

// onePlace returns how many places a session occupies: one. It is an argument of clear, like weightOfSession.
func onePlace(*session) int { return 1 }

// weightOfSession returns how much memory the introduction of a session occupies, in bytes. sessions.mu must be held.
func weightOfSession(s *session) int { return s.weight }

// clear makes room for n more units of a resource, places or bytes, for an account. The parameter of is the quota of
// the resource, and takes returns how many units a session occupies. If necessary, clear removes newcomers from the
// table, oldest first. It removes newcomers of the same account first, so that an account pays for its own sessions.
// The account's share is computed as if the newcomers of other accounts were already removed. If removing newcomers
// cannot free enough, clear removes none. mu is held.
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

// open publishes a session with a reserved place. It reports false if the table is closed.
func (t *sessions) open(s *session) (ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.byID[s.id] = s
		s.newcomer = t.newcomers.PushBack(s)
	}
	return !t.closed
}

// attach returns the session with this id, held. If there is none, attach adds the result of fresh. attach returns nil
// if no place is free or the table is closed. The caller must end the evicted newcomers.
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

// known returns the session with this id, or nil.
func (t *sessions) known(id string) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id]
}

// all returns the open sessions.
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

// find returns the principal's session with this id, held, or nil. The session is no longer a newcomer.
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

// remove removes a session from the table, or releases its reserved place.
func (t *sessions) remove(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.has(s) {
		t.drop(s)
	}
}

// has reports whether a session is in the table or has a reserved place. mu is held.
func (t *sessions) has(s *session) bool {
	now, ok := t.byID[s.id]
	return ok && (now == s || now == nil)
}

// drop removes a session from the table. The session must be in the table; mu is held.
func (t *sessions) drop(s *session) {
	delete(t.byID, s.id)
	t.places.Release(s.conn.Account(), 1)
	t.introductions.Release(s.conn.Account(), s.weight)
	s.weight = 0
	t.meet(s)
}

// greet records that a session is not a newcomer, because its client has sent a request through another process.
func (t *sessions) greet(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.meet(s)
}

// meet records that a session is not a newcomer. mu is held.
func (t *sessions) meet(s *session) {
	if s.newcomer != nil {
		t.newcomers.Remove(s.newcomer)
		s.newcomer = nil
	}
}

// close rejects new sessions and returns the open ones.
func (t *sessions) close() (open []*session) {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	return t.all()
}

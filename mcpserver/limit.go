package mcpserver

import (
	"slices"
	"sync"
	"time"
)

// limiter bounds how many requests are handled at once, over all connections and sessions of a server, and sees to it
// that none of these takes what others need. A nil limiter lets everything in.
//
// A connection may take as many places as there are, until one that holds none finds all taken. For a while after that,
// those that hold more than their share get no more, and give theirs back as their requests are answered. Those with
// requests that wait for a place are told when there may be one.
type limiter struct {
	limit int

	mu      sync.Mutex
	used    int         // guarded by mu
	holders int         // guarded by mu; connections that hold a place, and requests that have no connection
	scarce  time.Time   // guarded by mu; until then, no connection gets more than a share; zero if places are not scarce
	over    *time.Timer // guarded by mu; fires then; nil before the first time
	hungry  []*calls    // guarded by mu; that have requests which wait for a place, in the order in which they found none
}

// scarcity is how long a place is kept for a connection, or a request without one, that found none: as
// long as it takes to ask again.
const scarcity = 2 * time.Second

func newLimiter(limit int) *limiter {
	if limit == 0 {
		return nil
	}
	return &limiter{limit: limit}
}

// take takes a place for a connection that holds some already, and reports whether there was one.
func (l *limiter) take(held int) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.used >= l.limit:
		if held == 0 {
			l.beScarce()
		}
		return false
	case held > 0 && !l.affords(held+1):
		return false
	}
	l.used++
	if held == 0 {
		l.holders++
	}
	return true
}

// takeFor takes a place for a request that waits in t, which holds some already. If there is none, t is told later.
func (l *limiter) takeFor(t *calls, held int) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used < l.limit && l.affords(held+1) {
		l.used++
		return true
	}
	if !slices.Contains(l.hungry, t) {
		l.hungry = append(l.hungry, t)
	}
	return false
}

// feed lets requests begin that wait for a place, while there are any. It is to be called after places were given back,
// with no lock held.
func (l *limiter) feed() {
	if l == nil {
		return
	}
	l.mu.Lock()
	left := len(l.hungry) // those who get nothing are hungry again
	l.mu.Unlock()
	for ; left > 0; left-- {
		l.mu.Lock()
		if l.used >= l.limit || len(l.hungry) == 0 {
			l.mu.Unlock()
			return
		}
		t := l.hungry[0]
		l.hungry = slices.Delete(l.hungry, 0, 1)
		l.mu.Unlock()
		t.eat()
	}
}

// forget says that nothing waits in t any more.
func (l *limiter) forget(t *calls) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hungry = slices.DeleteFunc(l.hungry, func(other *calls) bool { return other == t })
}

// beScarce keeps a place for a connection, or a request without one, that found none. mu is held.
func (l *limiter) beScarce() {
	l.scarce = time.Now().Add(scarcity)
	if l.over == nil {
		l.over = time.AfterFunc(scarcity, l.feed)
	} else {
		l.over.Reset(scarcity)
	}
}

// affords reports whether a connection may hold that many places for now. mu is held.
func (l *limiter) affords(places int) bool {
	if l.scarce.IsZero() {
		return true
	}
	if !time.Now().Before(l.scarce) {
		l.scarce = time.Time{}
		return true
	}
	return places <= max(1, l.limit/(l.holders+1))
}

// keep reports whether a connection that holds so many places, one of which it does not need any more, may use that one
// again. If not, it has been given back.
func (l *limiter) keep(held int) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if held == 1 || l.affords(held) {
		return true
	}
	l.used--
	return false
}

// give gives back one of the places that a connection holds.
func (l *limiter) give(held int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used--
	if held == 1 {
		l.holders--
	}
}

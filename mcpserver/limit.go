package mcpserver

import (
	"sync"
	"time"
)

// limiter bounds how many requests are handled at once, over all connections and sessions of a server, and sees to it
// that none of these takes what others need. A nil limiter lets everything in.
//
// A connection may take as many places as there are, until somebody else finds none. For a while after that, those that
// hold more than their share get no more, and give theirs back as their requests are answered.
type limiter struct {
	limit int

	mu      sync.Mutex
	used    int       // guarded by mu
	holders int       // guarded by mu; connections that hold a place, and requests that have no connection
	scarce  time.Time // guarded by mu; until then, nobody gets more than a share; zero if nobody wants for a place
}

// scarcity is how long a place is kept for somebody who found none: as long as it takes to ask again.
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
			l.scarce = time.Now().Add(scarcity)
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

// affords reports whether a connection may hold that many places for now. mu is held.
func (l *limiter) affords(places int) bool {
	if l.scarce.IsZero() {
		return true
	}
	if time.Now().After(l.scarce) {
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

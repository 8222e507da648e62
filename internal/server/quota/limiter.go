package quota

import (
	"slices"
	"sync"
	"time"
)

// Limiter limits how many requests a server handles at once, over all its connections and sessions. Each running
// request holds a place. A nil limiter has no limit.
//
// A connection may hold all places until another connection without a place asks for one in vain. For 2 seconds after
// that, a connection that holds more than its share gets no more places, and loses places as its requests are answered.
// The limiter starts waiting requests when places become free.
type Limiter struct {
	limit int

	mu          sync.Mutex
	used        int         // guarded by mu
	holders     int         // guarded by mu; connections that hold a place, and requests without a connection
	scarce      time.Time   // guarded by mu; no connection gets more than its share until then; zero for no such limit
	scarceTimer *time.Timer // guarded by mu; fires at scarce; nil before the first time
	waiting     []waiter    // guarded by mu; longest wait first
}

// waiter is a connection with requests that wait for a place.
type waiter interface {
	// StartWaiting starts as many waiting requests as there are free places.
	StartWaiting()
}

// scarcity is how long the limiter reserves a place after a connection, or a request without a connection, found none.
// The client has this time to send the request again.
const scarcity = 2 * time.Second

// NewLimiter returns a limiter with limit places, or nil if limit is zero.
func NewLimiter(limit int) *Limiter {
	if limit == 0 {
		return nil
	}
	return &Limiter{limit: limit}
}

// Acquire takes a place for a connection. held is the number of places that the connection already has. Acquire reports
// false if the connection gets no place.
func (l *Limiter) Acquire(held int) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.used >= l.limit:
		if held == 0 {
			l.keepForNext()
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

// AcquireFor is like Acquire, for a request that waits in t. held is the number of places that t already has. If there
// is no free place, the limiter calls t.StartWaiting later.
func (l *Limiter) AcquireFor(t waiter, held int) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used < l.limit && l.affords(held+1) {
		l.used++
		return true
	}
	if !slices.Contains(l.waiting, t) {
		l.waiting = append(l.waiting, t)
	}
	return false
}

// StartWaiting starts waiting requests while there are free places. The caller has released places, and holds no lock.
func (l *Limiter) StartWaiting() {
	if l == nil {
		return
	}
	l.mu.Lock()
	left := len(l.waiting) // waiters that get no place are added again
	l.mu.Unlock()
	for ; left > 0; left-- {
		l.mu.Lock()
		if l.used >= l.limit || len(l.waiting) == 0 {
			l.mu.Unlock()
			return
		}
		t := l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		l.mu.Unlock()
		t.StartWaiting()
	}
}

// Forget removes t from the waiters.
func (l *Limiter) Forget(t waiter) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(other waiter) bool { return other == t })
}

// keepForNext reserves a place for a connection, or a request without a connection, that found none. mu is held.
func (l *Limiter) keepForNext() {
	l.scarce = time.Now().Add(scarcity)
	if l.scarceTimer == nil {
		l.scarceTimer = time.AfterFunc(scarcity, l.StartWaiting)
	} else {
		l.scarceTimer.Reset(scarcity)
	}
}

// affords reports whether a connection may now hold this number of places. mu is held.
func (l *Limiter) affords(places int) bool {
	if l.scarce.IsZero() {
		return true
	}
	if !time.Now().Before(l.scarce) {
		l.scarce = time.Time{}
		return true
	}
	return places <= max(1, l.limit/(l.holders+1))
}

// Keep reports whether a connection may reuse one of its places for its next request. held is the number of these
// places. If Keep reports false, it has released the place.
func (l *Limiter) Keep(held int) bool {
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

// Release releases one place of a connection. held is the number of its places before the release.
func (l *Limiter) Release(held int) {
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

// Usage returns how many places are in use. A nil limiter has none.
func (l *Limiter) Usage() Places {
	if l == nil {
		return Places{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return Places{
		Used: l.used, Limit: l.limit, Holders: l.holders, Waiting: len(l.waiting), Scarce: time.Now().Before(l.scarce),
	}
}

// Places describes how many places of a limiter are in use.
type Places struct {
	Used    int
	Limit   int
	Holders int  // connections that hold a place, and requests without a connection
	Waiting int  // connections with requests that wait for a place
	Scarce  bool // no connection gets more than its share
}

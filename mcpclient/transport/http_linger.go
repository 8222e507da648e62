package transport

import (
	"sync"
	"time"
)

// lingerWait is how long a stream whose answer has been delivered may take to end by itself, twice that at most. If it
// does, its network connection can be used again.
const lingerWait = 250 * time.Millisecond

// lingerBriefly is the same while requests wait for a place: long enough for a server that ends its streams, which need
// no new network connection then.
const lingerBriefly = 10 * time.Millisecond

// lingering are the exchanges whose stream has no more to say. They share a timer: one of their own for each would cost
// as much as the rest. Each has a network connection and a goroutine, so each keeps its place of MaxInFlight until it
// is over.
type lingering struct {
	mu         sync.Mutex
	old, young map[*exchange]struct{} // from before the last sweep, and since
	sweeps     *time.Timer
}

// add gives ex some time to end.
func (l *lingering) add(ex *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.young == nil {
		l.young = make(map[*exchange]struct{})
	}
	l.young[ex] = struct{}{}
	if l.sweeps == nil {
		l.sweeps = time.AfterFunc(lingerWait, l.sweep)
	}
}

// remove says that ex has ended.
func (l *lingering) remove(ex *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.young, ex)
	delete(l.old, ex)
}

// cut ends one of them if there are any, the older ones first: its place is needed.
func (l *lingering) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, some := range []map[*exchange]struct{}{l.old, l.young} {
		for ex := range some {
			ex.stop()
			delete(some, ex)
			return
		}
	}
}

// sweep ends what was there at the last sweep.
func (l *lingering) sweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ex := range l.old {
		ex.stop()
	}
	clear(l.old)
	l.old, l.young = l.young, l.old
	if l.sweeps = nil; len(l.old) > 0 {
		l.sweeps = time.AfterFunc(lingerWait, l.sweep)
	}
}

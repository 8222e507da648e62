package transport

import (
	"sync"
	"time"
)

// lingerWait is how long a stream whose answer has been delivered may take to end by itself, twice that at most. If it does,
// its network connection can be used again.
const lingerWait = 250 * time.Millisecond

// lingering are the exchanges whose stream has no more to say. They share a timer: one of their own for each would cost as
// much as the rest.
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

// stop ends those of a session.
func (l *lingering) stop(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, all := range []map[*exchange]struct{}{l.old, l.young} {
		for ex := range all {
			if ex.session == s {
				ex.stop()
			}
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

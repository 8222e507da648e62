package transport

import (
	"sync"
	"time"
)

// lingerWait is the minimum time for which a stream may stay open after it has delivered its answer; the maximum is
// twice that time. If the stream ends by itself in that time, its network connection can be reused.
const lingerWait = 250 * time.Millisecond

// lingerBriefly replaces lingerWait while requests wait for a place. It is long enough for servers that end their
// streams, so that those connections can still be reused.
const lingerBriefly = 10 * time.Millisecond

// lingering holds the exchanges that have delivered their answer and wait for the end of their stream. They share
// one timer, because a timer for each exchange would double the cost. Each exchange has a network connection and a
// goroutine, so it keeps its place in MaxInFlight until it is over.
type lingering struct {
	mu         sync.Mutex
	old, young map[*exchange]struct{} // added before and after the last sweep
	sweeps     *time.Timer
}

// add adds ex. A sweep stops ex after one to two times lingerWait.
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

// remove removes ex after its stream has ended.
func (l *lingering) remove(ex *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.young, ex)
	delete(l.old, ex)
}

// cut stops one exchange, if there is any, because its place is needed. It prefers those that were added before the
// last sweep.
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

// sweep stops the exchanges that already lingered at the last sweep.
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

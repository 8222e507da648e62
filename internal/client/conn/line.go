package conn

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"
)

// RoomEvery is the interval at which the client tries to send the first message in the line.
const RoomEvery = 10 * time.Millisecond

// line queues the messages of a connection while the transport is busy, first in, first out. Only the goroutine of the
// first message tries to send. So no other message overtakes the first, even if the first frame is the largest. That
// goroutine polls, because a transport does not report when it has room again. Each waiting goroutine has one place,
// and owns the memory of its frame.
type line struct {
	length atomic.Int32 // number of waiting places

	mu      sync.Mutex
	waiting *list.List // contains *place values; nil before the first; guarded by mu
}

// place is one message's place in a line.
type place struct {
	at    *list.Element // guarded by the line's mu
	first chan struct{} // closed when the message becomes the first in the line
}

// empty reports whether no message waits.
func (l *line) empty() bool { return l.length.Load() == 0 }

// enter appends a place to the line.
func (l *line) enter() *place {
	p := &place{first: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting = list.New()
	}
	p.at = l.waiting.PushBack(p)
	l.length.Add(1)
	if l.waiting.Len() == 1 {
		close(p.first)
	}
	return p
}

// leave removes a place. If another place is now the first, leave wakes the goroutine of that place. p may be nil.
func (l *line) leave(p *place) {
	if p == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	wasFirst := l.waiting.Front() == p.at
	l.waiting.Remove(p.at)
	l.length.Add(-1)
	if next := l.waiting.Front(); wasFirst && next != nil {
		close(next.Value.(*place).first)
	}
}

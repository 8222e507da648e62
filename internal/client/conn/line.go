package conn

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"
)

// RoomEvery is how often the first in line looks whether there is room.
const RoomEvery = 10 * time.Millisecond

// line is where the messages of a connection wait for room in a transport that is busy, first come, first served. Only
// the first tries to send, even if its frame is the largest, so no other overtakes it. A transport says no more than
// that it is busy, so the first looks again and again. Each place belongs to a goroutine, which brings the memory for
// its frame.
type line struct {
	length atomic.Int32 // of waiting

	mu      sync.Mutex
	waiting *list.List // guarded by mu; of *place; nil before the first
}

// place is one message's place in a line.
type place struct {
	at    *list.Element // guarded by the line's mu
	first chan struct{} // closed when the message is the first
}

// empty reports whether no message waits.
func (l *line) empty() bool { return l.length.Load() == 0 }

// enter takes the last place.
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

// leave gives up a place, and tells the next if it was the first. A nil place is none.
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

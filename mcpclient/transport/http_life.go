package transport

import (
	"context"
	"sync"
	"time"
)

// life is the time that an exchange has, as a context without values. One that the standard library makes would need a
// map for what net/http derives from it, and a place in that of a parent, for every request.
type life struct {
	done chan struct{} // closed when it has ended

	mu     sync.Mutex
	number int32            // guarded by mu; of what AfterFunc was given last
	first  int32            // guarded by mu; of after
	after  func()           // guarded by mu; called when it ends, nil for nothing: net/http derives one context
	more   map[int32]func() // guarded by mu; what else is called, by number
}

func (l *life) begin() { l.done = make(chan struct{}) }

// stop ends it.
func (l *life) stop() {
	after, more := l.end()
	if after != nil {
		after()
	}
	for _, f := range more {
		f()
	}
}

// end returns what is to be called, once.
func (l *life) end() (after func(), more map[int32]func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Err() == nil {
		close(l.done)
	}
	after, more = l.after, l.more
	l.after, l.more = nil, nil
	return after, more
}

// AfterFunc is how package context learns of the end without a goroutine that waits for it. What it gives returns at
// once.
func (l *life) AfterFunc(f func()) (stop func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Err() != nil {
		go f() // it needs what the caller holds
		return func() bool { return false }
	}
	l.number++
	n := l.number
	switch {
	case l.after == nil:
		l.after, l.first = f, n
	case l.more == nil:
		l.more = make(map[int32]func())
		fallthrough
	default:
		l.more[n] = f
	}
	return func() bool { return l.forget(n) }
}

// forget takes back what AfterFunc was given, and reports false if it is too late.
func (l *life) forget(number int32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == number && l.after != nil {
		l.after = nil
		return true
	}
	_, ok := l.more[number]
	delete(l.more, number)
	return ok
}

func (l *life) Done() <-chan struct{} { return l.done }

func (l *life) Err() error {
	select {
	case <-l.done:
		return context.Canceled
	default:
		return nil
	}
}

func (l *life) Deadline() (time.Time, bool) { return time.Time{}, false }
func (l *life) Value(any) any               { return nil }

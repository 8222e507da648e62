package transport

import (
	"context"
	"sync"
	"time"
)

// life is the time that an exchange has, as a context without values. One that the standard library makes would need a map
// for what net/http derives from it, and a place in that of a parent, for every request.
type life struct {
	done chan struct{} // closed when it has ended

	mu    sync.Mutex
	ended bool      // guarded by mu
	after []func()  // guarded by mu; called when it ends, but for those that are nil
	room  [1]func() // for after: net/http derives one context
}

func (l *life) begin() {
	l.done = make(chan struct{})
	l.after = l.room[:0]
}

// stop ends it.
func (l *life) stop() {
	for _, f := range l.end() {
		if f != nil {
			f()
		}
	}
}

// end returns what is to be called, once.
func (l *life) end() []func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil
	}
	l.ended = true
	close(l.done)
	after := l.after
	l.after = nil
	return after
}

// AfterFunc is how package context learns of the end without a goroutine that waits for it. What it gives returns at once.
func (l *life) AfterFunc(f func()) (stop func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		go f() // it needs what the caller holds
		return func() bool { return false }
	}
	place := len(l.after)
	l.after = append(l.after, f)
	return func() bool { return l.forget(place) }
}

// forget takes back what AfterFunc was given, and reports false if it is too late.
func (l *life) forget(place int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if place >= len(l.after) || l.after[place] == nil {
		return false
	}
	l.after[place] = nil
	for last := len(l.after) - 1; last >= 0 && l.after[last] == nil; last-- {
		l.after = l.after[:last]
	}
	return true
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

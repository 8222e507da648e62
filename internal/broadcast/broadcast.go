// Package broadcast wakes all goroutines that wait for a change, each of which then looks for itself what has changed.
package broadcast

import (
	"context"
	"sync"
)

// Signal is sent at each change to all that wait for the next one. The zero Signal is ready to be used. It has no lock
// of its own: it is guarded by the mutex that guards what changes, so that no change falls between a look and the wait.
type Signal struct {
	next chan struct{} // nil as long as no goroutine waits, which makes Send free
}

// Next returns a channel that the next Send closes.
func (s *Signal) Next() <-chan struct{} {
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

// Send wakes all that wait.
func (s *Signal) Send() {
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}

// Await waits until done reports true, which it asks at once, at each Send and when ctx has ended; then it returns the
// cause of ctx. mu is the mutex that guards s; done is called with it held, and it is not held otherwise.
func (s *Signal) Await(ctx context.Context, mu *sync.Mutex, done func() bool) error {
	for {
		next, ok := s.look(mu, done)
		if ok {
			return nil
		}
		select {
		case <-next:
			continue
		case <-ctx.Done():
		}
		if _, ok = s.look(mu, done); ok {
			return nil
		}
		return context.Cause(ctx)
	}
}

// look asks done, and returns the next change to wait for if that reports false.
func (s *Signal) look(mu *sync.Mutex, done func() bool) (next <-chan struct{}, ok bool) {
	mu.Lock()
	defer mu.Unlock()
	if done() {
		return nil, true
	}
	return s.Next(), false
}

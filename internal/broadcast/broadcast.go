// Package broadcast wakes all goroutines that wait for a change. Each then checks the changed state itself.
package broadcast

import (
	"context"
	"sync"
)

// Signal is sent at each change to all goroutines that wait for the next change. The zero Signal is ready to use. It
// has no lock of its own: the mutex of the changing state also guards the Signal, so that no change can happen between
// a check and the wait.
type Signal struct {
	next chan struct{} // nil while no goroutine waits, which makes Send free
}

// Next returns a channel that the next Send closes.
func (s *Signal) Next() <-chan struct{} {
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

// Send wakes all waiting goroutines.
func (s *Signal) Send() {
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}

// Await waits until done reports true. It calls done immediately, after each Send, and once more when ctx has ended; if
// this last call reports false, Await returns the cause of ctx's end. mu is the mutex that guards s; Await holds it
// only while it calls done.
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

// look calls done. If done reports false, look returns the channel for the next change.
func (s *Signal) look(mu *sync.Mutex, done func() bool) (next <-chan struct{}, ok bool) {
	mu.Lock()
	defer mu.Unlock()
	if done() {
		return nil, true
	}
	return s.Next(), false
}

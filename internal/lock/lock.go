// Package lock provides a mutex for operations that may take long, such as a request to a peer: a context can end the
// wait for the mutex. Use sync.Mutex to guard fields.
package lock

import (
	"context"
	"sync/atomic"
)

// Mutex is held by one goroutine at a time, and passed to waiting goroutines in order. The zero Mutex is unlocked; it
// must not be copied.
type Mutex struct {
	// held is a channel with a buffer of one, which is full while the Mutex is locked. The first caller creates it.
	held atomic.Pointer[chan struct{}]
}

func (m *Mutex) hold() chan struct{} {
	if held := m.held.Load(); held != nil {
		return *held
	}
	m.held.CompareAndSwap(nil, new(make(chan struct{}, 1)))
	return *m.held.Load()
}

// Lock locks the Mutex, and waits for it without a limit.
func (m *Mutex) Lock() { m.hold() <- struct{}{} }

// LockContext locks the Mutex. If ctx ends while it waits, LockContext returns the cause. It locks an unlocked Mutex
// even if ctx has ended.
func (m *Mutex) LockContext(ctx context.Context) error {
	held := m.hold()
	select {
	case held <- struct{}{}:
		return nil
	default:
	}
	select {
	case held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Unlock unlocks the Mutex, which the caller must hold.
func (m *Mutex) Unlock() { <-*m.held.Load() }

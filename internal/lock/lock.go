// Package lock has a mutex for what may take long, such as asking a peer: waiting for it ends with a context. For
// fields, sync.Mutex is the right one.
package lock

import (
	"context"
	"sync/atomic"
)

// Mutex is held by one goroutine at a time, and given to those that wait in their order. The zero Mutex is free; it
// must not be copied.
type Mutex struct {
	// held is a channel of one element, which is there while the Mutex is held. The first that asks makes it.
	held atomic.Pointer[chan struct{}]
}

func (m *Mutex) hold() chan struct{} {
	if held := m.held.Load(); held != nil {
		return *held
	}
	m.held.CompareAndSwap(nil, new(make(chan struct{}, 1)))
	return *m.held.Load()
}

// Lock waits until the Mutex is free, however long that takes.
func (m *Mutex) Lock() { m.hold() <- struct{}{} }

// LockContext waits until the Mutex is free or ctx ends, and then returns the cause. A Mutex that is free is taken even
// if ctx has ended.
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

// Unlock frees the Mutex, which the caller holds.
func (m *Mutex) Unlock() { <-*m.held.Load() }

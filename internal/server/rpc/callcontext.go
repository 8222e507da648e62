package rpc

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// InfoKey is the key of what the context of a handler knows of its request.
type InfoKey struct{}

// informed is the context of a call's exchange with what is known of the request. It is the call itself: one of
// [context.WithValue] would be one more allocation.
type informed Call

// Deadline implements [context.Context].
func (c *informed) Deadline() (time.Time, bool) { return c.Exchange.Work.Deadline() }

// Done implements [context.Context].
func (c *informed) Done() <-chan struct{} { return c.Exchange.Work.Done() }

// Err implements [context.Context].
func (c *informed) Err() error { return c.Exchange.Work.Err() }

// Value implements [context.Context].
func (c *informed) Value(key any) any {
	if key == (InfoKey{}) {
		return c.Handler.Value()
	}
	return c.Exchange.Work.Value(key)
}

// endable is a context of [context.WithCancelCause] that is made when it is first waited for: few handlers do. To make
// one, and to take it from its parent again, took six allocations and an eighth of a tiny call on a pipe (one caller,
// one processor, 2026-11). It is a part of the call.
type endable struct {
	parent context.Context // immutable

	made  atomic.Pointer[madeContext] // stored with mu held, once
	ended atomic.Bool                 // stored with mu held

	mu  sync.Mutex
	why error // guarded by mu; why it ended before it was made
}

// madeContext is the context that an endable one stands for.
type madeContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

// end ends the context, unless it has ended.
func (e *endable) end(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch m := e.made.Load(); {
	case m != nil:
		m.cancel(why)
	case e.ended.Load():
	case e.parent.Err() != nil: // of which it has its error and its cause
		e.makeLocked()
	default:
		e.why = why
		e.ended.Store(true)
	}
}

// get returns the context that e stands for.
func (e *endable) get() context.Context {
	if m := e.made.Load(); m != nil {
		return m
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if m := e.made.Load(); m != nil {
		return m
	}
	return e.makeLocked()
}

// makeLocked is get for one that has not been made; mu is held.
func (e *endable) makeLocked() context.Context {
	m := new(madeContext)
	if e.ended.Load() { // before its parent did, if that has
		m.Context, m.cancel = context.WithCancelCause(context.WithoutCancel(e.parent))
		m.cancel(e.why)
	} else {
		m.Context, m.cancel = context.WithCancelCause(e.parent)
	}
	e.made.Store(m)
	return m
}

// Deadline implements [context.Context].
func (e *endable) Deadline() (time.Time, bool) { return e.parent.Deadline() }

// Done implements [context.Context].
func (e *endable) Done() <-chan struct{} { return e.get().Done() }

// Err implements [context.Context].
func (e *endable) Err() error {
	if m := e.made.Load(); m != nil {
		return m.Err()
	}
	if e.ended.Load() {
		return context.Canceled
	}
	return e.parent.Err()
}

// Value implements [context.Context]. The cause of a context is a value, too, and one that has ended has its own.
func (e *endable) Value(key any) any {
	if e.ended.Load() {
		return e.get().Value(key)
	}
	if m := e.made.Load(); m != nil {
		return m.Value(key)
	}
	return e.parent.Value(key)
}

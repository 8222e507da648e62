package conn

import (
	"sync"
	"weak"
)

// Usual shares a value between users with equal values, as long as one of them uses it. It is safe for concurrent
// use; the zero Usual is ready.
type Usual[T any] struct {
	mu     sync.Mutex
	latest weak.Pointer[T] // guarded by mu
}

// Of returns the latest value that it has returned, if that is still in use and equal to v, and otherwise v.
// Neither may be modified afterwards.
func (u *Usual[T]) Of(v *T, same func(latest, v *T) bool) *T {
	u.mu.Lock()
	defer u.mu.Unlock()
	if latest := u.latest.Value(); latest != nil && same(latest, v) {
		return latest
	}
	u.latest = weak.Make(v)
	return v
}

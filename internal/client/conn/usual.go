package conn

import (
	"sync"
	"weak"
)

// Usual lets all users of equal values share one copy, as long as any of them uses the copy. It is safe for concurrent
// use. The zero Usual is ready to use.
type Usual[T any] struct {
	mu     sync.Mutex
	latest weak.Pointer[T] // guarded by mu
}

// Of returns the value that it returned last, if that value is still in use and equal to v. Otherwise it returns v.
// After that, neither value may be modified.
func (u *Usual[T]) Of(v *T, same func(latest, v *T) bool) *T {
	u.mu.Lock()
	defer u.mu.Unlock()
	if latest := u.latest.Value(); latest != nil && same(latest, v) {
		return latest
	}
	u.latest = weak.Make(v)
	return v
}

package mcpserver

import (
	"cmp"
	"slices"
	"sync"
)

// registry holds the entries of one kind that a server offers, by name and in the order in which they were added. It is
// safe for concurrent use.
type registry[T entry] struct {
	mu     sync.RWMutex
	byName map[string]T // guarded by mu
	order  []T          // guarded by mu; sorted by number. It is appended to or replaced, but not changed in place
	last   int64        // guarded by mu; the latest number
}

// entry is an entry of a registry.
type entry interface {
	comparable
	key() string
	number() int64 // position among the entries
	enroll(number int64)
}

// add adds t with the next number, and reports false if its name is taken.
func (r *registry[T]) add(t T) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.byName[t.key()]; taken {
		return false
	}
	if r.byName == nil {
		r.byName = map[string]T{}
	}
	r.last++
	t.enroll(r.last)
	r.byName[t.key()] = t
	r.order = append(r.order, t)
	return true
}

// remove removes entries by name, and reports whether there were any.
func (r *registry[T]) remove(names ...string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.byName)
	for _, name := range names {
		delete(r.byName, name)
	}
	if len(r.byName) == before {
		return false
	}
	r.order = slices.DeleteFunc(slices.Clone(r.order), func(t T) bool { return r.byName[t.key()] != t })
	return true
}

func (r *registry[T]) lookup(name string) (T, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.byName[name]
	return t, ok
}

// find returns the registered name that equals name, which may be part of a frame.
func (r *registry[T]) find(name []byte) (string, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.byName[string(name)]
	if !ok {
		return "", false
	}
	return t.key(), true
}

// after returns up to n entries with numbers above number, and whether there are more.
func (r *registry[T]) after(number int64, n int) (some []T, more bool) {
	r.mu.RLock()
	order := r.order
	r.mu.RUnlock()
	from, _ := slices.BinarySearchFunc(order, number+1, func(t T, n int64) int { return cmp.Compare(t.number(), n) })
	order = order[from:]
	if len(order) > n {
		return order[:n], true
	}
	return order, false
}

// all returns all entries in order. The caller must not change the slice.
func (r *registry[T]) all() []T {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.order
}

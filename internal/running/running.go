// Package running keeps which clients and which servers of the process are at work, for those who want to look at them.
//
// A [Set] is of one kind. It keeps nothing alive: what its user has forgotten without ending it, and nothing else refers to,
// is not in it either.
package running

import (
	"cmp"
	"slices"
	"sync"
	"weak"
)

// Set is those of one kind that are at work. The zero Set is empty; it is safe for concurrent use.
type Set[T any] struct {
	mu    sync.Mutex
	last  uint64                     // guarded by mu; the latest number that was given out
	all   map[uint64]weak.Pointer[T] // guarded by mu; by their numbers
	clean int                        // guarded by mu; how large the set may grow before the forgotten ones are looked for
}

// Number returns a number that nothing of this kind has had in the process, from 1. It is for [Set.Add].
func (s *Set[T]) Number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.last
}

// Add adds v under its number. Adding it again changes nothing.
func (s *Set[T]) Add(number uint64, v *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[uint64]weak.Pointer[T]{}
	}
	if s.all[number] = weak.Make(v); len(s.all) > s.clean {
		s.sweep()
		s.clean = 2*len(s.all) + 16
	}
}

// Remove takes away what has this number, if it is there.
func (s *Set[T]) Remove(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, number)
}

// All returns those in the set, in the order of their numbers.
func (s *Set[T]) All() []*T {
	type numbered struct {
		n uint64
		v *T
	}
	s.mu.Lock()
	s.sweep()
	some := make([]numbered, 0, len(s.all))
	for n, p := range s.all {
		if v := p.Value(); v != nil {
			some = append(some, numbered{n, v})
		}
	}
	s.mu.Unlock()
	slices.SortFunc(some, func(a, b numbered) int { return cmp.Compare(a.n, b.n) })
	all := make([]*T, len(some))
	for i, e := range some {
		all[i] = e.v
	}
	return all
}

// sweep takes away what was forgotten. mu is held.
func (s *Set[T]) sweep() {
	for n, p := range s.all {
		if p.Value() == nil {
			delete(s.all, n)
		}
	}
}

// Package running keeps which clients and which servers of the process are at work, for those who want to look at them.
//
// A [Set] keeps nothing alive: what its user has forgotten without ending it, and nothing else refers to, is not in it
// either.
package running

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/mcpotel/mcpotel/inspect"
)

// Client and Server are what can be looked at, without the code behind it.
type (
	Client interface{ Inspect() inspect.Client }
	Server interface{ Inspect() inspect.Server }
)

// Those of the process.
var (
	Clients Set[Client]
	Servers Set[Server]
)

// watched is true once the process has code that looks at its clients and servers.
var watched atomic.Bool

// Watch says that the clients and servers of the process are looked at from now on, as by a debug page.
func Watch() { watched.Store(true) }

// Watched reports whether [Watch] was called: whether what is there only to be looked at is worth finding out.
func Watched() bool { return watched.Load() }

// Set is those of one kind that are at work. The zero Set is empty; it is safe for concurrent use.
type Set[T any] struct {
	mu   sync.Mutex
	last uint64                           // guarded by mu; the latest number that was given out
	all  map[uint64]func() (v T, ok bool) // guarded by mu; by their numbers. It is not ok if it was forgotten
	// guarded by mu; how large the set may grow before the forgotten ones are looked for
	room int
}

// Number returns a number that nothing of this kind has had in the process, from 1. It is for [Enlist].
func (s *Set[T]) Number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.last
}

// Enlist adds v to a set under its number; *V is a T. Adding it again changes nothing.
func Enlist[V, T any](s *Set[T], number uint64, v *V) {
	p := weak.Make(v)
	s.add(number, func() (T, bool) {
		v := p.Value()
		t, _ := any(v).(T)
		return t, v != nil
	})
}

func (s *Set[T]) add(number uint64, get func() (T, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[uint64]func() (T, bool){}
	}
	if s.all[number] = get; len(s.all) > s.room {
		s.sweep()
		s.room = 2*len(s.all) + 16
	}
}

// Remove takes away what has this number, if it is there.
func (s *Set[T]) Remove(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, number)
}

// All returns those in the set, in the order of their numbers.
func (s *Set[T]) All() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	var all []T
	for _, n := range slices.Sorted(maps.Keys(s.all)) {
		if v, ok := s.all[n](); ok {
			all = append(all, v)
		}
	}
	return all
}

// Ended is how many members have ended or were forgotten.
func (s *Set[T]) Ended() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	return int(s.last) - len(s.all)
}

// sweep takes away what was forgotten. mu is held.
func (s *Set[T]) sweep() {
	for n, get := range s.all {
		if _, ok := get(); !ok {
			delete(s.all, n)
		}
	}
}

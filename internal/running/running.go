// Package running records the active clients and servers of the process, so that inspection pages can show them.
//
// A [Set] keeps nothing alive: a member to which nothing else refers disappears from the Set, even if the user has not
// ended it.
package running

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/mcpotel/mcpotel/inspect"
)

// Client, Server and Member are implemented by clients, servers and members of groups, so that this package does not
// depend on them.
type (
	Client interface{ Inspect() inspect.Client }
	Server interface{ Inspect() inspect.Server }
	Member interface{ Inspect() inspect.Member }
)

// Clients and Servers are the active clients and servers of the process. Members are the members of groups whose clients
// start on demand.
var (
	Clients Set[Client]
	Servers Set[Server]
	Members Set[Member]
)

// watched is true once the process has code that inspects its clients and servers.
var watched atomic.Bool

// Watch records that the process inspects its clients and servers from now on, for example with a debug page.
func Watch() { watched.Store(true) }

// Watched reports whether [Watch] was called. If not, it is not worth collecting information that only inspection uses.
func Watched() bool { return watched.Load() }

// Set is a set of active members of one kind. The zero Set is empty; it is safe for concurrent use.
type Set[T any] struct {
	mu   sync.Mutex
	last uint64                           // guarded by mu; the latest assigned number
	all  map[uint64]func() (v T, ok bool) // guarded by mu; by number; ok is false for a member that was garbage collected
	// guarded by mu; when all has this many members, the next Enlist first removes collected members
	room int
}

// Number returns a new number, unique for this kind in the process, starting with 1. It is for [Enlist].
func (s *Set[T]) Number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.last
}

// Enlist adds v to a set under its number. *V must implement T. Adding v again has no effect.
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

// Remove removes the member with this number, if there is one.
func (s *Set[T]) Remove(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, number)
}

// All returns the members in the order of their numbers.
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

// Ended returns the number of members that have ended or were garbage collected.
func (s *Set[T]) Ended() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	return int(s.last) - len(s.all)
}

// sweep removes the members that were garbage collected. The caller holds mu.
func (s *Set[T]) sweep() {
	for n, get := range s.all {
		if _, ok := get(); !ok {
			delete(s.all, n)
		}
	}
}

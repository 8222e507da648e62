package running

import (
	"runtime"
	"slices"
	"testing"
)

type thing struct{ name string }

func names(s *Set[*thing]) (all []string) {
	for _, v := range s.All() {
		all = append(all, v.name)
	}
	return all
}

func TestSetIsOrderedByNumber(t *testing.T) {
	var s Set[*thing]
	a, b, c := &thing{"a"}, &thing{"b"}, &thing{"c"}
	first, second, third := s.Number(), s.Number(), s.Number()
	Enlist(&s, third, c)
	Enlist(&s, first, a)
	Enlist(&s, second, b)
	Enlist(&s, second, b)
	if got := names(&s); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("all: got %q, want a, b, c", got)
	}
	s.Remove(second)
	s.Remove(second)
	if got := names(&s); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("without the second: got %q, want a, c", got)
	}
	runtime.KeepAlive([]*thing{a, b, c})
}

func TestTheSetKeepsNothingAlive(t *testing.T) {
	var s Set[*thing]
	for range 1000 {
		Enlist(&s, s.Number(), &thing{"forgotten"})
	}
	runtime.GC()
	kept := &thing{"kept"}
	for range 1000 { // each addition may remove collected members
		Enlist(&s, s.Number(), kept)
		s.Remove(s.last)
	}
	Enlist(&s, s.Number(), kept)
	if got := names(&s); !slices.Equal(got, []string{"kept"}) || len(s.all) != 1 {
		t.Errorf("after a collection: got %d and room for %d, want one", len(got), len(s.all))
	}
	runtime.KeepAlive(kept)
}

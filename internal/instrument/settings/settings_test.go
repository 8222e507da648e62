package settings

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

type redactor func(string) string

// flushed are instruments whose Flush fails, to distinguish them from nil.
type flushed struct{ err error }

func (f flushed) Flush(context.Context) error { return f.err }

func TestSourceWithoutSettingsHasNoInstruments(t *testing.T) {
	build := func(*Settings[redactor]) Instruments { t.Error("nothing is built"); return flushed{} }
	for _, s := range []*Source[redactor]{nil, {}} {
		if got := s.Instruments(build); got != nil || s.Settings() != nil {
			t.Errorf("got %v and %v, want no instruments and no settings", got, s.Settings())
		}
		if err := s.Flush(t.Context()); err != nil {
			t.Errorf("there is nothing to flush, got %v", err)
		}
	}
}

func TestInstrumentsAreBuiltOnce(t *testing.T) {
	broken := errors.New("broken")
	set := &Settings[redactor]{ToolLimit: 7}
	s := NewSource(set)
	if err := s.Flush(t.Context()); err != nil {
		t.Errorf("before there are instruments: got %v, want nothing to flush", err)
	}
	var built atomic.Int32
	build := func(got *Settings[redactor]) Instruments {
		if got != set {
			t.Errorf("they are built with %v, want the settings", got)
		}
		built.Add(1)
		return &flushed{broken}
	}
	var all sync.WaitGroup
	got := make([]Instruments, 8)
	for i := range got {
		all.Go(func() { got[i] = s.Instruments(build) })
	}
	all.Wait()
	for _, one := range got {
		if one != got[0] || one == nil {
			t.Errorf("got %p and %p, want the same for all", one, got[0])
		}
	}
	if n := built.Load(); n != 1 {
		t.Errorf("they are built once, got %d times", n)
	}
	if err := s.Flush(t.Context()); err != broken {
		t.Errorf("a flush is theirs: got %v, want %v", err, broken)
	}
}

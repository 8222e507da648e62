package settings

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

type redactor func(string) string

// flushed is an Instruments value whose Flush fails, to distinguish it from nil.
type flushed struct{ err error }

func (f flushed) Flush(context.Context) error { return f.err }

func TestSourceWithoutSettingsHasNoInstruments(t *testing.T) {
	build := func(*Settings[redactor]) Instruments { t.Error("instruments were built, want none"); return flushed{} }
	for _, s := range []*Source[redactor]{nil, {}} {
		if got := s.Instruments(build); got != nil || s.Settings() != nil {
			t.Errorf("got %v and %v, want no instruments and no settings", got, s.Settings())
		}
		if err := s.Flush(t.Context()); err != nil {
			t.Errorf("flush without instruments: got %v, want no error", err)
		}
	}
}

func TestInstrumentsAreBuiltOnce(t *testing.T) {
	broken := errors.New("broken")
	set := &Settings[redactor]{ToolLimit: 7}
	s := NewSource(set)
	if err := s.Flush(t.Context()); err != nil {
		t.Errorf("flush before the instruments exist: got %v, want no error", err)
	}
	var built atomic.Int32
	build := func(got *Settings[redactor]) Instruments {
		if got != set {
			t.Errorf("the instruments are built with %v, want the settings", got)
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
			t.Errorf("got %p and %p, want the same instruments for all", one, got[0])
		}
	}
	if n := built.Load(); n != 1 {
		t.Errorf("the instruments were built %d times, want once", n)
	}
	if err := s.Flush(t.Context()); err != broken {
		t.Errorf("flush of the instruments: got %v, want %v", err, broken)
	}
}

package usercode

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ways are the ways in which code can fail to return.
var ways = map[string]struct {
	fail  func()
	value any
}{
	"panic":     {func() { panic("oops") }, "oops"},
	"nil panic": {func() { panic(nil) }, new(runtime.PanicNilError)},
	"exit":      {runtime.Goexit, ErrExited},
}

// same reports whether the failure has this value.
func (f *Failure) same(value any) bool {
	if _, isNil := value.(*runtime.PanicNilError); isNil {
		_, ok := f.Value.(*runtime.PanicNilError)
		return ok
	}
	return f.Value == value
}

func TestRunReportsTheFailure(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			var told *Failure
			goneOn := false
			ended := Apart(func() {
				Run(way.fail, func(f *Failure) { told = f })
				goneOn = true
			})
			if told == nil || !told.same(way.value) {
				t.Fatalf("got %+v, want the value %v", told, way.value)
			}
			if !strings.Contains(string(told.Stack), "usercode_test.go") && !told.Exited() {
				t.Errorf("want a stack down to the code, got\n%s", told.Stack)
			}
			if exits := told.Exited(); goneOn == exits || (ended != nil) != exits {
				t.Errorf("gone on: %v, ended by %v; want a goroutine that goes on after a panic only", goneOn, ended)
			}
		})
	}
	Run(func() {}, func(f *Failure) { t.Errorf("want no failure of code that returns, got %v", f) })
}

func TestPassCleansUpAndPropagatesTheFailure(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			broken := 0
			ended := Apart(func() { Pass(way.fail, func() { broken++ }) })
			if broken != 1 || ended == nil || !ended.same(way.value) {
				t.Errorf("put in order %d times, ended by %+v; want once and %v", broken, ended, way.value)
			}
			if again := Apart(ended.Repeat); again == nil || !again.same(ended.Value) && !ended.same(way.value) {
				t.Errorf("repeated it is %+v, want %v", again, way.value)
			}
		})
	}
	Pass(func() {}, func() { t.Error("want nothing to be put in order behind code that returns") })
}

func TestPersistGoesOnInAnotherGoroutine(t *testing.T) {
	var group sync.WaitGroup
	queue, done, goroutines := []int{1, 2, 3, 4}, []int(nil), 0
	start := func(f func()) {
		goroutines++
		group.Go(f)
	}
	start(func() {
		Persist(start, func() {
			for len(queue) > 0 {
				n := queue[0]
				queue = queue[1:]
				if n%2 == 1 {
					runtime.Goexit()
				}
				done = append(done, n)
			}
		})
	})
	group.Wait()
	if !slices.Equal(done, []int{2, 4}) || goroutines != 3 {
		t.Errorf("done %v in %d goroutines, want [2 4] in 3", done, goroutines)
	}
}

func TestPersistPropagatesPanics(t *testing.T) {
	calls := 0
	ended := Apart(func() {
		Persist(func(func()) { t.Error("want no other goroutine after a panic") }, func() {
			calls++
			panic("oops")
		})
	})
	if calls != 1 || ended == nil || ended.Value != "oops" {
		t.Errorf("%d calls, ended by %+v; want one and the panic", calls, ended)
	}
}

func TestFailureTextOmitsThePanicMessage(t *testing.T) {
	f := Apart(func() { panic(errors.New("the password is 1234")) })
	if text := f.Error(); text != "panic of type *errors.errorString" || f.ErrorType() != "panic" {
		t.Errorf("got %q of type %q", text, f.ErrorType())
	}
	if f := Apart(func() {}); f != nil {
		t.Errorf("want no failure of code that returns, got %v", f)
	}
}

// failing is a log handler whose methods all fail.
type failing struct {
	slog.Handler
	fail func()
}

func (h failing) Enabled(context.Context, slog.Level) bool  { h.fail(); return true }
func (h failing) Handle(context.Context, slog.Record) error { h.fail(); return nil }
func (h failing) WithAttrs([]slog.Attr) slog.Handler        { h.fail(); return h }
func (h failing) WithGroup(string) slog.Handler             { h.fail(); return h }

func TestFailingLogHandlerIsIgnoredAndReported(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			told := 0
			h := LogHandler(failing{slog.DiscardHandler, way.fail}, func(f *Failure) {
				told++
				if !f.same(way.value) {
					t.Errorf("got %v, want %v", f.Value, way.value)
				}
			})
			for what, use := range map[string]func(){
				"Enabled":   func() { h.Enabled(t.Context(), slog.LevelInfo) },
				"Handle":    func() { _ = h.Handle(t.Context(), slog.Record{}) },
				"WithAttrs": func() { h.WithAttrs(nil) },
				"WithGroup": func() { h.WithGroup("group") },
			} {
				told = 0
				ended := Apart(use)
				if told != 1 || (ended != nil) != (name == "exit") {
					t.Errorf("%s: told %d times, ended by %v; want once, and nothing but an end of the goroutine to go on", what, told,
						ended)
				}
			}
		})
	}
}

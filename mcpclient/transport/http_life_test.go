package transport

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

type lifeKey struct{}

func newLife() *life {
	l := new(life)
	l.begin()
	return l
}

// What is derived, as net/http and those around it do, ends with the life and not before.
func TestContextsOfALifeEndWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLife()
		child, cancel := context.WithCancelCause(l)
		defer cancel(nil)
		grandchild, cancelOther := context.WithCancel(context.WithValue(l, lifeKey{}, 1))
		defer cancelOther()
		called := false
		defer context.AfterFunc(l, func() { called = true })()
		synctest.Wait()
		if err := errors.Join(l.Err(), child.Err(), grandchild.Err()); err != nil || called {
			t.Fatalf("before the end: want no error, got %v; called %v", err, called)
		}
		l.stop()
		l.stop()
		synctest.Wait()
		for name, ctx := range map[string]context.Context{"the life": l, "a child": child, "a child of a child": grandchild} {
			if ctx.Err() != context.Canceled || context.Cause(ctx) != context.Canceled {
				t.Errorf("%s: want it cancelled, got %v because of %v", name, ctx.Err(), context.Cause(ctx))
			}
		}
		late, cancelLate := context.WithCancel(l)
		defer cancelLate()
		if !called || late.Err() == nil {
			t.Errorf("after the end: called %v, what is derived then has %v; want both to have happened", called, late.Err())
		}
	})
}

// A request that is retried for long derives many.
func TestALifeHoldsNothingOfWhatHasEndedBefore(t *testing.T) {
	l := newLife()
	first, cancelFirst := context.WithCancel(l)
	for range 100 {
		_, cancel := context.WithCancel(l)
		cancel()
	}
	if l.after == nil || len(l.more) > 0 {
		t.Errorf("want the one that goes on, got %d more", len(l.more))
	}
	cancelFirst()
	if l.after != nil || first.Err() == nil {
		t.Error("want nothing held, got the first")
	}
}

func TestAfterFuncOfALife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLife()
		calls := make(chan string, 5)
		stop := l.AfterFunc(func() { calls <- "taken back" })
		l.AfterFunc(func() { calls <- "called" })
		stopThird := l.AfterFunc(func() { calls <- "taken back, too" })
		if !stop() || !stopThird() {
			t.Error("what has not been called can be taken back")
		}
		l.AfterFunc(func() { calls <- "called" }) // in the place of the first
		if stop() || stopThird() {
			t.Error("want nothing taken back twice")
		}
		l.stop()
		l.AfterFunc(func() { calls <- "late" })
		synctest.Wait()
		close(calls)
		var got []string
		for c := range calls {
			got = append(got, c)
		}
		if !slices.Equal(got, []string{"called", "called", "late"}) || stop() {
			t.Errorf("want what was not taken back, and at once what came late; got %q", got)
		}
	})
}

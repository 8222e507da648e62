package rpc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// seenOf describes a context: whether and why it has ended, its values, and the same for a child context.
func seenOf(ctx context.Context) string {
	closed := false
	select {
	case <-ctx.Done():
		closed = true
	default:
	}
	at, bound := ctx.Deadline()
	known, other := ctx.Value(InfoKey{}) != nil, ctx.Value("other")
	return fmt.Sprint(closed, ctx.Err(), context.Cause(ctx), known, other, at, bound)
}

// known is a handler that implements only Value.
type known struct{ Handler }

func (known) Value() any { return "known" }

// An endable behaves like a context of context.WithCancelCause for any sequence of operations.
func TestCallContextBehavesLikeWithCancelCause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left := rapid.SampledFrom([]time.Duration{time.Hour, -time.Hour}).Draw(t, "time left")
		outer, endOuter := context.WithTimeout(context.Background(), left)
		defer endOuter()
		parent, endParent := context.WithCancelCause(outer)
		defer endParent(nil)
		want, endWant := context.WithCancelCause(context.WithValue(parent, InfoKey{}, "known"))
		defer endWant(nil)
		c := &Call{Handler: known{}, Exchange: &Exchange{Work: parent}}
		e := &endable{parent: (*informed)(c)}
		defer e.end(nil)
		steps := map[string]func(){
			"it ends": func() {
				why := rapid.SampledFrom([]error{nil, ErrBusy, errDuplicateID}).Draw(t, "why")
				endWant(why)
				e.end(why)
			},
			"its parent ends": func() { endParent(rapid.SampledFrom([]error{nil, ErrOverloaded}).Draw(t, "why")) },
			"its error":       func() { same(t, e.Err(), want.Err()) },
			"its cause":       func() { same(t, context.Cause(e), context.Cause(want)) },
			"its value":       func() { same(t, e.Value(InfoKey{}) != nil && e.Value("other") == nil, true) },
			"a child context": func() {
				child, end := context.WithCancel(e)
				other, endOther := context.WithCancel(want)
				same(t, seenOf(child), seenOf(other))
				end()
				endOther()
			},
			"all": func() { same(t, seenOf(e), seenOf(want)) },
		}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			steps[rapid.SampledFrom(slices.Sorted(maps.Keys(steps))).Draw(t, "step")]()
		}
		same(t, seenOf(e), seenOf(want))
	})
}

func same[V comparable](t *rapid.T, got, want V) {
	if got != want {
		t.Fatalf("want %v, got %v", want, got)
	}
}

func TestCallContextWakesExistingWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("why")
		for range 100 {
			e := &endable{parent: t.Context()}
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					<-e.Done()
					if e.Err() != context.Canceled || context.Cause(e) != why {
						t.Errorf("want Canceled with the cause %v, got %v with the cause %v", why, e.Err(), context.Cause(e))
					}
				})
			}
			all.Go(func() { e.end(why) })
			all.Wait()
		}
	})
}

func TestCallContextAllocatesOnlyForWaiters(t *testing.T) {
	e, parent := new(endable), t.Context()
	if n := testing.AllocsPerRun(100, func() {
		*e = endable{parent: parent}
		_ = e.Err()
		e.end(nil)
	}); n > 0 {
		t.Errorf("want no allocation, got %v", n)
	}
}

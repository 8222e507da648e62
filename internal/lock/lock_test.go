package lock

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

var errTired = errors.New("tired")

// Each goroutine comes at a moment of its own, holds the Mutex for a while and waits for it no longer than it has
// patience. What must happen is told by a queue.
func TestMutexIsExclusiveAndFIFO(t *testing.T) {
	type comer struct{ holds, patience time.Duration }
	rapid.Check(t, func(rt *rapid.T) {
		// Odd and even numbers of time, so that no patience ends in the moment in which the Mutex becomes free.
		comers := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) comer {
			return comer{
				holds:    2 * time.Duration(rapid.IntRange(0, 20).Draw(rt, "holds")) * time.Second,
				patience: time.Duration(2*rapid.IntRange(0, 40).Draw(rt, "patience")+1) * time.Second,
			}
		}), 1, 12).Draw(rt, "comers")
		var want []int
		var free time.Duration
		for i, c := range comers {
			came := 2 * time.Duration(i) * time.Second
			if max(free, came) < came+c.patience {
				want, free = append(want, i), max(free, came)+c.holds
			}
		}
		var got []int
		failed := make([]error, len(comers))
		overlap := false
		synctest.Test(t, func(*testing.T) {
			var m Mutex
			busy := false
			for i, c := range comers {
				go func() {
					ctx, cancel := context.WithTimeoutCause(context.Background(), c.patience, errTired)
					defer cancel()
					if err := m.LockContext(ctx); err != nil {
						failed[i] = err
						return
					}
					defer m.Unlock()
					overlap = overlap || busy
					busy = true
					got = append(got, i)
					time.Sleep(c.holds)
					busy = false
				}()
				synctest.Wait()
				time.Sleep(2 * time.Second)
			}
			func() { // it comes last, and needs no patience
				m.Lock()
				defer m.Unlock()
			}()
			time.Sleep(time.Hour) // until all that were tired have said so
		})
		if overlap || !slices.Equal(got, want) {
			rt.Fatalf("held by %v, by two at once: %v; want %v, one at a time", got, overlap, want)
		}
		for i := range comers {
			if tired := !slices.Contains(want, i); tired != (failed[i] != nil) || tired && failed[i] != errTired {
				rt.Fatalf("number %d of %d got the error %v, want the cause of its context: %v", i, len(comers), failed[i], tired)
			}
		}
	})
}

func TestLockContextTakesAFreeMutexAfterCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // a select between both would not do so each time
		var m Mutex
		if err := m.LockContext(ctx); err != nil {
			t.Fatalf("lock a free Mutex: %v, want nil", err)
		}
		m.Unlock()
	}
}

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

// Goroutines arrive at different times, hold the Mutex for a while, and wait for it for a limited time. A simulated
// queue determines the expected order.
func TestMutexIsExclusiveAndFIFO(t *testing.T) {
	type comer struct{ holds, patience time.Duration }
	rapid.Check(t, func(rt *rapid.T) {
		// A goroutine waits for an odd number of seconds and holds the Mutex for an even number, so that no wait ends at the
		// moment when the Mutex becomes free.
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
			func() { // the last goroutine waits without a limit
				m.Lock()
				defer m.Unlock()
			}()
			time.Sleep(time.Hour) // until all failed goroutines have recorded their error
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
	for range 100 { // a select between the Mutex and ctx.Done would fail at random
		var m Mutex
		if err := m.LockContext(ctx); err != nil {
			t.Fatalf("lock a free Mutex: %v, want nil", err)
		}
		m.Unlock()
	}
}

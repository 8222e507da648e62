package broadcast

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestSignalWakesOnlyCurrentWaiters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Signal
		var waiting, woken []<-chan struct{}
		for _, send := range rapid.SliceOf(rapid.Bool()).Draw(t, "sends") {
			if send {
				s.Send()
				woken, waiting = append(woken, waiting...), nil
			} else {
				waiting = append(waiting, s.Next())
			}
			for _, c := range woken {
				if !closed(c) {
					t.Fatal("a goroutine that waited for a change still waits behind it")
				}
			}
			for _, c := range waiting {
				if closed(c) {
					t.Fatal("a goroutine that waits for the next change was woken by an earlier one")
				}
			}
		}
	})
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// counter is a number with a Signal for its changes.
type counter struct {
	mu    sync.Mutex
	n     int
	moved Signal
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	c.moved.Send()
}

func (c *counter) await(ctx context.Context, n int) error {
	return c.moved.Await(ctx, &c.mu, func() bool { return c.n >= n })
}

func TestAwaitReturnsAsSoonAsTheConditionHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c counter
		start := time.Now()
		var all sync.WaitGroup
		for n := range 5 {
			all.Go(func() {
				if err := c.await(t.Context(), n); err != nil || time.Since(start) != time.Duration(n)*time.Second {
					t.Errorf("await a count of %d: %v after %v, want nil after %d s", n, err, time.Since(start), n)
				}
			})
		}
		for range 5 {
			time.Sleep(time.Second)
			c.add()
		}
		all.Wait()
	})
}

func TestAwaitEndsWithItsContextUnlessTheConditionHolds(t *testing.T) {
	tired := errors.New("tired")
	synctest.Test(t, func(t *testing.T) {
		var c counter
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, tired)
		defer cancel()
		if err := c.await(ctx, 1); err != tired {
			t.Errorf("await what does not happen: %v, want the cause of the context", err)
		}
		if err := c.await(ctx, 0); err != nil {
			t.Errorf("await what holds, with a context that has ended: %v, want nil", err)
		}
		late, end := context.WithCancel(t.Context())
		asked := 0
		err := c.moved.Await(late, &c.mu, func() bool { // the condition becomes true without a Send, and the context ends
			end()
			asked++
			return asked == 2
		})
		if err != nil {
			t.Errorf("await what holds when the context ends: %v, want nil", err)
		}
	})
}

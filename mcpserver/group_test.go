package mcpserver

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// held is a task that waits until it is let go.
type held chan struct{}

func (h held) run() { <-h }

// burst runs so many tasks at once to their end, and returns how many goroutines wait then.
func burst(t *testing.T, g *group, tasks int) (waiting int) {
	let := make(held)
	for range tasks {
		if !g.start(let) {
			t.Fatal("want a task taken")
		}
	}
	synctest.Wait()
	close(let)
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.spare)
}

func TestGoroutinesWaitBehindABurstForTheNextAndThenEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(maxSpare)
		for range 3 {
			if n := burst(t, g, 60); n != 60 {
				t.Errorf("60 tasks at once: want 60 goroutines that wait for more, got %d", n)
			}
		}
		time.Sleep(3 * spareTime)
		if n := burst(t, g, 1); n != maxSpare {
			t.Errorf("a moment later: want %d goroutines that wait, got %d", maxSpare, n)
		}
		if n := burst(t, g, 2*maxSpare*maxBurst); n != maxSpare*maxBurst {
			t.Errorf("want %d goroutines at most, got %d", maxSpare*maxBurst, n)
		}
		g.close() // the bubble ends when no goroutine is left
	})
}

func TestAGroupWithoutSpareGoroutinesKeepsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(0)
		defer g.close()
		if n := burst(t, g, 10); n != 0 {
			t.Errorf("want no goroutine that waits, got %d", n)
		}
	})
}

func TestAGoroutineThatATaskHasEndedWaitsForNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(maxSpare)
		g.start(quits{})
		synctest.Wait()
		if len(g.spare) != 0 || g.wait(time.Second) != 0 {
			t.Errorf("want nothing left, got %d that wait and %d tasks", len(g.spare), g.busy)
		}
		g.close()
	})
}

type quits struct{}

func (quits) run() { runtime.Goexit() }

package workers

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

const keep, most = 4, 64

func newPool(keep, most int) *Pool[func(), int] {
	return New(keep, most, func(task func(), done *int) {
		*done++
		task()
	})
}

// burst runs this many tasks at once, waits for their end, and returns the number of goroutines that are then idle.
func burst(t *testing.T, p *Pool[func(), int], tasks int) (waiting int) {
	end := make(chan struct{})
	for range tasks {
		if !p.Start(func() { <-end }) {
			t.Fatal("the pool refused a task")
		}
	}
	synctest.Wait()
	close(end)
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

func TestIdleGoroutinesWaitForTheNextBurstThenEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(keep, most)
		for range 3 {
			if n := burst(t, p, 60); n != 60 {
				t.Errorf("60 tasks at once: want 60 goroutines that wait for more, got %d", n)
			}
		}
		time.Sleep(3 * Linger)
		if n := burst(t, p, 1); n != keep {
			t.Errorf("a moment later: want %d goroutines that wait, got %d", keep, n)
		}
		if n := burst(t, p, 2*most); n != most {
			t.Errorf("want %d goroutines at most, got %d", most, n)
		}
		if n := p.Close(); n != 0 {
			t.Errorf("want no task at the end, got %d", n)
		}
		p.Join() // the bubble ends when no goroutine is left
	})
}

func TestAPoolWithoutIdleGoroutinesKeepsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(0, 0)
		defer p.Close()
		if n := burst(t, p, 10); n != 0 {
			t.Errorf("want no goroutine that waits, got %d", n)
		}
	})
}

func TestGoexitInATaskRemovesTheGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(keep, most)
		p.Start(runtime.Goexit)
		synctest.Wait()
		if n := p.Wait(t.Context()); len(p.idle) != 0 || n != 0 {
			t.Errorf("want nothing left, got %d that wait and %d tasks", len(p.idle), n)
		}
		p.Close()
	})
}

func TestGoroutineReusesItsValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []*int
		p := New(keep, most, func(_ int, own *int) {
			*own++
			seen = append(seen, own)
		})
		for range 3 {
			p.Start(0)
			synctest.Wait()
		}
		if len(seen) != 3 || seen[0] != seen[2] || *seen[2] != 3 {
			t.Errorf("want one value for three tasks, got %v", seen)
		}
		p.Close()
		p.Join()
	})
}

func TestCloseWaitsForTasksAndRefusesNewOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(keep, most)
		end, ended := make(chan struct{}), false
		p.Start(func() {
			<-end
			ended = true // if Join returned earlier, the race detector would report it
		})
		if n := p.Close(); n != 1 {
			t.Errorf("want one task that runs, got %d", n)
		}
		if p.Start(func() {}) {
			t.Error("want no further task taken")
		}
		go close(end)
		p.Join()
		if !ended {
			t.Error("want the task at its end")
		}
	})
}

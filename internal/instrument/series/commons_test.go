package series

import (
	"runtime"
	"sync"
	"testing"
)

func TestCommonsBuildEachValueOnce(t *testing.T) {
	var c Commons[int, string]
	made := 0
	build := func(int) *string { made++; return new("x") }
	a, b, other := c.Get(1, build), c.Get(1, build), c.Get(2, build)
	if a != b || a == other || made != 2 {
		t.Errorf("want one for each of two keys, got %p, %p and %p of %d", a, b, other, made)
	}
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for k := range 1000 {
				if k%2 == 1 {
					c.Get(k, func(int) *string { return new("y") })
				} else if got := c.Get(1, func(int) *string { return new("z") }); got != a {
					t.Error("one goroutine got a different value")
				}
			}
		})
	}
	users.Wait()
	runtime.KeepAlive(a)
}

func TestCommonsDropUnusedValues(t *testing.T) {
	var c Commons[int, [64]byte]
	build := func(int) *[64]byte { return new([64]byte) }
	kept := c.Get(-1, build)
	for k := range 10_000 {
		if c.Get(k, build); k%1000 == 0 {
			runtime.GC()
		}
	}
	runtime.GC()
	if c.sweep(); len(c.all) != 1 || c.Get(-1, build) != kept {
		t.Errorf("want only used values, got %d", len(c.all))
	}
}

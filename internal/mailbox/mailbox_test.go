package mailbox_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/mailbox"
)

func TestEachMessageIsSentOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before, while := rapid.IntRange(0, 5).Draw(rt, "before"), rapid.IntRange(0, 5).Draw(rt, "while")
		after := rapid.IntRange(0, 3).Draw(rt, "after")
		synctest.Test(t, func(t *testing.T) {
			var b mailbox.Box
			var mu sync.Mutex
			var sent []int
			done, next := make(chan struct{}), 0
			put := func(n int) {
				for range n {
					number := next
					next++
					b.Put(10, 0, func() {
						mu.Lock()
						defer mu.Unlock()
						sent = append(sent, number)
					})
				}
			}
			put(before)
			var running sync.WaitGroup
			running.Go(func() { b.Run(done) })
			put(while)
			close(done)
			put(after)
			running.Wait()
			put(after)
			if len(sent) != next || !slices.IsSorted(sent) {
				rt.Errorf("got %v, want the %d messages in order", sent, next)
			}
		})
	})
}

func TestBoxLimitCountsUnsentMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b mailbox.Box
		blocked, done := make(chan struct{}), make(chan struct{})
		var running sync.WaitGroup
		running.Go(func() { b.Run(done) })
		const limit = 2000
		if !b.Put(1000, limit, func() { <-blocked }) {
			t.Error("the first message was refused")
		}
		synctest.Wait() // the message is being sent, and counts until it has been sent
		if b.Put(1000, limit, func() { t.Error("a refused message was sent") }) {
			t.Error("a message over the limit was queued")
		}
		if !b.Put(1000, 0, func() {}) {
			t.Error("a message without a limit was refused")
		}
		close(blocked)
		synctest.Wait()
		if !b.Put(1000, limit, func() {}) {
			t.Error("a message was refused after the others had been sent")
		}
		close(done)
		running.Wait()
	})
}

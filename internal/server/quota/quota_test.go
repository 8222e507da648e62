package quota_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
)

func TestSharesLeaveRoomForNewAccounts(t *testing.T) {
	s := quota.NewShares(12)
	one, two, three := quota.Account{Name: "1"}, quota.Account{Name: "2"}, quota.Account{Name: "3"}
	for i, want := range []struct {
		who  quota.Account
		most int // amount that the account can reserve, one by one
	}{{one, 6}, {two, 3}, {three, 2}, {quota.Account{}, 1}, {one, 0}} {
		got := 0
		for s.Affords(want.who, 1) {
			s.Reserve(want.who, 1)
			got++
		}
		if got != want.most {
			t.Errorf("account %d gets %d, want %d", i, got, want.most)
		}
	}
	s.Release(one, 6)
	if s.Free() != 6 || len(s.Held) != 2 {
		t.Errorf("%d are free and %d accounts hold something, want 6 and 2", s.Free(), len(s.Held))
	}
}

func TestMemoryLeavesRoomForSmallRequests(t *testing.T) {
	m := quota.NewMemory(100)
	who := quota.Account{}
	if m.ReservePart(who, 26) || !m.ReservePart(who, 25) {
		t.Error("one request gets more than a quarter of the memory, or less")
	}
	if used, limit := m.Usage(); used != 25 || limit != 100 || m.Accounts() != 0 {
		t.Errorf("%d of %d bytes are used by %d accounts, want 25 of 100 by none", used, limit, m.Accounts())
	}
}

// waiter is a connection with requests that wait for places.
type waiter struct{ started int }

func (w *waiter) StartWaiting() { w.started++ }

func TestLimiterSharesScarcePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := quota.NewLimiter(4)
		for held := range 4 {
			if !l.Acquire(held) {
				t.Fatalf("no place for one connection that holds %d", held)
			}
		}
		w := new(waiter)
		if l.Acquire(0) || l.AcquireFor(w, 1) {
			t.Fatal("the limiter gave a fifth place")
		}
		if u := l.Usage(); u != (quota.Places{Used: 4, Limit: 4, Holders: 1, Waiting: 1, Scarce: true}) {
			t.Errorf("the places are used as %+v", u)
		}
		if l.Keep(4) {
			t.Error("a connection with more than its share keeps a place for its next request")
		}
		l.StartWaiting()
		if w.started != 1 {
			t.Errorf("a connection with waiting requests was notified of a free place %d times, want once", w.started)
		}
		if !l.Acquire(0) {
			t.Error("the connection that found no place finds none again")
		}
		time.Sleep(2 * time.Second)
		l.Release(1)
		if !l.Acquire(3) {
			t.Error("places are shared for longer than they are scarce")
		}
		synctest.Wait()
	})
}

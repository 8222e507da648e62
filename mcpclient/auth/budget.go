package auth

import (
	"sync"
	"time"
)

// An Authorizer starts at most budgetSize authorizations in budgetPeriod, so that a server that rejects every token
// cannot prompt the user without end. For grants that need no person, each accepted token refills the budget, so it
// limits only tokens in a row that the server rejects. (specification 2026-07-28, basic/authorization, "Step-Up
// Authorization Flow")
const (
	budgetSize   = 8
	budgetPeriod = 10 * time.Minute
)

// budget counts authorizations. The zero budget is full. It is safe for concurrent use.
type budget struct {
	mu   sync.Mutex
	past [budgetSize]time.Time // ring of the start times of the latest authorizations; guarded by mu
	next int                   // index of the oldest time in past; guarded by mu
}

// exhausted reports whether the budget is exhausted at now.
func (b *budget) exhausted(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	oldest := b.past[b.next]
	return !oldest.IsZero() && now.Sub(oldest) < budgetPeriod
}

// record records an authorization that starts at now.
func (b *budget) record(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past[b.next] = now
	b.next = (b.next + 1) % budgetSize
}

// refill makes the budget full again.
func (b *budget) refill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past = [budgetSize]time.Time{}
}

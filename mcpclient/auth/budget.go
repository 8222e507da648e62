package auth

import (
	"sync"
	"time"
)

// At most budgetSize authorizations are begun in any budgetPeriod, so that a server that is never content cannot keep a
// person busy; of those that need no person, budgetSize tokens in a row that the server does not take. (specification
// 2026-07-28, basic/authorization, "Step-Up Authorization Flow")
const (
	budgetSize   = 8
	budgetPeriod = 10 * time.Minute
)

// budget counts authorizations. The zero budget is full. It is safe for concurrent use.
type budget struct {
	mu   sync.Mutex
	past [budgetSize]time.Time // guarded by mu; when the latest ones began, a ring
	next int                   // guarded by mu; the oldest in past
}

// spent reports whether no more may begin at now.
func (b *budget) spent(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	oldest := b.past[b.next]
	return !oldest.IsZero() && now.Sub(oldest) < budgetPeriod
}

// take counts one that begins at now.
func (b *budget) take(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past[b.next] = now
	b.next = (b.next + 1) % budgetSize
}

// refill forgets what has been counted.
func (b *budget) refill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past = [budgetSize]time.Time{}
}

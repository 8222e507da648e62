package quota

import (
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// Memory is a budget of bytes that accounts share. It is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	bytes Shares           // guarded by mu
	freed broadcast.Signal // guarded by mu; sent when bytes are released
}

// NewMemory returns a budget of limit bytes.
func NewMemory(limit int) *Memory { return &Memory{bytes: NewShares(limit)} }

// Reserve reserves n bytes for the account, and reports whether the account may have them.
func (m *Memory) Reserve(who Account, n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.bytes.Affords(who, n) {
		return false
	}
	m.bytes.Reserve(who, n)
	return true
}

// ReservePart is like Reserve, but refuses a request for more than a quarter of the bytes that are left. So a small
// request still succeeds when a large one fails.
func (m *Memory) ReservePart(who Account, n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reservePartLocked(who, n)
}

// reservePartLocked is ReservePart for a caller that holds mu.
func (m *Memory) reservePartLocked(who Account, n int) bool {
	if 4*n > m.bytes.Free() || !m.bytes.Affords(who, n) {
		return false
	}
	m.bytes.Reserve(who, n)
	return true
}

// WaitPart waits until ReservePart succeeds. It reports false if ctx ends first.
func (m *Memory) WaitPart(ctx context.Context, who Account, n int) bool {
	return m.freed.Await(ctx, &m.mu, func() bool { return m.reservePartLocked(who, n) }) == nil
}

// Change reserves n bytes even if fewer are left. For a negative n, Change releases -n bytes.
func (m *Memory) Change(who Account, n int) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > 0 {
		m.bytes.Reserve(who, n)
		return
	}
	m.bytes.Release(who, -n)
	m.freed.Send()
}

// Usage returns the number of reserved bytes and the size of the budget.
func (m *Memory) Usage() (used, limit int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes.Used, m.bytes.Limit
}

// Accounts returns the number of accounts that have reserved bytes.
func (m *Memory) Accounts() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.bytes.Held)
}

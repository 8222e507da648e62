package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// room is the memory that bodies may take together: those being read, and those of requests being answered. It is taken
// as bytes come, in steps; see package grow.
type room struct {
	mu    sync.Mutex
	bytes shares           // guarded by mu
	freed broadcast.Signal // guarded by mu; sent when some is given back
}

// roomWait is how long a body waits for room.
const roomWait = 5 * time.Second

// try takes so many bytes, and reports whether they were there. Nothing takes more than a quarter of what is left: so
// what is small finds room where what is large finds none.
func (m *room) try(who account, n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tryLocked(who, n)
}

// tryLocked is try; mu is held.
func (m *room) tryLocked(who account, n int) bool {
	if 4*n > m.bytes.free() || !m.bytes.affords(who, n) {
		return false
	}
	m.bytes.take(who, n)
	return true
}

// wait takes so many bytes once they are there. It reports false if ctx ends before.
func (m *room) wait(ctx context.Context, who account, n int) bool {
	return m.freed.Await(ctx, &m.mu, func() bool { return m.tryLocked(who, n) }) == nil
}

// give gives so many bytes back.
func (m *room) give(who account, n int) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes.give(who, n)
	m.freed.Send()
}

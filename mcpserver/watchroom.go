package mcpserver

import "sync"

// watchRoom is the memory that all who watch something may take together, for what they watch: over all sessions and
// subscriptions of an HTTP handler, or those of another connection.
type watchRoom struct {
	mu    sync.Mutex
	bytes shares // guarded by mu
}

// What is watched takes memory, in bytes.
const (
	maxWatchedAlone = 16 << 20 // on a connection that is not over HTTP, which is one client's
	watchCost       = 128      // about, of what is watched, besides its URI
)

func newWatchRoom(limit int) *watchRoom { return &watchRoom{bytes: newShares(limit)} }

// take takes so many bytes for an account, and reports whether they were there.
func (r *watchRoom) take(who account, n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.bytes.affords(who, n) {
		return false
	}
	r.bytes.take(who, n)
	return true
}

// change takes so many bytes, or gives them back if they are less than none. It does not ask whether they are there.
func (r *watchRoom) change(who account, n int) {
	if n == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > 0 {
		r.bytes.take(who, n)
	} else {
		r.bytes.give(who, -n)
	}
}

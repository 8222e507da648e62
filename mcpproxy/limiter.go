package mcpproxy

import (
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/tokens"
)

// limiter bounds the number of concurrent tool calls and the rate of tool calls. It is safe for concurrent use.
type limiter struct {
	most int // maximum number of concurrent calls; zero means no limit
	rate Rate

	mu      sync.Mutex
	calls   tokens.Bucket // guarded by mu
	running int           // guarded by mu
	waiting []*toolCall   // guarded by mu; oldest first
	size    int           // guarded by mu; size of the waiting calls in bytes
}

// newLimiter returns the limiter for a policy. It returns nil for a policy without limits.
func newLimiter(p *Policy) *limiter {
	if p.MaxConcurrent == 0 && p.Rate == (Rate{}) {
		return nil
	}
	return &limiter{most: p.MaxConcurrent, rate: p.Rate}
}

// admit counts a call and returns zero. If the rate does not permit a call now, it returns the time until it does.
func (l *limiter) admit(now time.Time) (retryAfter time.Duration) {
	if l.rate == (Rate{}) {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	burst := float64(l.rate.Calls)
	return l.calls.Take(tokens.Limit{PerSecond: burst / l.rate.Per.Seconds(), Burst: burst}, now)
}

// enter reports whether a call may start now. If not, the call waits. If too many calls already wait, enter returns an
// error.
func (l *limiter) enter(c *toolCall) (now bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.most == 0 || l.running < l.most {
		l.running++
		return true, nil
	}
	n := c.m.Size()
	if len(l.waiting) == maxWaiting || len(l.waiting) > 0 && l.size+n > maxWaitingBytes {
		return false, errTooManyWait
	}
	c.m = kept(c.m)
	l.waiting = append(l.waiting, c)
	l.size += n
	return false, nil
}

// leave ends a call, and starts the call that has waited longest. A waiting call whose host has left is skipped; it has
// been answered, or will be.
func (l *limiter) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) > 0 {
		c := l.waiting[0]
		l.remove(0)
		if c.p.begin(c.pass) {
			return
		}
	}
	l.running--
}

// forget removes a waiting call, and reports whether it was waiting.
func (l *limiter) forget(c *toolCall) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, c)
	if i >= 0 {
		l.remove(i)
	}
	return i >= 0
}

// remove removes a waiting call. mu is held.
func (l *limiter) remove(i int) {
	l.size -= l.waiting[i].m.Size()
	l.waiting = slices.Delete(l.waiting, i, i+1)
}

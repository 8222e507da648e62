package mcpproxy

import (
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/tokens"
)

// limiter lets so many calls of tools through at once, and so many in a time. It is safe for concurrent use.
type limiter struct {
	most int // at once; zero for any number
	rate Rate

	mu      sync.Mutex
	calls   tokens.Bucket // guarded by mu
	running int           // guarded by mu
	waiting []*toolCall   // guarded by mu; in the order in which they came
	size    int           // guarded by mu; theirs, in bytes
}

// newLimiter returns what a policy says of the number of calls, nil for nothing.
func newLimiter(p *Policy) *limiter {
	if p.MaxConcurrent == 0 && p.Rate == (Rate{}) {
		return nil
	}
	return &limiter{most: p.MaxConcurrent, rate: p.Rate}
}

// admit counts a call, and returns zero, or how long there are too many.
func (l *limiter) admit(now time.Time) (retryAfter time.Duration) {
	if l.rate == (Rate{}) {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	burst := float64(l.rate.Calls)
	return l.calls.Take(tokens.Limit{PerSecond: burst / l.rate.Per.Seconds(), Burst: burst}, now)
}

// enter reports whether a call is made at once. If not, it waits, or too many do.
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

// leave says that a call is over that has entered. The one that waits longest is made in its place. One whose host has
// left has been answered, or will be.
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

// forget removes a call that waits, and reports whether it did.
func (l *limiter) forget(c *toolCall) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, c)
	if i >= 0 {
		l.remove(i)
	}
	return i >= 0
}

// remove removes a call that waits. mu is held.
func (l *limiter) remove(i int) {
	l.size -= l.waiting[i].m.Size()
	l.waiting = slices.Delete(l.waiting, i, i+1)
}

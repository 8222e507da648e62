package mcpproxy

import (
	"slices"
	"sync"
	"time"
)

// gate lets so many calls of tools through at once, and so many in a time. It is safe for concurrent use.
type gate struct {
	most int // at once; zero for any number
	rate Rate

	mu      sync.Mutex
	tokens  float64     // guarded by mu; calls that may be made at once
	filled  time.Time   // guarded by mu; when those were so many
	running int         // guarded by mu
	waiting []*toolCall // guarded by mu; in the order in which they came
	size    int         // guarded by mu; of their params, in bytes
}

// newGate returns what a policy says of the number of calls, nil for nothing.
func newGate(p *Policy) *gate {
	if p.MaxConcurrent == 0 && p.Rate == (Rate{}) {
		return nil
	}
	return &gate{most: p.MaxConcurrent, rate: p.Rate, tokens: float64(p.Rate.Calls), filled: time.Now()}
}

// admit counts a call, and returns zero, or how long there are too many.
func (g *gate) admit(now time.Time) (retryAfter time.Duration) {
	if g.rate == (Rate{}) {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	each := float64(g.rate.Per) / float64(g.rate.Calls)
	g.tokens = min(float64(g.rate.Calls), g.tokens+float64(now.Sub(g.filled))/each)
	g.filled = now
	if missing := 1 - g.tokens; missing > 1e-6 { // or what has been rounded
		return max(1, time.Duration(missing*each))
	}
	g.tokens--
	return 0
}

// enter reports whether a call is made at once. If not, it waits, or too many do.
func (g *gate) enter(c *toolCall) (now bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.most == 0 || g.running < g.most {
		g.running++
		return true, nil
	}
	n := len(c.m.Params)
	if len(g.waiting) == maxWaiting || len(g.waiting) > 0 && g.size+n > maxWaitingBytes {
		return false, errTooManyWait
	}
	c.m = kept(c.m)
	g.waiting = append(g.waiting, c)
	g.size += n
	return false, nil
}

// leave says that a call is over that has entered. The one that waits longest is made in its place. One whose host has
// left has been answered, or will be.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.waiting) > 0 {
		c := g.waiting[0]
		g.remove(0)
		if c.p.begin(c.pass) {
			return
		}
	}
	g.running--
}

// forget removes a call that waits, and reports whether it did.
func (g *gate) forget(c *toolCall) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, c)
	if i >= 0 {
		g.remove(i)
	}
	return i >= 0
}

// remove removes a call that waits. mu is held.
func (g *gate) remove(i int) {
	g.size -= len(g.waiting[i].m.Params)
	g.waiting = slices.Delete(g.waiting, i, i+1)
}

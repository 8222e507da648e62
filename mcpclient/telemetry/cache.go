package telemetry

import (
	"maps"
	"math"
	"strings"
	"sync"
	"sync/atomic"
)

// cache keeps what was built for each key. Reading takes no lock; adding copies the map. Whoever owns it bounds
// the keys.
type cache[K comparable, V any] struct {
	build func(K) V
	m     atomic.Pointer[map[K]V]
	mu    sync.Mutex
}

func (c *cache[K, V]) lookup(k K) (v V, ok bool) {
	if m := c.m.Load(); m != nil {
		v, ok = (*m)[k]
	}
	return v, ok
}

// at returns the value for k, building it the first time.
func (c *cache[K, V]) at(k K) V {
	v, _ := c.within(math.MaxInt, k)
	return v
}

// within is at, except that it builds nothing once the cache has limit keys.
func (c *cache[K, V]) within(limit int, k K) (v V, ok bool) {
	if v, ok := c.lookup(k); ok {
		return v, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.lookup(k); ok {
		return v, true
	}
	if c.len() >= limit {
		return v, false
	}
	next := map[K]V{}
	if m := c.m.Load(); m != nil {
		next = maps.Clone(*m)
	}
	v = c.build(k)
	next[k] = v
	c.m.Store(&next)
	return v, true
}

func (c *cache[K, V]) len() int {
	if m := c.m.Load(); m != nil {
		return len(*m)
	}
	return 0
}

// names holds up to limit names, each as a copy of its own: a name may be part of a frame of many MiB.
type names struct {
	limit int
	cache[string, string]
}

func (n *names) init(limit int) {
	n.limit = limit
	n.build = func(name string) string { return name }
}

// intern returns the copy of name, and whether there was room for it.
func (n *names) intern(name string) (string, bool) {
	if own, ok := n.lookup(name); ok {
		return own, true
	}
	if n.len() >= n.limit {
		return "", false
	}
	return n.within(n.limit, strings.Clone(name))
}

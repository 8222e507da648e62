package series

import (
	"sync"
	"weak"
)

// Commons holds immutable values, one for each key. All clients and servers share the value of a key, so a thousand
// clients of one server share the facts about that server. A value lives as long as a client or server uses it. A
// Commons is safe for concurrent use. The zero Commons is empty.
type Commons[K comparable, V any] struct {
	mu   sync.Mutex
	all  map[K]weak.Pointer[V] // guarded by mu
	room int                   // guarded by mu; the size of all at which sweep runs
}

// Get returns the value for k. If there is none, build creates it. k must not share memory with a large buffer.
func (c *Commons[K, V]) Get(k K, build func(K) *V) *V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v := c.all[k].Value(); v != nil {
		return v
	}
	if c.all == nil {
		c.all = map[K]weak.Pointer[V]{}
	}
	v := build(k)
	if c.all[k] = weak.Make(v); len(c.all) > c.room {
		c.sweep()
		c.room = 2*len(c.all) + 16
	}
	return v
}

// sweep drops the keys of unused values. mu is held.
func (c *Commons[K, V]) sweep() {
	for k, v := range c.all {
		if v.Value() == nil {
			delete(c.all, k)
		}
	}
}

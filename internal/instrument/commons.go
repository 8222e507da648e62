package instrument

import (
	"sync"
	"weak"
)

// commons holds values that never change, one for each key, which are shared by all clients and servers that use them
// and live as long as one of them does: a thousand clients of one server say the same about it. It is safe for
// concurrent use; the zero commons is empty.
type commons[K comparable, V any] struct {
	mu   sync.Mutex
	all  map[K]weak.Pointer[V] // guarded by mu
	room int                   // guarded by mu; how large all may grow before sweep looks for what is unused
}

// get returns the value for k, which build makes if there is none. k must not be a part of something large.
func (c *commons[K, V]) get(k K, build func(K) *V) *V {
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

// sweep drops the keys of values that are no longer used. mu is held.
func (c *commons[K, V]) sweep() {
	for k, v := range c.all {
		if v.Value() == nil {
			delete(c.all, k)
		}
	}
}

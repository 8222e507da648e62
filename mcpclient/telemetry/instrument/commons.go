package instrument

import (
	"sync"
	"weak"
)

// commons holds values that never change, one for each key, which belong to all who use them and are there as long as
// anybody does: a thousand clients of one server say the same about it. It is safe for concurrent use; the zero commons
// is empty.
type commons[K comparable, V any] struct {
	mu   sync.Mutex
	all  map[K]weak.Pointer[V] // guarded by mu
	room int                   // guarded by mu; how large all may grow before what nobody uses is looked for
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

// sweep drops the keys of values that nobody uses. mu is held.
func (c *commons[K, V]) sweep() {
	for k, v := range c.all {
		if v.Value() == nil {
			delete(c.all, k)
		}
	}
}

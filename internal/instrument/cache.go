package instrument

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// cache keeps what was built for each key. Reading takes no lock; adding copies the table. Its owner bounds the
// keys.
type cache[K comparable, V any] struct {
	build func(K) V
	memo[K, V]
}

// memo is a cache without the building.
type memo[K comparable, V any] struct {
	t  atomic.Pointer[table[K, V]]
	mu sync.Mutex
}

// table is never changed. Most caches have a handful of keys, which as a list take a fraction of the memory of a map.
type table[K comparable, V any] struct {
	list []pair[K, V] // up to listed
	m    map[K]V      // nil as long as there is the list
}

const listed = 8

type pair[K comparable, V any] struct {
	key   K
	value V
}

func (t *table[K, V]) lookup(k K) (v V, ok bool) {
	if t.m != nil {
		v, ok = t.m[k]
		return v, ok
	}
	for i := range t.list {
		if p := &t.list[i]; p.key == k {
			return p.value, true
		}
	}
	return v, false
}

// with returns a table that has one key more.
func (t *table[K, V]) with(k K, v V) *table[K, V] {
	if t.len() < listed {
		return &table[K, V]{list: slices.Concat(t.list, []pair[K, V]{{k, v}})}
	}
	m := maps.Collect(t.all())
	m[k] = v
	return &table[K, V]{m: m}
}

func (t *table[K, V]) all() iter.Seq2[K, V] {
	if t.m != nil {
		return maps.All(t.m)
	}
	return func(yield func(K, V) bool) {
		for _, p := range t.list {
			if !yield(p.key, p.value) {
				return
			}
		}
	}
}

func (t *table[K, V]) len() int { return len(t.list) + len(t.m) }

func (c *memo[K, V]) lookup(k K) (v V, ok bool) {
	if t := c.t.Load(); t != nil {
		return t.lookup(k)
	}
	return v, false
}

// at returns the value for k, building it the first time.
func (c *cache[K, V]) at(k K) V {
	v, _ := c.within(math.MaxInt, k, c.build)
	return v
}

// within returns the value for k, which build makes the first time, unless there are limit keys already.
func (c *memo[K, V]) within(limit int, k K, build func(K) V) (v V, ok bool) {
	if v, ok := c.lookup(k); ok {
		return v, true
	}
	if c.len() >= limit { // for good: no key is taken away
		return v, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.lookup(k); ok {
		return v, true
	}
	if c.len() >= limit {
		return v, false
	}
	v = build(k)
	t := c.t.Load()
	if t == nil {
		t = new(table[K, V])
	}
	c.t.Store(t.with(k, v))
	return v, true
}

func (c *memo[K, V]) len() int {
	if t := c.t.Load(); t != nil {
		return t.len()
	}
	return 0
}

// nameSet holds names, each as a copy of its own: a name may be part of a frame of many MiB.
type nameSet struct{ memo[string, string] }

// intern returns the copy of name, and whether there was room for it: there is for limit names of [maxName] bytes at
// most. A longer one is none that the protocol advises, and as an attribute of metrics it would stay for good.
func (n *nameSet) intern(name string, limit int) (string, bool) {
	if len(name) > maxName {
		return "", false
	}
	if own, ok := n.lookup(name); ok {
		return own, true
	}
	if n.len() >= limit {
		return "", false
	}
	return n.within(limit, strings.Clone(name), func(name string) string { return name })
}

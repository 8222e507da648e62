package series

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
)

// Cache holds one value for each key, created by Build. Reading takes no lock; adding a key copies the table. The owner
// of the cache limits the number of keys.
type Cache[K comparable, V any] struct {
	Build func(K) V
	Memo[K, V]
}

// Memo is a Cache without Build. Its callers pass the function.
type Memo[K comparable, V any] struct {
	t  atomic.Pointer[table[K, V]]
	mu sync.Mutex
}

// table is immutable. Most caches have few keys, for which a list is much smaller than a map.
type table[K comparable, V any] struct {
	list []pair[K, V] // used for up to listed keys
	m    map[K]V      // used for more keys; nil while the list is used
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

// with returns a table with one more key.
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

// Lookup returns the value for k. ok is false if there is none.
func (c *Memo[K, V]) Lookup(k K) (v V, ok bool) {
	if t := c.t.Load(); t != nil {
		return t.lookup(k)
	}
	return v, false
}

// At returns the value for k. Build creates it at the first call.
func (c *Cache[K, V]) At(k K) V {
	v, _ := c.Within(math.MaxInt, k, c.Build)
	return v
}

// Within returns the value for k. build creates it at the first call. ok is false if k is new and the limit of keys is
// reached.
func (c *Memo[K, V]) Within(limit int, k K, build func(K) V) (v V, ok bool) {
	if v, ok := c.Lookup(k); ok {
		return v, true
	}
	if c.Len() >= limit { // final, because keys are never removed
		return v, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.Lookup(k); ok {
		return v, true
	}
	if c.Len() >= limit {
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

// All returns the keys and their values.
func (c *Memo[K, V]) All() iter.Seq2[K, V] {
	if t := c.t.Load(); t != nil {
		return t.all()
	}
	return func(func(K, V) bool) {}
}

// Len returns the number of keys.
func (c *Memo[K, V]) Len() int {
	if t := c.t.Load(); t != nil {
		return t.len()
	}
	return 0
}

// NameSet holds copies of names, because a name may be a part of a frame of many MiB.
type NameSet struct{ Memo[string, string] }

// Intern returns the copy of name. ok is false if the set has reached the limit of names, or if name is longer than
// [words.MaxName] bytes. The protocol advises against longer names, and a metric keeps the names of its attributes
// forever.
func (n *NameSet) Intern(name string, limit int) (_ string, ok bool) {
	if len(name) > words.MaxName {
		return "", false
	}
	if own, ok := n.Lookup(name); ok {
		return own, true
	}
	if n.Len() >= limit {
		return "", false
	}
	return n.Within(limit, strings.Clone(name), func(name string) string { return name })
}

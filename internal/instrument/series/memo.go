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

// Cache keeps the value that Build made for each key. Reading locks nothing; adding copies the table. The owner of the
// cache bounds the keys.
type Cache[K comparable, V any] struct {
	Build func(K) V
	Memo[K, V]
}

// Memo is a Cache whose caller builds the values.
type Memo[K comparable, V any] struct {
	t  atomic.Pointer[table[K, V]]
	mu sync.Mutex
}

// table is never changed. Most caches have a handful of keys, and a list of these is a fraction of the size of a map.
type table[K comparable, V any] struct {
	list []pair[K, V] // of up to listed keys
	m    map[K]V      // of more keys; nil while there is the list
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

// At returns the value for k, which Build makes the first time.
func (c *Cache[K, V]) At(k K) V {
	v, _ := c.Within(math.MaxInt, k, c.Build)
	return v
}

// Within returns the value for k, which build makes the first time. ok is false for a new key beyond limit keys.
func (c *Memo[K, V]) Within(limit int, k K, build func(K) V) (v V, ok bool) {
	if v, ok := c.Lookup(k); ok {
		return v, true
	}
	if c.Len() >= limit { // for good: no key is removed
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

// Len returns how many keys there are.
func (c *Memo[K, V]) Len() int {
	if t := c.t.Load(); t != nil {
		return t.len()
	}
	return 0
}

// NameSet holds names, each as a copy of its own: a name may be part of a frame of many MiB.
type NameSet struct{ Memo[string, string] }

// Intern returns the copy of name. ok is false if there was no room for it: there is room for limit names of
// [words.MaxName] bytes at most. The protocol advises no longer names, and as an attribute of metrics a name stays
// for good.
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

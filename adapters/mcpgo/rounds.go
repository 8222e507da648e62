package mcpgo

import (
	"sync"

	"github.com/mcpotel/mcpotel/internal/instrument"
)

// maxKept bounds the stored requests, because a request may never be followed by another.
const maxKept = 128

// kept stores the newest values by key, several for one key, until each is taken.
type kept[K comparable, V any] struct {
	mu  sync.Mutex
	all []entry[K, V] // oldest first; guarded by mu
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func (k *kept[K, V]) put(key K, value V) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.all) == maxKept {
		k.all = append(k.all[:0], k.all[1:]...)
	}
	k.all = append(k.all, entry[K, V]{key, value})
}

func (k *kept[K, V]) take(key K) (value V, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, e := range k.all {
		if e.key == key {
			k.all = append(k.all[:i], k.all[i+1:]...)
			return e.value, true
		}
	}
	return value, false
}

// rounds are the requests whose answers ask for input. The request that brings the input repeats the server's state,
// which distinguishes it from other requests for the same target. Without a state, only the target distinguishes the
// requests.
type rounds struct{ kept[roundKey, round] }

type roundKey struct{ method, target, state string }

type round struct {
	corr  instrument.Corr
	ref   instrument.Ref
	round int
}

// refs are the spans of requests by id.
type refs struct {
	kept[string, instrument.Ref]
}

func (r *refs) take(id string) instrument.Ref {
	ref, _ := r.kept.take(id)
	return ref
}

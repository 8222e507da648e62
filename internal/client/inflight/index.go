package inflight

import (
	"maps"
	"slices"
)

// few is the size up to which a list is as fast as a map. A map would take more memory than the rest of an idle table.
const few = 8

// index finds values by ID. An index with more entries than [few] is a map that can shrink, unlike Go's maps. The zero
// index is empty.
type index[V any] struct {
	list []pair[V] // used while big is nil
	big  *big[V]   // nil until there are more entries than [few]
}

type big[V any] struct {
	m    map[int64]V
	peak int // maximum of len(m) since m was made
}

type pair[V any] struct {
	id    int64
	value V
}

func (x *index[V]) get(id int64) (v V, ok bool) {
	if x.big != nil {
		v, ok = x.big.m[id]
		return v, ok
	}
	if i := x.place(id); i >= 0 {
		return x.list[i].value, true
	}
	return v, false
}

// place returns the position of id in the list, or -1.
func (x *index[V]) place(id int64) int {
	for i := range x.list {
		if x.list[i].id == id {
			return i
		}
	}
	return -1
}

// put adds a value under an ID that is not in the index yet.
func (x *index[V]) put(id int64, v V) {
	switch {
	case x.big != nil:
		x.big.put(id, v)
	case len(x.list) < few:
		x.list = append(x.list, pair[V]{id, v})
	default:
		x.big = &big[V]{m: make(map[int64]V, 2*few)}
		for _, e := range x.list {
			x.big.put(e.id, e.value)
		}
		x.list = nil
		x.big.put(id, v)
	}
}

func (b *big[V]) put(id int64, v V) {
	b.m[id] = v
	b.peak = max(b.peak, len(b.m))
}

func (x *index[V]) remove(id int64) {
	if b := x.big; b != nil {
		b.remove(id)
	} else if i := x.place(id); i >= 0 {
		x.list = slices.Delete(x.list, i, i+1)
	}
}

func (b *big[V]) remove(id int64) {
	delete(b.m, id)
	if b.peak/2 >= keep && len(b.m) < b.peak/4 {
		small := make(map[int64]V, b.peak/2)
		maps.Copy(small, b.m)
		b.m, b.peak = small, b.peak/2
	}
}

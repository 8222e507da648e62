package inflight

import (
	"maps"
	"slices"
)

// few is up to how many things a list is as good as a map, which would take more memory than all else of an idle table.
const few = 8

// index finds things by id. Beyond few it is a map that shrinks: Go's never gives memory back. The zero index is empty.
type index[V any] struct {
	list []entry[V]  // as long as there is no m
	m    map[int64]V // nil until there were more than few
	peak int         // the most that m held since it was made
}

type entry[V any] struct {
	id    int64
	value V
}

func (x *index[V]) get(id int64) (v V, ok bool) {
	if x.m != nil {
		v, ok = x.m[id]
		return v, ok
	}
	if i := x.place(id); i >= 0 {
		return x.list[i].value, true
	}
	return v, false
}

// place returns where in the list id is, -1 for nowhere.
func (x *index[V]) place(id int64) int {
	for i := range x.list {
		if x.list[i].id == id {
			return i
		}
	}
	return -1
}

// put adds something under an id that there is nothing under.
func (x *index[V]) put(id int64, v V) {
	if x.m == nil && len(x.list) < few {
		x.list = append(x.list, entry[V]{id, v})
		return
	}
	if x.m == nil {
		x.m = make(map[int64]V, 2*few)
		for _, e := range x.list {
			x.m[e.id] = e.value
		}
		x.list = nil
	}
	x.m[id] = v
	x.peak = max(x.peak, len(x.m))
}

func (x *index[V]) remove(id int64) {
	if x.m == nil {
		if i := x.place(id); i >= 0 {
			x.list = slices.Delete(x.list, i, i+1)
		}
		return
	}
	delete(x.m, id)
	if x.peak/2 >= keep && len(x.m) < x.peak/4 {
		small := make(map[int64]V, x.peak/2)
		maps.Copy(small, x.m)
		x.m, x.peak = small, x.peak/2
	}
}

package inflight

import "maps"

// index finds things by id. It is a map that shrinks: Go's never gives memory back. The zero index is empty.
type index[V any] struct {
	m    map[int64]V
	peak int // the most it held since it was made
}

func (x *index[V]) get(id int64) (V, bool) {
	v, ok := x.m[id]
	return v, ok
}

func (x *index[V]) put(id int64, v V) {
	if x.m == nil {
		x.m = make(map[int64]V)
	}
	x.m[id] = v
	x.peak = max(x.peak, len(x.m))
}

func (x *index[V]) remove(id int64) {
	delete(x.m, id)
	if x.peak/2 >= keep && len(x.m) < x.peak/4 {
		small := make(map[int64]V, x.peak/2)
		maps.Copy(small, x.m)
		x.m, x.peak = small, x.peak/2
	}
}

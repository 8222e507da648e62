package schema

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math"
)

// equal reports whether two values are the same to JSON Schema: numbers by
// their value, objects without regard to order.
func (r *run) equal(a, b any) bool {
	if !r.pay(1) {
		return false
	}
	switch a := a.(type) {
	case text:
		b, ok := b.(text)
		return ok && r.same(a, b)
	case array:
		b, ok := b.(array)
		return ok && r.equalArrays(a, b)
	case object:
		b, ok := b.(object)
		return ok && r.equalObjects(a, b)
	case nil, bool:
		return a == b
	}
	switch b.(type) {
	case nil, bool, text, array, object:
		return false
	}
	return canonical(a) == canonical(b)
}

func (r *run) equalArrays(a, b array) bool {
	if len(a) != len(b) {
		return false
	}
	for i, v := range each(r.meter, a) {
		if !r.equal(v, b[i]) {
			return false
		}
	}
	return true
}

func (r *run) equalObjects(a, b object) bool {
	if len(a) != len(b) {
		return false
	}
	for name, v := range entries(r.meter, a) {
		if w, ok := b[name]; !ok || !r.equal(v, w) {
			return false
		}
	}
	return true
}

// canonical returns a number as the one Go value that all forms of it share.
func canonical(v any) any {
	f, ok := v.(float64)
	switch {
	case !ok || f != math.Trunc(f):
		return v
	case f >= -1<<63 && f < 1<<63:
		return int64(f)
	case f >= 1<<63 && f < 1<<64:
		return uint64(f)
	}
	return v
}

// compare compares the number v with f, exactly.
func compare(v any, f float64) int {
	whole := math.Trunc(f)
	switch v := v.(type) {
	case int64:
		switch {
		case whole >= 1<<63:
			return -1
		case whole < -1<<63:
			return 1
		}
		return cmp.Or(cmp.Compare(v, int64(whole)), cmp.Compare(whole, f))
	case uint64:
		switch {
		case whole >= 1<<64:
			return -1
		case whole < 0:
			return 1
		}
		return cmp.Or(cmp.Compare(v, uint64(whole)), cmp.Compare(whole, f))
	case float64:
		return cmp.Compare(v, f)
	}
	return 0
}

// hashCost is what a value in a hash pays.
const hashCost = 4

// seed is one for the process: a peer does not see hashes, and cannot find
// values that share one.
var seed = maphash.MakeSeed()

// hash is the same for values that are equal.
func (r *run) hash(v any) uint64 {
	if !r.pay(hashCost) {
		return 0
	}
	switch v := v.(type) {
	case nil:
		return mix('n', 0, 0)
	case bool:
		if v {
			return mix('t', 0, 0)
		}
		return mix('f', 0, 0)
	case text:
		return mix('s', 0, r.hashText(v))
	case array:
		h := uint64(len(v))
		for _, v := range each(r.meter, v) {
			h = mix('a', h, r.hash(v))
		}
		return mix('A', 0, h)
	case object:
		var h uint64
		for name, v := range entries(r.meter, v) {
			h += mix('o', r.hashText(text(name)), r.hash(v)) // in any order
		}
		return mix('O', uint64(len(v)), h)
	}
	return hashNumber(canonical(v))
}

func hashNumber(v any) uint64 {
	switch v := v.(type) {
	case int64:
		return mix('i', 0, uint64(v))
	case uint64:
		return mix('u', 0, v)
	case float64:
		return mix('d', 0, math.Float64bits(v))
	}
	return 0
}

func mix(kind byte, a, b uint64) uint64 {
	var buf [17]byte
	buf[0] = kind
	binary.LittleEndian.PutUint64(buf[1:], a)
	binary.LittleEndian.PutUint64(buf[9:], b)
	return maphash.Bytes(seed, buf[:])
}

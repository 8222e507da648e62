package schema

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math"
)

// equal reports whether two values are equal by the rules of JSON Schema: numbers by their value, objects without
// regard to order.
func (r *run) equal(a, b value) bool {
	if !r.pay(1) || a.types()&b.types() == 0 {
		return false
	}
	switch a.kind() {
	case '[':
		return a.size() == b.size() && r.equalArrays(a, b)
	case '{':
		return a.size() == b.size() && r.equalObjects(a, b)
	case isWhole, isFraction:
		return canonical(r.number(a)) == canonical(r.number(b))
	case isShort:
		if b.kind() != isShort || string(a.bytes()) == "-0" || string(b.bytes()) == "-0" {
			return canonical(r.number(a)) == canonical(r.number(b))
		}
	}
	return r.same(a.bytes(), b.bytes())
}

func (r *run) equalArrays(a, b value) bool {
	other := b.first()
	for _, v := range inside(r.meter, a) {
		if !r.equal(v, other) {
			return false
		}
		other = other.after()
	}
	return true
}

func (r *run) equalObjects(a, b value) bool {
	for _, name := range inside(r.meter, a) {
		if v := b.get(string(name.bytes())); v.kind() == absent || !r.equal(name.next(), v) {
			return false
		}
	}
	return true
}

// canonical returns the number v as a Go value. Numbers with the same value have the same Go value, whatever their
// spelling.
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

// compare compares the number v with f exactly.
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

// hashCost is the cost of hashing one value.
const hashCost = 4

// seed is random and fixed for the process. A peer cannot see hashes, so it cannot find values that share one.
var seed = maphash.MakeSeed()

// hash returns the same number for equal values.
func (r *run) hash(v value) uint64 {
	if !r.pay(hashCost) {
		return 0
	}
	switch k := v.kind(); k {
	case 'n', 't', 'f':
		return mix(byte(k), 0, 0)
	case '"':
		return mix('s', 0, r.hashText(v.bytes()))
	case '[':
		h := uint64(v.size())
		for _, item := range inside(r.meter, v) {
			h = mix('a', h, r.hash(item))
		}
		return mix('A', 0, h)
	case '{':
		var h uint64
		for _, name := range inside(r.meter, v) {
			h += mix('o', r.hashText(name.bytes()), r.hash(name.next())) // the sum does not depend on the order
		}
		return mix('O', uint64(v.size()), h)
	}
	return hashNumber(canonical(r.number(v)))
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

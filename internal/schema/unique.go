package schema

import (
	"encoding/binary"
	"hash/maphash"
	"maps"
	"math/big"
	"slices"
)

// collisions charges for uniqueItems. The library compares the items whose
// hashes agree, and what it hashes are the strings and numbers of an item one
// after the other, without their ends: ["ab",""] and ["a","b"] agree. So a
// peer can make any number of items collide, and this counts those that do.
func collisions(a array) (units int) {
	groups := make(map[uint64]int, len(a))
	seed := maphash.MakeSeed()
	for _, v := range a {
		var h maphash.Hash
		h.SetSeed(seed)
		mix(&h, v)
		sum, n := h.Sum64(), size(v)
		units += n + groups[sum]*n
		groups[sum]++
	}
	return units
}

// mix writes the same bytes as the library.
func mix(h *maphash.Hash, v any) {
	switch v := v.(type) {
	case nil:
		h.WriteByte(0)
	case bool:
		if v {
			h.WriteByte(1)
		} else {
			h.WriteByte(0)
		}
	case text:
		h.WriteString(string(v))
	case array:
		mixUint(h, len(v))
		for _, v := range v {
			mix(h, v)
		}
	case object:
		mixUint(h, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			h.WriteString(name)
			mix(h, v[name])
		}
	default:
		mixNumber(h, v)
	}
}

func mixNumber(h *maphash.Hash, v any) {
	r := new(big.Rat)
	switch v := v.(type) {
	case int64:
		r.SetInt64(v)
	case uint64:
		r.SetUint64(v)
	case float64:
		r.SetFloat64(v)
	}
	mixUint(h, r.Sign()+1)
	h.Write(r.Num().Bytes())
	h.Write(r.Denom().Bytes())
}

func mixUint(h *maphash.Hash, n int) {
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

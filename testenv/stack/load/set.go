package load

import "math/bits"

// set is a set of small numbers.
type set []uint64

func (s *set) add(n uint64) {
	for int(n/64) >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

// without returns the number of elements of s that are not in other.
func (s set) without(other *set) (n uint64) {
	for i, word := range s {
		if i < len(*other) {
			word &^= (*other)[i]
		}
		n += uint64(bits.OnesCount64(word))
	}
	return n
}

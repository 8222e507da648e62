package loops

import "hash/maphash"

// seed is the key of all hashes. It differs in each process, so a reader of a hash cannot even verify a guess of the
// text.
var seed = maphash.MakeSeed()

// For a text of more than [Whole] bytes, Hash covers only the length and the two ends, so that a large result costs as
// much as a small one. Texts that differ only between the ends have the same hash.
const (
	Whole = 8 << 10
	end   = Whole / 2
)

// Hash returns the hash of a text.
func Hash(text []byte) uint64 {
	if len(text) <= Whole {
		return maphash.Bytes(seed, text)
	}
	head, tail := maphash.Bytes(seed, text[:end]), maphash.Bytes(seed, text[len(text)-end:])
	return mix(mix(head, tail), uint64(len(text)))
}

// HashString returns the hash of a short string.
func HashString(text string) uint64 { return maphash.String(seed, text) }

// mix returns a hash of two hashes. It depends on their order.
func mix(a, b uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	a = (a ^ b>>32 ^ b<<32) * odd
	return (a ^ a>>29 ^ b) * odd
}

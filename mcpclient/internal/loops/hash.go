package loops

import "hash/maphash"

// seed is the key of all hashes, another one in each process: a hash tells nothing of the text, not even whether it is
// one that a reader guesses.
var seed = maphash.MakeSeed()

// Of a text with more than [Whole] bytes only the length and the two ends are hashed, so that a large result costs
// what a small one does. Two that differ in between only are taken for the same.
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

// HashString is Hash of a string that is short.
func HashString(text string) uint64 { return maphash.String(seed, text) }

// mix returns a hash of two hashes, which differs if these change places.
func mix(a, b uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	a = (a ^ b>>32 ^ b<<32) * odd
	return (a ^ a>>29 ^ b) * odd
}

package instrument

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// Corr is the correlation id of one logical call. It stays the same over send retries, rounds and re-issues, for which
// [Op.Corr] of the first is given to [Request] of the next. The zero Corr stands for a new one.
type Corr struct{ id [16]byte }

// corrTextLen is the length of an id as text.
const corrTextLen = 2 * len(Corr{}.id)

// String returns the id as 32 hexadecimal digits.
func (c Corr) String() string { return string(c.append(make([]byte, 0, corrTextLen))) }

func (c Corr) append(b []byte) []byte { return hex.AppendEncode(b, c.id[:]) }

// or returns c, or a new id if c is zero. Ids tell calls apart and protect nothing, so they need not be unpredictable.
func (c Corr) or() Corr {
	if c != (Corr{}) {
		return c
	}
	binary.NativeEndian.PutUint64(c.id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(c.id[8:], rand.Uint64()|1)
	return c
}
